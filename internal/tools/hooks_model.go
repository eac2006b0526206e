package tools

import (
	"cmp"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksModel(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	c := &cobra.Command{
		Use:   "model -- COMMAND…",
		Short: "Run a command as the model, between the hooks around a model",
		Long: "Reads a GenerateContent request on standard input, fires BeforeToolSelection and BeforeModel, runs\n" +
			"the command with the request on its standard input unless a hook blocks, fires AfterModel once with\n" +
			"the complete response, and prints the resulting response. The command may print its response\n" +
			"as a stream of chunks: one after the other, in an array, or as server-sent events.\n\n" +
			"The exit code is 0, 1 if the model failed, 2 if a hook blocked it or the command line is wrong,\n" +
			"and 3 if a hook stops the agent.",
		Example: command.Example(`fsmtx hooks model -- ./ask-model.sh < request.json`),
		RunE: func(c *cobra.Command, args []string) error {
			run, err := afterDash(c, args, 0)
			if err != nil {
				return err
			}
			return runModel(c, s, flags, run)
		},
	}
	flags.add(c)
	flags.addSession(c)
	return c
}

func runModel(c *cobra.Command, s terminal.Streams, flags hookFlags, program []string) error {
	if s.InputIsTerminal() {
		return command.Unfed("a GenerateContent request", "fsmtx hooks model -- COMMAND < request.json")
	}
	text, err := client.ReadAll(s.In)
	if err != nil {
		return err
	}
	request := jsontext.Value(text)
	if err := request.Compact(); err != nil || request.Kind() != '{' {
		return command.Fail(command.ExitNo, errors.New("the request is not a JSON object"), "pass a GenerateContent request on standard input")
	}
	setup, err := flags.findHere(s)
	if err != nil {
		return err
	}
	var processes hookProcesses
	engine := setup.engine(s, hooks.Session{ID: flags.session, Cwd: setup.cwd, Project: setup.project}, &processes)
	run := engine.RunModel(processes.start(c.Context()), request, hooks.Command{Args: program, Cwd: setup.cwd}.Model)
	if flags.json {
		err = command.PrintJSON(s.Out, run)
	} else {
		printWarnings(s, run.Selection, run.Before, run.After)
		err = command.WriteJSON(s.Out, run.Response)
	}
	switch err := cmp.Or(err, processes.interrupted()); {
	case err != nil:
		return err
	case run.Error != "":
		return &command.Exit{Code: command.ExitNo, Err: message.Lines(indented(run.Error))}
	}
	if !flags.json && run.SystemMessage != "" {
		s.Errorf("%s reads: %s", setup.dialect.ReaderOfMessages(), message.Lines(indented(run.SystemMessage)))
	}
	return verdict(run.Blocked, run.Stopped)
}
