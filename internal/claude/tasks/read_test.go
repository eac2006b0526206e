package tasks_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// deleting is a disk on which the client deletes the task 7 right before or right
// after the high-water mark is read.
type deleting struct {
	vfs.OS
	dir   string
	after bool
}

func (d deleting) ReadFile(name string) ([]byte, error) {
	if filepath.Base(name) != ".highwatermark" {
		return d.OS.ReadFile(name)
	}
	if !d.after {
		d.delete()
	}
	data, err := d.OS.ReadFile(name)
	if d.after {
		d.delete()
	}
	return data, err
}

func (d deleting) delete() {
	_ = os.WriteFile(filepath.Join(d.dir, ".highwatermark"), []byte("7"), 0o644)
	_ = os.Remove(filepath.Join(d.dir, "7.json"))
}

// TestReadSeesAnIDThatIsBeingDeleted: whenever the client deletes the task with
// the highest id, its name or the mark tells of it.
func TestReadSeesAnIDThatIsBeingDeleted(t *testing.T) {
	for _, after := range []bool{false, true} {
		dir := t.TempDir()
		for _, name := range []string{"6.json", "7.json"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o644))
		}
		snap, _, err := tasks.Read(t.Context(), deleting{dir: dir, after: after}, dir)
		require.NoError(t, err)
		assert.EqualValues(t, 7, max(snap.MaxID, snap.HighWater), "deleted after the mark is read: %v", after)
	}
}

func TestBusyErrorSaysSinceWhenIfItIsKnown(t *testing.T) {
	e := &tasks.BusyError{Path: "/list/.lock.lock", Since: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Cause: context.Canceled}
	assert.Contains(t, e.Error(), "since 2026-11-21T10:00:00Z")
	e.Since = time.Time{}
	assert.False(t, strings.Contains(e.Error(), "since"), e.Error())
}
