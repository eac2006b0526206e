package together_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestSkillWithoutTasksSeesAConcurrentReplacement lets a skill without tasks read the
// list while another hook replaces its tasks: it must find the old or the new tasks
// and delete them, and must not conclude that there is nothing to do.
func TestSkillWithoutTasksSeesAConcurrentReplacement(t *testing.T) {
	w := worldWithWorkflow(t)
	var replaced []outcome
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op == "read" && filepath.Base(s.Path) == ".highwatermark" && len(replaced) == 0 {
			replaced = append(replaced, w.run(t, call{skill: "one"})) // after the names are read, before the tasks
		}
		return nil
	}}
	result, err := hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: "list", Command: "none"}, w.Env,
		hydrate.Options{LockTimeout: testTimeout, FS: files})
	require.NoError(t, err)
	require.Len(t, replaced, 1)
	assert.Len(t, result.Deleted, 1)
	assert.Equal(t, []string{"1.json"}, w.names())
}
