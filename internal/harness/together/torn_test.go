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

// TestTaskWrittenWhileAnotherIsLocked has a hook find one file that is not JSON,
// and the client begin to write another one while the hook takes the lock of the
// first: both have to be read again under their locks.
func TestTaskWrittenWhileAnotherIsLocked(t *testing.T) {
	w := toReplace(t)
	require.NoError(t, os.WriteFile(w.at("9.json"), []byte("{not JSON"), 0o644))
	whole, err := os.ReadFile(w.at("3.json"))
	require.NoError(t, err)
	begun, ended := false, false
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		switch {
		case strings.HasSuffix(s.To, "/9.json.lock") && !begun:
			begun = true
			w.takeLock(t, "3.json.lock")
			require.NoError(t, os.WriteFile(w.at("3.json"), whole[:len(whole)/2], 0o644))
		case strings.HasSuffix(s.To, "/3.json.lock") && !ended:
			ended = true
			require.NoError(t, os.WriteFile(w.at("3.json"), whole, 0o644))
			require.NoError(t, os.Remove(w.at("3.json.lock")))
		}
		return nil
	}}
	result, err := hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: "list", Command: "one"}, w.env,
		hydrate.Options{LockTimeout: patient, FS: files})
	require.NoError(t, err)
	assert.Len(t, result.Deleted, 3)
	assert.Equal(t, []string{"1.json", "10.json", "9.json"}, w.sortedNames())
	assert.Empty(t, w.locks(t))
}
