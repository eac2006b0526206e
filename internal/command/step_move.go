package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
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
			return lacks(c, s, session, false, wayToMove(c.Context()), err)
		},
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			found, err := find(ctx, s, session, false, wayToMove(ctx))
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
			if other, is := errors.AsType[*state.OtherProjectError](err); is {
				line := continuation.Line(s.Getenv, other.Workflow.Command, found.Dir, "")
				err = &Exit{ExitNo, err, "to go on with it in another project: in a session there, its agent runs: " + line}
			}
			return err
		},
	}
	c.Flags().StringVar(&because, "because", "", "the reason to record (required)")
	NameList(s, c, &session)
	return c
}

// wayToMove is the Way of step move: where the directory of each workflow is in its place there is nothing to say.
func wayToMove(ctx context.Context) Way {
	return wayTo(ctx, 0, func(now *state.State) error {
		if i := slices.IndexFunc(now.Workflows(), func(w *workflow.Workflow) bool { return state.AwayText(w) != "" }); i >= 0 {
			return nil
		}
		return state.ErrNotMoved
	})
}
