package tools

import (
	"cmp"
	"errors"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const demoLong = `Demo shows what this program does, in a temporary directory: an agent skips a step and is
refused, its tests fail and send it back, it ends properly, and a program that is killed while
it replaces the task list loses nothing.

The demo needs no setup, changes none of your files and leaves nothing behind.`

func newDemo(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "demo",
		Short:   "Show what the program does, in a temporary directory",
		Long:    demoLong,
		Example: command.Example("fsmtx demo"),
		Args:    command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			s.SurviveBrokenPipe() // the temporary directory must be removed
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			program, err := programs.Path()
			if err = cmp.Or(err, hydrate.NoShell("")); err != nil { // its checks are commands of sh
				return err
			}
			d := &demo{Program: program, Out: s.Out}
			err = d.Run(ctx)
			if out, ok := s.Out.(*terminal.Output); ok && errors.Is(err, syscall.EPIPE) {
				out.Forget() // as in "fsmtx demo | head", which ends other commands by SIGPIPE
				return &command.Exit{Code: 128 + int(syscall.SIGPIPE)}
			}
			return err
		},
	}
}
