package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuard(s terminal.Streams) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "guard ID",
		Short: "As a hook: enforce one rule of a planning workflow",
		Long: "guard reads one event of the client from standard input and checks it against one of the planning rules.\n" +
			"It prints nothing if the rule has no objection. The exit code is 2 if the rule refuses or has a message for\n" +
			"the model, or if the command line is wrong. Otherwise it is 0, even if the guard itself fails.",
		Example: Example("fsmtx guard H04 < event.json", "fsmtx guard list", "fsmtx guard explain H04 < event.json"),
		Args: func(c *cobra.Command, args []string) error {
			if err := Takes(1, "the ID of one guard", "fsmtx guard list names them")(c, args); err != nil {
				return err
			}
			if !isGuard(args[0]) && commandMeant(c, args[0]) != "" {
				return NoSuchCommand(c, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := FindRule(args[0])
			if err != nil {
				return err
			}
			if s.InputIsTerminal() {
				return NotFed("fsmtx guard " + r.ID)
			}
			log := hook.NewLog(s, file)
			answer := guard.Run(r, s.In, s.Env, log.Adder())
			if log.On() {
				s.SurviveBrokenPipe() // the call is logged even if the client has gone
			}
			err = exit(hook.Deliver(s, answer))
			log.Write()
			return err
		},
	}
	addLog(c, &file)
	c.ValidArgsFunction = CompleteGuards
	c.CompletionOptions.DisableDefaultCmd = true // cobra's "completion" would hide a guard of that name
	return c
}

func guardSubcommands() []Subcommand {
	return []Subcommand{{Name: "skill-files", Make: newGuardSkillFiles}}
}

// isGuard reports whether the word is the id of a guard.
func isGuard(id string) bool {
	_, ok := rules.Find(id)
	return ok
}

// CompleteGuards completes the ids of the guards.
func CompleteGuards(_ *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, r := range rules.All() {
			ids = Offer(ids, r.ID, r.Brief)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func FindRule(id string) (guard.Rule, error) {
	r, ok := rules.Find(id)
	if !ok {
		return r, &Exit{ExitUsage, fmt.Errorf("no guard %q", id), "fsmtx guard list names them"}
	}
	return r, nil
}
