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

// TestRollbackWaitsForClient interrupts a hook while a client is about to write to a
// task that the hook has just created: the client's write must not bring the task back
// after the rollback.
func TestRollbackWaitsForClient(t *testing.T) {
	w := worldWithWorkflow(t)
	before := w.Tasks(t)
	c := w.startClient(t, goEmulator)
	ctx, cancel := context.WithCancel(t.Context())
	writing := false
	finish := func() {
		if writing {
			c.send(order{})
			require.Empty(t, c.receive().Error)
		}
		writing = false
	}
	attempts := 0
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		switch name := s.String(); {
		case strings.HasPrefix(name, "link") && strings.HasSuffix(s.To, "/list/6.json"):
			c.send(order{Op: "update", ID: 5, Wait: true})
			require.True(t, c.receive().Paused)
			writing = true
			cancel()
		case strings.HasSuffix(s.To, "/list/5.json.lock"):
			if attempts++; attempts == 2 {
				finish()
			}
		}
		return nil
	}}
	_, err := hydrate.Run(ctx, hydrate.Request{Event: "PostToolUse", Session: "list", Command: "five"}, w.Env,
		hydrate.Options{LockTimeout: testTimeout, FS: files})
	require.ErrorIs(t, err, context.Canceled)
	finish()
	assert.Equal(t, before, w.Tasks(t))
	assert.Empty(t, w.locks(t))
}
