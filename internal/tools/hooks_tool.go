package tools

import (
	"cmp"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksTool(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	var input string
	c := &cobra.Command{
		Use:   "tool NAME --input JSON -- COMMAND…",
		Short: "Run a command as a tool, between the hooks before and after a tool",
		Long: "Fires the event before a tool, runs the command with the input on standard input unless a hook\n" +
			"blocks, and fires the event after a tool. It prints what the model would read: the command's output\n" +
			"with the additions of hooks, or the reason why the command did not run.\n\n" +
			"The exit code is 0, 1 if the command failed, 2 if a hook blocked it or the command line is wrong,\n" +
			"and 3 if a hook stops the agent.",
		Example: command.Example(`fsmtx hooks tool write_file --input '{"path": "a.txt"}' -- ./write-file.sh`),
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			run, err := afterDash(c, args, 1)
			if err != nil {
				return err
			}
			return runTool(c, s, flags, args[0], input, run)
		},
	}
	flags.add(c)
	flags.addSession(c)
	c.Flags().StringVar(&input, "input", "{}", "the tool's input, a JSON object; - reads it from standard input")
	return c
}

func runTool(c *cobra.Command, s terminal.Streams, flags hookFlags, name, input string, program []string) error {
	given, err := toolInput(s, input)
	if err != nil {
		return err
	}
	setup, err := flags.findHere(s)
	if err != nil {
		return err
	}
	var processes hookProcesses
	engine := setup.engine(s, hooks.Session{ID: flags.session, Cwd: setup.cwd, Project: setup.project}, &processes)
	run := engine.ExecuteTool(processes.start(c.Context()), name, given, hooks.Command{Args: program, Cwd: setup.cwd}.Tool)
	if flags.json {
		err = command.PrintJSON(s.Out, run)
	} else {
		printWarnings(s, run.Before, run.After)
		err = s.Printf("%s\n", message.Lines(strings.TrimRight(run.Result.LLMContent, "\n")))
	}
	if err := cmp.Or(err, processes.interrupted()); err != nil {
		return err
	}
	if run.Stopped && !flags.json {
		s.Errorf("a hook stops the agent: %s", message.Lines(indented(run.StopReason)))
	}
	if run.Executed && !run.Stopped && run.Result.Error != nil {
		return &command.Exit{Code: command.ExitNo, Err: message.Lines("the tool failed: " + indented(run.Result.Error.Message))}
	}
	return verdict(run.Blocked, run.Stopped)
}

// toolInput reads the input from the flag or from standard input.
func toolInput(s terminal.Streams, flag string) (jsontext.Value, error) {
	text := []byte(flag)
	if flag == "-" && s.InputIsTerminal() {
		return nil, command.Unfed("the tool's input, a JSON object", "pass one with --input")
	}
	if flag == "-" {
		var err error
		if text, err = client.ReadAll(s.In); err != nil {
			return nil, err
		}
	}
	value := jsontext.Value(text)
	if err := value.Compact(); err != nil || value.Kind() != '{' {
		return nil, command.Fail(command.ExitNo, errors.New("the tool's input is not a JSON object"), "pass one with --input")
	}
	return value, nil
}

// afterDash returns the command after --, which must follow n arguments.
func afterDash(c *cobra.Command, args []string, n int) ([]string, error) {
	if c.ArgsLenAtDash() != n || len(args) <= n {
		return nil, command.Fail(command.ExitUsage, errors.New("missing command after --"), "run "+c.CommandPath()+" --help")
	}
	return args[n:], nil
}
