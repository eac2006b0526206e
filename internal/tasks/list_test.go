package tasks

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

func TestWithStateDir(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	for _, dir := range []string{
		filepath.Join(root, "b"), filepath.Join(root, ".b.fsmtx"), filepath.Join(root, ".a.fsmtx"), filepath.Join(root, "untouched"),
		filepath.Join(elsewhere, "one"), filepath.Join(elsewhere, ".one.fsmtx"), filepath.Join(elsewhere, "two"),
	} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	for link, target := range map[string]string{"linked": "one", "other": "two", "dangling": "three"} {
		require.NoError(t, os.Symlink(filepath.Join(elsewhere, target), filepath.Join(root, link)))
	}
	got, err := WithStateDir(root)
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(root, "a"), filepath.Join(root, "b"), filepath.Join(root, "linked")}, got)
}

func TestWithStateDirOfAnAbsentRoot(t *testing.T) {
	got, err := WithStateDir(filepath.Join(t.TempDir(), "tasks"))
	require.NoError(t, err)
	assert.Empty(t, got)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = WithStateDir(file)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestWaitingEndsWithErrTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := List{Wait: time.Minute}.Waiting(t.Context())
		defer cancel()
		start := time.Now()
		<-ctx.Done()
		assert.Equal(t, time.Minute, time.Since(start))
		require.ErrorIs(t, context.Cause(ctx), errTimeout)

		ctx, cancel = List{}.Waiting(t.Context())
		_, limited := ctx.Deadline()
		assert.False(t, limited, "no limit of its own")
		cancel()
		assert.NotErrorIs(t, context.Cause(ctx), errTimeout)
	})
}

// TestRecoverWaitsForTheClientsLocks: an interrupted replacement is rolled back only
// while the client is locked out.
func TestRecoverWaitsForTheClientsLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newList(t)
		tasksWrite(t, l.Dir, "1.json", tasksTask(tasksTaggedTask, "1.json"))
		died := false
		l.FS = &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
			if died = died || s.Op == "remove" && s.Path == filepath.Join(l.Dir, "1.json"); died {
				return syscall.EIO // every later step fails too, the rollback included
			}
			return nil
		}}
		_, err := l.Replace(t.Context(), Label{}, planner(t, `[{"id": 1, "subject": "new"}]`, nil))
		require.ErrorIs(t, err, txn.ErrRecoveryRequired)

		l.FS = nil
		lock := filepath.Join(l.Dir, tasksListLock)
		require.NoError(t, os.RemoveAll(lock)) // of the dead process
		require.NoError(t, os.Mkdir(lock, 0o755))
		l.Wait = 10 * time.Second
		_, err = l.Recover(t.Context())
		require.ErrorIs(t, err, errTimeout)
		require.NoError(t, os.Remove(lock))

		l.Wait = 0
		report, err := l.Recover(t.Context())
		require.NoError(t, err)
		assert.Equal(t, txn.RolledBack, report.Outcome)
		assert.Equal(t, []string{"2.json"}, report.Removed)
		assert.FileExists(t, filepath.Join(l.Dir, "1.json"))
	})
}
