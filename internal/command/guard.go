package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuard(s terminal.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "guard ID",
		Short: "Hold a planning workflow to its rules, as a hook of the client",
		Long: "guard answers one event of the client, read from standard input, for one of the planning guards.\n" +
			"It prints nothing where the guard has no objection. Exit code 2 means that the guard refused, or has\n" +
			"something to tell the model; 1 that there is no such guard; 0 anything else, its own failures included.",
		Example: example("fsmtx guard H04 < event.json", "fsmtx guard list", "fsmtx guard explain H04 < event.json"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &exit{exitNo, errors.New("guard wants the ID of one guard"), "fsmtx guard list names them"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runGuard(args[0], s) },
	}
	c.CompletionOptions.DisableDefaultCmd = true // it would be a guard of that name
	c.AddCommand(newGuardList(s), newGuardExplain(s), newGuardLog(s), newGuardReset(s), newGuardSkillFiles(s))
	return c
}

func runGuard(id string, s terminal.Streams) error {
	g, err := findGuard(id)
	if err != nil {
		return err
	}
	return answered(guard.Run(g, s))
}

func findGuard(id string) (guard.Guard, error) {
	g, ok := guard.Find(id)
	if !ok {
		return g, &exit{exitNo, fmt.Errorf("no guard %q", id), "fsmtx guard list names them"}
	}
	return g, nil
}

// answered turns a hook's exit code into the program's.
func answered(code int, err error) error {
	if err != nil || code == exitOK {
		return err
	}
	return &exit{code: code}
}
