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

// TestNothingToDoWhileAnotherReplaces has a skill without tasks look at the list
// while another hook replaces what is there: it may find the old tasks or the new
// ones, and has to delete them, but never none.
func TestNothingToDoWhileAnotherReplaces(t *testing.T) {
	w := toReplace(t)
	h := &history{statuses: w.skills, before: w.files(t)}
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op == "read" && filepath.Base(s.Path) == ".highwatermark" && len(h.outcomes) == 0 {
			h.outcomes = append(h.outcomes, w.run(t, call{skill: "one"})) // the names are read, the tasks are not
		}
		return nil
	}}
	result, err := hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: "list", Command: "none"}, w.env,
		hydrate.Options{LockTimeout: patient, FS: files})
	require.NoError(t, err)
	require.Len(t, h.outcomes, 1)
	assert.Len(t, result.Deleted, 1)
	assert.Equal(t, []string{"1.json"}, w.sortedNames())
}
