package command

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/demo"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const demoLong = `Demo shows what this program does, for real, in a temporary directory: a sample
skill is invoked and becomes tasks, is invoked again, is broken and changes
nothing, and is killed in the middle of its commit and recovered. Nothing has to
be set up, nothing of yours is touched, and nothing is left behind.`

func newDemo(s terminal.Streams) *cobra.Command {
	var die bool
	c := &cobra.Command{
		Use:     "demo",
		Short:   "Show what happens, in a temporary directory",
		Long:    demoLong,
		Example: example("fsmtx demo"),
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			surviveBrokenPipe() // there is a directory to remove
			ctx, stop := interruptible(c.Context())
			defer stop()
			if die {
				return demo.Die(ctx, s.In, hydrate.Env(s.Getenv))
			}
			program, err := os.Executable()
			if err != nil {
				return errors.Join(errors.New("cannot tell where this program is"), err)
			}
			d := &demo.Demo{Program: program, Out: s.Out}
			return d.Run(ctx)
		},
	}
	c.Flags().BoolVar(&die, "die", false, "be the child that is killed")
	_ = c.Flags().MarkHidden("die")
	return c
}
