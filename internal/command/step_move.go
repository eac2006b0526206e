package command

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const moveLong = `Move says where the project of a workflow is now. The gates look for files and run their
checks in the directory in which the skill was invoked. If that is gone, or another one has
come in its place, they refuse every step that needs them until a person says where it is.
` + recordedLong

func newStepMove(s terminal.Streams) *cobra.Command {
	var because, session string
	c := &cobra.Command{
		Use:     "move DIR --because TEXT",
		Short:   "Say where the project of a workflow is now",
		Long:    moveLong,
		Example: Example(`fsmtx step move . --because "the project has a new name" --list 0b54`),
		Args: func(c *cobra.Command, args []string) (err error) {
			err = reason(&because)
			if len(args) != 1 {
				err = fmt.Errorf("got %d arguments, want one directory", len(args))
			}
			return lacks(c, err)
		},
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			found, err := findExisting(ctx, s, session, false)
			if err != nil {
				return err
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			from, err := frameIn(s, found).Move(ctx, dir, because, decidedBy(ctx))
			for _, was := range from {
				message.Fprintf(s.Out, "moved: %s is now %s\n", was, dir)
			}
			return err
		},
	}
	c.Flags().StringVar(&because, "because", "", "the reason to record (required)")
	NameList(s, c, &session)
	return c
}
