package command

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/demo"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const demoLong = `Demo shows what this program does, in a temporary directory. It invokes a sample skill,
whose steps become tasks, and invokes it again. It starts a step before its turn, which
is refused, and completes another one, which is refused until its check passes. It breaks
the fsm.json, and the tasks do not change. It kills a hydration in the middle of its
commit and recovers the task list. At the end it draws a larger workflow. The demo needs
no setup, changes none of your files and leaves nothing behind.`

func newDemo(s terminal.Streams) *cobra.Command {
	var die bool
	c := &cobra.Command{
		Use:     "demo",
		Short:   "Show what the program does, in a temporary directory",
		Long:    demoLong,
		Example: example("fsmtx demo"),
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			surviveBrokenPipe() // the temporary directory must be removed
			ctx, stop := interruptible(c.Context())
			defer stop()
			if die {
				return demo.Die(ctx, s.In, hydrate.Env(s.Getenv))
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding the path of this program: %w", err)
			}
			d := &demo.Demo{Program: program, Out: s.Out}
			return d.Run(ctx)
		},
	}
	c.Flags().BoolVar(&die, "die", false, "be the child process that is killed")
	_ = c.Flags().MarkHidden("die")
	return c
}
