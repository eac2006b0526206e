package tools_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn"
)

// TestStatusWhileAnotherProgramChangesTheList: it is not known then whether a change was
// interrupted, so status does not answer that question.
func TestStatusWhileAnotherProgramChangesTheList(t *testing.T) {
	home := t.TempDir()
	list := filepath.Join(home, ".claude", "tasks", "s1")
	require.NoError(t, os.MkdirAll(list, 0o700))
	d, err := txn.Open(t.Context(), list)
	require.NoError(t, err)
	defer d.Close()
	run := func(args ...string) string {
		out, errs, _ := inProcess(map[string]string{"HOME": home}, "", append([]string{"status", "--list", "s1"}, args...)...)
		return out + errs
	}
	assert.Regexp(t, `(?m)^it could not be found out whether a change was interrupted, because one is under way: `+
		`.*/lock is locked by process \d+ since .*: gave up waiting after 1s$`, run())
	shown := run("--json")
	assert.Contains(t, shown, `"pending": "unknown",`)
	assert.Regexp(t, `"pending_error": ".* gave up waiting after 1s",`, shown)
}
