package command

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/demo"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const demoLong = `Demo shows what this program does, in a temporary directory: an agent skips a step and is
refused, its tests fail and send it back, it ends properly, and a program that is killed
while it replaces the task list loses nothing. On a terminal it stops a moment after each
scene.

--all shows more, with what the hooks print: a workflow that starts over, missing files, a
failing check, an fsm.json with mistakes, a kill in the middle of a commit and what
recovers from it, and a larger workflow, drawn.

The demo needs no setup, changes none of your files and leaves nothing behind.`

func newDemo(s terminal.Streams) *cobra.Command {
	var die, all bool
	c := &cobra.Command{
		Use:     "demo",
		Short:   "Show what the program does, in a temporary directory",
		Long:    demoLong,
		Example: example("fsmtx demo", "fsmtx demo --all | less"),
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			surviveBrokenPipe(s) // the temporary directory must be removed
			ctx, stop := interruptible(c.Context())
			defer stop()
			if die {
				return demo.Die(ctx, s.In, hydrate.Env(s.Getenv))
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding the path of this program: %w", err)
			}
			d := &demo.Demo{Program: program, Out: s.Out, All: all, Paced: terminal.IsTerminal(s.Out)}
			err = d.Run(ctx)
			if out, ok := s.Out.(*terminal.Output); ok && errors.Is(err, syscall.EPIPE) {
				out.Forget() // as in "fsmtx demo | head", which ends other commands by SIGPIPE
				return &exit{code: 128 + int(syscall.SIGPIPE)}
			}
			return err
		},
	}
	c.Flags().BoolVar(&all, "all", false, "show everything, with what the hooks print")
	c.Flags().BoolVar(&die, "die", false, "be the child process that is killed")
	_ = c.Flags().MarkHidden("die")
	return c
}
