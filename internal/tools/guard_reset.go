package tools

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardReset(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "reset SESSION [ID]",
		Short: "Reset the counters of the guards in a session",
		Long: "reset clears a session's circuit breakers, research budget and consecutive blocks; with ID, only the\n" +
			"counters of that guard. Logs are kept.",
		Example: command.Example("fsmtx guard reset 0d4f8f5e-3f0a-4b7e-9a61-8f1f5f0f4d11",
			"fsmtx guard reset 0d4f8f5e-3f0a-4b7e-9a61-8f1f5f0f4d11 H03"),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			done, err := reset(s, args)
			if err != nil {
				return err
			}
			if len(done) == 0 {
				done = []string{"nothing"}
			}
			_, err = message.Fprintf(s.Out, "reset: %s\n", strings.Join(done, ", "))
			return err
		},
	}
}

func reset(s terminal.Streams, args []string) ([]string, error) {
	session := guard.SessionOf(args[0], s.Env)
	if !session.Known() {
		return nil, &command.Exit{Code: command.ExitNo, Err: errors.New("the session ID is empty")}
	}
	if len(args) == 1 {
		return guard.Reset(session, rules.All())
	}
	r, err := command.FindRule(args[1])
	if err != nil {
		return nil, err
	}
	return guard.ResetRule(session, r)
}
