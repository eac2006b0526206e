package together_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestHookPlansAgainWhenATaskDisappears lets a client delete a task that a hook is about
// to replace. The hook plans again. If it is cancelled at that moment, its error is the
// cancellation and not the changed task.
func TestHookPlansAgainWhenATaskDisappears(t *testing.T) {
	cancelled := errors.New("cancelled by the test")
	for _, cancels := range []bool{false, true} {
		w := worldWithWorkflow(t)
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		gone := false
		files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
			if s.Op == "link" && s.Path == w.InList("3.json") && !gone {
				gone = true
				require.NoError(t, os.Remove(w.InList("3.json")))
				if cancels {
					cancel(cancelled)
				}
			}
			return nil
		}}
		_, err := hydrate.Run(ctx, hydrate.Request{Event: "PostToolUse", Session: "list", Command: "one"}, w.Env,
			hydrate.Options{LockTimeout: testTimeout, FS: files})
		require.True(t, gone)
		assert.Empty(t, w.locks(t))
		if cancels {
			require.ErrorIs(t, err, cancelled)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []string{"1.json", "5.json"}, w.names())
	}
}
