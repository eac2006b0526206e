package tools

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksStatus(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show whether hooks are on, and how many are configured",
		Example: command.Example("fsmtx hooks status --json", "fsmtx hooks status --dialect claude"),
		Args:    command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			setup, err := flags.findHere(s)
			if err != nil {
				return err
			}
			if setup.none && !flags.json {
				_, err = message.Fprintf(s.Out, "no hooks are configured here for %s, whose hooks this command runs\n", agentTitles())
				return err
			}
			engine := setup.engine(s, hooks.Session{Cwd: setup.cwd}, new(hookProcesses))
			total := hooks.NewRegistry(setup.dialect, setup.found.Sources).Total() // also of an engine that is off
			if flags.json {
				return command.PrintJSON(s.Out, hookStatus{engine != nil, hooks.Status{Initialized: engine != nil, TotalHooks: total}})
			}
			state := "off"
			if engine != nil {
				state = "on"
			}
			_, err = message.Fprintf(s.Out, "%s: hooks are %s, %d configured in %s\n", setup.dialect.Title, state, total,
				terminal.Count(len(setup.found.Files), "file"))
			return err
		},
	}
	flags.add(c)
	return c
}

// hookStatus is what the command prints with --json.
type hookStatus struct {
	Enabled bool `json:"enabled"`
	hooks.Status
}

// agentTitles names the agents whose hooks can be run.
func agentTitles() string {
	var all []string
	for _, d := range dialect.All() {
		all = append(all, d.Title)
	}
	return message.Alternatives(all)
}
