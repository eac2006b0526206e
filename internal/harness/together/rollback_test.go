package together_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestRollbackWaitsForClient has a client be about to write to a task that a hook
// has just created when the hook is interrupted: the task must not come back by
// that write once the hook has rolled back.
func TestRollbackWaitsForClient(t *testing.T) {
	w := toReplace(t)
	before := w.files(t)
	c := w.client(t, goClient)
	ctx, cancel := context.WithCancel(t.Context())
	writing := false
	finish := func() {
		if writing {
			c.send(order{})
			require.Empty(t, c.answer().Error)
		}
		writing = false
	}
	tries := 0
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		switch name := s.String(); {
		case strings.HasPrefix(name, "link") && strings.HasSuffix(s.To, "/list/6.json"):
			c.send(order{Op: "update", ID: 5, Wait: true})
			require.True(t, c.answer().Paused)
			writing = true
			cancel()
		case strings.HasSuffix(s.To, "/list/5.json.lock"):
			if tries++; tries == 2 {
				finish()
			}
		}
		return nil
	}}
	_, err := hydrate.Run(ctx, hydrate.Request{Event: "PostToolUse", Session: "list", Command: "five"}, w.env,
		hydrate.Options{LockTimeout: patient, FS: files})
	require.ErrorIs(t, err, context.Canceled)
	finish()
	assert.Equal(t, before, w.files(t))
	assert.Empty(t, w.locks(t))
}
