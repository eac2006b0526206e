package command

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newGuardLog(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "log [SESSION]",
		Short: "Show what the guards decided in a session",
		Long: "log prints the decision log of a session: one line for each decision, oldest first. Without SESSION it\n" +
			"prints the log that was modified last.",
		Example: example("fsmtx guard log", "fsmtx guard log 0d4f8f5e-3f0a-4b7e-9a61-8f1f5f0f4d11"),
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return showLog(s, args) },
	}
}

func showLog(s terminal.Streams, args []string) error {
	path, err := logPath(s, args)
	if err == nil {
		err = guard.CopyLog(path, s.Out)
	}
	if errors.Is(err, guard.ErrNoLog) {
		return &exit{exitNo, err, "guards write their logs to PLANNING_STATE_DIR, else to log_location in their configuration, else to /tmp"}
	}
	return err
}

func logPath(s terminal.Streams, args []string) (string, error) {
	project := s.Env("CLAUDE_PROJECT_DIR")
	if project == "" {
		project, _ = os.Getwd() // without it the project's configuration is not found
	}
	config := guard.ReadConfig(s.Env, project)
	if len(args) == 1 && args[0] != "" {
		return guard.SessionOf(args[0], s.Env).Logging(config, s.Env).Log(), nil
	}
	return guard.NewestLog(config, s.Env)
}
