package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksFire(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	c := &cobra.Command{
		Use:   "fire EVENT",
		Short: "Run the hooks of one event and print what the agent would do",
		Long: "Reads the event as JSON on standard input, runs the hooks that match it, and prints what the agent\n" +
			"would do. The configuration is the agent's own for the event's cwd, or the files of --config.\n\n" +
			"Exits with 0; with 2 if a hook blocks; with 3 if a hook stops the agent.",
		Example: example(
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
				if err := printJSON(s.Out, result); err != nil {
					return err
				}
			} else {
				printWarnings(s, result)
				words{s.Out, setup.dialect}.result(args[0], result)
			}
			if err := processes.interrupted(); err != nil {
				return err
			}
			return verdict(result.Policy.Blocking, result.Policy.Stop)
		},
	}
	flags.add(c)
	return c
}

func (f *hookFlags) fire(ctx context.Context, s terminal.Streams, name string, processes *hookProcesses) (*hooks.Result, hookSetup, error) {
	e, err := event.Read(s.In)
	if err != nil {
		return nil, hookSetup{}, err
	}
	cwd, err := cwdOr(e.Cwd)
	if err != nil {
		return nil, hookSetup{}, err
	}
	project := projectDir(s, cwd)
	setup, err := f.find(s, project)
	if err != nil {
		return nil, hookSetup{}, err
	}
	session := hooks.Session{ID: e.SessionID, Cwd: cwd, Project: project, TranscriptPath: e.TranscriptPath}
	return setup.engine(s, session, processes).Fire(ctx, name, hooks.Input{Fields: e.Raw}), setup, nil
}

// verdict returns the exit code for a shell script.
func verdict(blocked, stopped bool) error {
	switch {
	case blocked:
		return &exit{code: exitBlock}
	case stopped:
		return &exit{code: exitStop}
	}
	return nil
}
