package tools

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardUnlock(s terminal.Streams) *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "unlock [--session ID]",
		Short: "Remove the planning lock of the feature",
		Long: "unlock removes the planning lock of the feature whose branch is checked out here, or of\n" +
			"PLANNING_FEATURE_DIR, so that another session can plan. It prints which session held the lock, and how\n" +
			"long that session has been inactive. With --session it removes the lock only if that session holds it.",
		Example: command.Example("fsmtx guard unlock", "fsmtx guard unlock --session 0d4f8f5e-3f0a-4b7e-9a61-8f1f5f0f4d11"),
		Args:    command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			here, err := os.Getwd()
			if err != nil {
				return err
			}
			done, err := rules.Unlock(here, session, s.Env)
			if err != nil {
				return err
			}
			_, err = message.Fprintf(s.Out, "%s\n", done)
			return err
		},
	}
	c.Flags().StringVar(&session, "session", "", "remove the lock only if the session with this `ID` holds it")
	return c
}
