package together_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestTornTaskIsReadAgainUnderItsLock lets a hook find a file that is not JSON, and the
// client start to write another file while the hook takes the lock of the first: the
// hook must read both again under their locks.
func TestTornTaskIsReadAgainUnderItsLock(t *testing.T) {
	w := worldWithWorkflow(t)
	require.NoError(t, os.WriteFile(w.InList("9.json"), []byte("{not JSON"), 0o644))
	whole, err := os.ReadFile(w.InList("3.json"))
	require.NoError(t, err)
	started, finished := false, false
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		switch {
		case strings.HasSuffix(s.To, "/9.json.lock") && !started:
			started = true
			w.takeLock(t, "3.json.lock")
			require.NoError(t, os.WriteFile(w.InList("3.json"), whole[:len(whole)/2], 0o644))
		case strings.HasSuffix(s.To, "/3.json.lock") && !finished:
			finished = true
			require.NoError(t, os.WriteFile(w.InList("3.json"), whole, 0o644))
			require.NoError(t, os.Remove(w.InList("3.json.lock")))
		}
		return nil
	}}
	result, err := hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: "list", Command: "one"}, w.Env,
		hydrate.Options{LockTimeout: testTimeout, FS: files})
	require.NoError(t, err)
	assert.Len(t, result.Deleted, 3)
	assert.Equal(t, []string{"1.json", "10.json", "9.json"}, w.names())
	assert.Empty(t, w.locks(t))
}
