package mcp

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestContinue: the workflow of a session that has ended goes on here; that of one at work does with the person's yes.
func TestContinue(t *testing.T) {
	for action, moves := range map[string]bool{"accept": true, "decline": false} {
		w := newWorld(t)
		w.env["CLAUDE_PROJECT_DIR"] = w.project
		w.hydrate("s2", workflow.Step{}, workflow.Step{BlockedBy: []int64{1}})
		assert.Contains(t, w.connect(nil).refuses("workflow_continue", args{"list": "s1"}), "is this list")
		var asked []string
		c := w.connect(answering(action, &asked))
		assert.Contains(t, c.refuses("workflow_continue", args{}), "which is at work on it")
		text, isError := c.call("workflow_continue", args{"list": "s2"})
		assert.Equal(t, moves, !isError, text)
		require.Len(t, asked, 1)
		assert.Contains(t, asked[0], "take the workflow of release from a session that is at work on it")
		if !moves {
			assert.Contains(t, text, "fsmtx continue --list s2 --to s1")
			w.rests("s2")
			assert.Contains(t, c.does("workflow_continue", args{}), "release goes on here (0 of 2 done)")
			require.Len(t, asked, 1)
		}
		assert.Equal(t, "pending", w.status("s1", 2))
		assert.NoFileExists(t, filepath.Join(w.list("s2"), "1.json"))
		assert.Contains(t, c.refuses("step_complete", n(2)), `#1 "Step 1" must be done first`)
	}
}

// rests makes the last event of a session an hour old.
func (w *world) rests(session string) {
	dir := filepath.Join(w.home, ".claude/tasks", "."+session+".fsmtx")
	entries, err := os.ReadDir(dir)
	require.NoError(w.t, err)
	for _, e := range entries {
		require.NoError(w.t, os.Chtimes(filepath.Join(dir, e.Name()), time.Time{}, time.Now().Add(-time.Hour)))
	}
}
