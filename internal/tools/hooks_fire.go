package tools

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksFire(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	var verbose bool
	c := &cobra.Command{
		Use:   "fire EVENT",
		Short: "Run the hooks of one event and print what the agent would do",
		Long: "Reads the event as JSON on standard input, runs the hooks that match it, and prints what the agent\n" +
			"would do. It uses the agent's own configuration for the event's cwd, or the files of --config.\n\n" +
			"For each configured hook it prints whether the hook ran and if not why, its output, which parts of the\n" +
			"output take effect, and which parts were ignored.\n\n" +
			"The exit code is 0, 1 if the event is unknown or a settings file cannot be read, 2 if a hook blocks or\n" +
			"the command line is wrong, and 3 if a hook stops the agent.",
		Example: command.Example(
			`echo '{"tool_name": "write_file", "tool_input": {"path": "a"}}' | fsmtx hooks fire BeforeTool`,
			`fsmtx hooks fire PreToolUse --dialect claude --config hooks/hooks.json < event.json`,
		),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var processes hookProcesses
			result, setup, err := flags.fire(c.Context(), s, args[0], &processes)
			if err != nil {
				return err
			}
			if flags.json {
				if err := command.PrintJSON(s.Out, result); err != nil {
					return err
				}
			} else {
				printWarnings(s, result)
				words{out: s.Out, dialect: setup.dialect, verbose: verbose}.result(args[0], result)
				setup.hintForNone(s, flags, args[0], result)
			}
			if err := processes.interrupted(); err != nil {
				return err
			}
			if err := verdict(result.Policy.Blocking, result.Policy.Stop); err != nil {
				return err
			}
			return setup.unusable()
		},
	}
	flags.add(c)
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "print the whole output of the hooks, not only its beginning")
	return c
}

func (f *hookFlags) fire(ctx context.Context, s terminal.Streams, name string, processes *hookProcesses) (*hooks.Result, hookSetup, error) {
	if s.InputIsTerminal() {
		return nil, hookSetup{}, command.NotFed("fsmtx hooks fire " + shell.Join(name))
	}
	e, err := client.Read(s.In)
	if err != nil {
		return nil, hookSetup{}, err
	}
	cwd := e.Cwd
	if cwd == "" {
		if cwd, err = os.Getwd(); err != nil {
			return nil, hookSetup{}, err
		}
	}
	setup, err := f.find(s, cwd)
	if err != nil {
		return nil, hookSetup{}, err
	}
	if !knows(setup.dialect, name) {
		return nil, setup, unknownEvent(setup.dialect, name, command.ExitNo) // 2 is a hook's refusal
	}
	session := hooks.Session{ID: e.SessionID, Cwd: cwd, Project: setup.project, TranscriptPath: e.TranscriptPath}
	return setup.engine(s, session, processes).Fire(ctx, name, hooks.Input{Fields: e.Raw}), setup, nil
}

// unknownEvent returns the error for a name that is not an event.
func unknownEvent(d dialect.Dialect, name string, code int) error {
	return command.Fail(code, fmt.Errorf("%s has no event %q", d.Title, name), "it has "+strings.Join(d.EventNames(), ", "))
}

// unusable returns an error if a file of the configuration cannot be used: the agent
// ignores such a file, so its hooks do not run.
func (h hookSetup) unusable() error {
	if len(h.found.Unusable) == 0 {
		return nil
	}
	return command.Fail(command.ExitNo, fmt.Errorf("%s does not read %s", h.dialect.Title, dialect.InWords(h.found.Unusable)),
		"fsmtx hooks check names the mistake")
}

// hintForNone prints where hooks are configured if none is configured for the event, in
// this directory or for this agent.
func (h hookSetup) hintForNone(s terminal.Streams, f hookFlags, event string, r *hooks.Result) {
	if r.Plan != nil || len(r.Skipped) > 0 || len(h.found.Unusable) > 0 || h.isOff() {
		return
	}
	if len(h.found.Files) > 0 || len(f.config) > 0 {
		s.Hintf("no hook is configured for %s; fsmtx hooks list shows those that are", event)
		return
	}
	h.hintForNoSettings(s)
}

// hintForNoSettings says that this agent has no settings here.
func (h hookSetup) hintForNoSettings(s terminal.Streams) {
	s.Hintf("%s has no settings in %s or in the home directory; --dialect names another agent, --config FILE another file", h.dialect.Title,
		h.project)
}

// verdict returns the error with the exit code that tells a shell script what the hooks
// decided.
func verdict(blocked, stopped bool) error {
	switch {
	case blocked:
		return &command.Exit{Code: command.ExitBlock}
	case stopped:
		return &command.Exit{Code: exitStop}
	}
	return nil
}
