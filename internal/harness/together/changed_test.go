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

// TestEndedWhileTasksChange has a client delete a task that a hook is about to
// replace. The hook plans again, unless it is told to end just then: that is what
// it says, and not that a task was changed.
func TestEndedWhileTasksChange(t *testing.T) {
	told := errors.New("told to end")
	for _, ends := range []bool{false, true} {
		w := toReplace(t)
		ctx, end := context.WithCancelCause(context.Background())
		defer end(nil)
		gone := false
		files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
			if s.Op == "link" && s.Path == w.at("3.json") && !gone {
				gone = true
				require.NoError(t, os.Remove(w.at("3.json")))
				if ends {
					end(told)
				}
			}
			return nil
		}}
		_, err := hydrate.Run(ctx, hydrate.Request{Event: "PostToolUse", Session: "list", Command: "one"}, w.env,
			hydrate.Options{LockTimeout: patient, FS: files})
		require.True(t, gone)
		assert.Empty(t, w.locks(t))
		if ends {
			require.ErrorIs(t, err, told)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []string{"1.json", "5.json"}, w.sortedNames())
	}
}
