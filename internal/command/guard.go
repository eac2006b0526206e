package command

import (
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
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runGuard(args[0], s) },
	}
	return c
}

func runGuard(id string, s terminal.Streams) error {
	g, err := findGuard(id)
	if err != nil {
		return err
	}
	code, err := guard.Run(g, s)
	if err != nil {
		return err
	}
	if code != exitOK {
		return &exit{code: code}
	}
	return nil
}

func findGuard(id string) (guard.Guard, error) {
	g, ok := guard.Find(id)
	if !ok {
		return g, &exit{exitNo, fmt.Errorf("no guard %q", id), "fsmtx guard list names them"}
	}
	return g, nil
}
