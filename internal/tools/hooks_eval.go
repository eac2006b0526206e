package tools

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksEval(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "eval",
		Short: "The machine interface: one request object in, one result object out",
		Long: "Reads one request object on standard input and prints one result object, so that an agent in\n" +
			"any language can embed the hook runtime. Modes: fire, tool, model, translate, status, factory.\n" +
			"Exits with 1 if the request is invalid, and otherwise with 0, even if a hook blocks.",
		Example: command.Example(`fsmtx hooks eval < request.json`),
		Args:    command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.InputIsTerminal() {
				return command.Unfed("a request", "fsmtx hooks eval < request.json; docs/internals/hooks.md describes requests")
			}
			request, err := client.ReadAll(s.In)
			if err != nil {
				return err
			}
			cwd, err := os.Getwd()
			if err != nil {
				return err
			}
			var processes hookProcesses
			result, err := hooks.Evaluator{Cwd: cwd, BeforeProcesses: processes.start}.Eval(c.Context(), request)
			if errors.Is(err, hooks.ErrRequest) {
				return command.Fail(command.ExitNo, err, "docs/internals/hooks.md describes requests")
			}
			if err != nil {
				return err
			}
			if err := command.WriteJSON(s.Out, result); err != nil {
				return err
			}
			return processes.interrupted()
		},
	}
}
