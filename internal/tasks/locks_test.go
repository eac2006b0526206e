package tasks

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// lockedList is a list's directory and its Locks.
type lockedList struct {
	*Locks
	t   *testing.T
	dir string
}

func newLockedList(t *testing.T) lockedList {
	root := t.TempDir()
	dir := filepath.Join(root, "list")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(root, "s"), 0o700))
	return lockedList{boundLocks(dir, filepath.Join(root, "s/locks")), t, dir}
}

func boundLocks(dir, scratch string) *Locks {
	l := new(Locks)
	l.Bind(vfs.OS{}, dir, scratch)
	return l
}

func (l lockedList) at(name string) string { return filepath.Join(l.dir, name) }

// take takes locks and fails the test on an error.
func (l lockedList) take(names ...string) (kept bool) {
	l.t.Helper()
	kept, err := l.Lock(l.t.Context(), names)
	require.NoError(l.t, err)
	return kept
}

// busy returns the error of Lock with a cancelled context.
func (l lockedList) busy(names ...string) error {
	ctx, cancel := context.WithCancel(l.t.Context())
	cancel()
	_, err := l.Lock(ctx, names)
	require.Error(l.t, err)
	return err
}

// plant creates a lock of another program, which was refreshed age ago.
func (l lockedList) plant(name string, age time.Duration) {
	l.t.Helper()
	require.NoError(l.t, os.Mkdir(l.at(name), 0o755))
	require.NoError(l.t, os.Chtimes(l.at(name), time.Time{}, time.Now().Add(-age)))
}

func (l lockedList) names() []string {
	entries, err := os.ReadDir(l.dir)
	require.NoError(l.t, err)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// before has do called before each step that changes the disk.
func (l lockedList) before(do func(s faultfs.Step) error) {
	l.files = &faultfs.Steps{FS: vfs.OS{}, Before: do}
}

// onStep calls do before each operation op on path, and returns its error instead.
func onStep(op, path string, do func() error) func(faultfs.Step) error {
	return func(s faultfs.Step) error {
		if s.Op == op && s.Path == path {
			return do()
		}
		return nil
	}
}

// failStep returns err instead of the operation op on path.
func failStep(op, path string, err error) func(faultfs.Step) error {
	return onStep(op, path, func() error { return err })
}

func TestLockTakesAllOrNone(t *testing.T) {
	l := newLockedList(t)
	l.plant("2.json.lock", 0)
	var busy *BusyError
	require.ErrorAs(t, l.busy("1.json", "2.json"), &busy)
	assert.Equal(t, l.at("2.json.lock"), busy.Path)
	assert.ErrorIs(t, busy, context.Canceled)
	assert.Equal(t, []string{"2.json.lock"}, l.names())

	require.NoError(t, os.Remove(l.at("2.json.lock")))
	l.take("1.json", "2.json")
	assert.Equal(t, []string{".lock.lock", "1.json.lock", "2.json.lock"}, l.names())
	require.NoError(t, l.Check())
	require.NoError(t, l.Unlock())
	assert.Empty(t, l.names())
}

func TestLockAgainTakesOnlyWhatIsMissing(t *testing.T) {
	l := newLockedList(t)
	l.take("1.json")
	made := 0
	l.before(func(s faultfs.Step) error {
		if s.Op == "mkdir" && strings.Contains(s.Path, "locks/") {
			made++
		}
		return nil
	})
	l.take("1.json", "2.json", "2.json")
	assert.Equal(t, 1, made)
	l.take()
	assert.Equal(t, 1, made)
	assert.Equal(t, []string{".lock.lock", "1.json.lock", "2.json.lock"}, l.names())
	require.NoError(t, l.Unlock())
}

// freedByUnlock removes another program's lock when this program first releases
// the list's.
func (l lockedList) freedByUnlock(name string) {
	l.before(onStep("remove", l.at(listLock), sync.OnceValue(func() error { return os.Remove(l.at(name)) })))
}

func TestLockReportsWhetherLocksWereKept(t *testing.T) {
	l := newLockedList(t)
	assert.True(t, l.take("1.json"), "none were held before")
	assert.True(t, l.take("2.json"), "no lock was held by another program")
	l.plant("3.json.lock", 0)
	l.freedByUnlock("3.json.lock")
	assert.False(t, l.take("3.json"), "the list was unlocked in between")
	require.NoError(t, l.Unlock())

	l.plant("4.json.lock", 0)
	l.freedByUnlock("4.json.lock")
	assert.True(t, l.take("4.json"), "none were held before, so none were released")
	require.NoError(t, l.Unlock())
}

// TestRetryBackoff: the wait doubles from 5 ms up to 50 ms.
func TestRetryBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLockedList(t)
		l.plant(listLock, 0)
		start, tries := time.Now(), []time.Duration{}
		l.before(func(s faultfs.Step) error {
			if s.Op == "rename" && s.To == l.at(listLock) {
				tries = append(tries, time.Since(start))
			}
			if len(tries) > 100 { // without a wait the test's clock would never advance
				return syscall.EIO
			}
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 190*time.Millisecond)
		defer cancel()
		_, err := l.Lock(ctx, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		const ms = time.Millisecond
		assert.Equal(t, []time.Duration{0, 5 * ms, 15 * ms, 35 * ms, 75 * ms, 125 * ms, 175 * ms}, tries)
	})
}

func TestNameThatIsTooLongForALockIsNotLocked(t *testing.T) {
	l := newLockedList(t)
	fits, tooLong := strings.Repeat("a", 245)+".json", strings.Repeat("b", 246)+".json"
	l.take(fits, tooLong)
	assert.Equal(t, []string{".lock.lock", fits + ".lock"}, l.names())
	require.NoError(t, l.Unlock())
}

func TestErrorNamesAFileInPlaceOfALock(t *testing.T) {
	l := newLockedList(t)
	require.NoError(t, os.WriteFile(l.at(listLock), nil, 0o644))
	require.ErrorContains(t, l.busy(), l.at(listLock)+" is not a directory")
}

func TestBusyErrorGivesTheTimeIfItIsKnown(t *testing.T) {
	e := &BusyError{Path: "/list/.lock.lock", Since: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Cause: context.Canceled}
	assert.Contains(t, e.Error(), "since 2026-11-21T10:00:00Z")
	e.Since = time.Time{}
	assert.NotContains(t, e.Error(), "since")

	l := newLockedList(t)
	l.plant(listLock, time.Second)
	info, err := os.Stat(l.at(listLock))
	require.NoError(t, err)
	var busy *BusyError
	require.ErrorAs(t, l.busy(), &busy)
	assert.True(t, busy.Since.Equal(info.ModTime()))
}

func TestBusyErrorDescribesAnAbandonedLock(t *testing.T) {
	l := newLockedList(t)
	l.plant(listLock, -time.Hour)
	var busy *BusyError
	require.ErrorAs(t, l.busy(), &busy)
	assert.True(t, busy.Abandoned())
	assert.Regexp(t, "^the lock "+l.at(listLock)+
		` has a time in the future, 2\S+Z, so that it never counts as abandoned: a clock was set back; if no other program is using the task `+
		`list, remove that directory: context canceled$`,
		busy.Error())
	assert.DirExists(t, l.at(listLock))

	l = newLockedList(t)
	l.plant(listLock, time.Minute)
	l.before(failStep("rename", l.at(listLock), &fs.PathError{Op: "rename", Path: l.at(listLock), Err: syscall.EACCES}))
	require.ErrorAs(t, l.busy(), &busy)
	assert.True(t, busy.Abandoned())
	assert.Regexp(t, "^the lock "+l.at(listLock)+` was abandoned at 2\S+Z, but cannot be removed \(permission denied\); if no other program`,
		busy.Error())

	for _, age := range []time.Duration{-time.Second, 0, stale / 2} { // proper-lockfile may set it 1 s ahead
		l = newLockedList(t)
		l.plant(listLock, age)
		require.ErrorAs(t, l.busy(), &busy)
		assert.False(t, busy.Abandoned())
		assert.Contains(t, busy.Error(), "the task list is in use: another program has held ")
	}

	inUse := &BusyError{Path: "a", Since: time.Now(), Age: -ahead, Ahead: ahead}
	assert.False(t, inUse.Abandoned(), "at the limit")
	assert.Contains(t, inUse.Error(), "the task list is in use")
}

func TestFileSystemErrorReleasesAllLocks(t *testing.T) {
	for _, fault := range []string{"mkdir", "overwrite", "rename"} {
		l := newLockedList(t)
		l.before(func(s faultfs.Step) error {
			if s.Op == fault && (fault != "rename" || s.To == l.at("2.json.lock")) {
				return syscall.ENOSPC
			}
			return nil
		})
		require.ErrorIs(t, l.busy("1.json", "2.json"), syscall.ENOSPC, fault)
		assert.Empty(t, l.names(), fault)
	}
}

func TestCheckFindsALostLock(t *testing.T) {
	l := newLockedList(t)
	l.take()
	require.NoError(t, os.Remove(l.at(listLock)))
	require.ErrorIs(t, l.Check(), errLockLost)
	l.plant(listLock, 0)
	require.ErrorIs(t, l.Check(), errLockLost)
	require.NoError(t, l.Unlock())
	assert.DirExists(t, l.at(listLock), "another program's lock was released")
}

func TestLockThatCannotBeCheckedIsLost(t *testing.T) {
	l := newLockedList(t)
	l.take()
	l.files = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error { return syscall.EIO }}
	err := l.Check()
	require.ErrorIs(t, err, errLockLost)
	require.ErrorIs(t, err, syscall.EIO)
	l.files = vfs.OS{}
	require.NoError(t, l.Unlock())
}

func TestUnlockClearsScratch(t *testing.T) {
	l := newLockedList(t)
	l.take("1.json")
	require.NoError(t, l.Unlock())
	entries, err := os.ReadDir(l.scratch)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// TestUnlockKeepsTheRecordOfALockItCannotRelease: the next process needs it.
func TestUnlockKeepsTheRecordOfALockItCannotRelease(t *testing.T) {
	l := newLockedList(t)
	l.take()
	l.before(failStep("remove", l.at(listLock), syscall.EIO))
	require.ErrorIs(t, l.Unlock(), syscall.EIO)
	assert.Equal(t, []string{listLock}, l.names())
	require.NoError(t, boundLocks(l.dir, l.scratch).Reap())
	assert.Empty(t, l.names())
}

// TestUnlockAcceptsALockThatIsGone: the client removes it right before Unlock does.
func TestUnlockAcceptsALockThatIsGone(t *testing.T) {
	l := newLockedList(t)
	l.take()
	l.before(onStep("remove", l.at(listLock), func() error { return os.Remove(l.at(listLock)) }))
	require.NoError(t, l.Unlock())
}

// TestHeldLocksAreRefreshed: the client takes over a lock whose modification time is
// ten seconds old. The test's clock starts in another year than the file system's, so
// already the first refresh is visible.
func TestHeldLocksAreRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLockedList(t)
		l.take("1.json")
		for range 7 {
			time.Sleep(5 * time.Second)
			synctest.Wait()
			for _, name := range []string{listLock, "1.json.lock"} {
				info, err := os.Stat(l.at(name))
				require.NoError(t, err)
				assert.Less(t, time.Since(info.ModTime()).Abs(), 4*time.Second, name)
			}
			require.NoError(t, l.Check(), "a refresh keeps what identifies the lock")
		}
		require.NoError(t, l.Unlock())
		assert.Empty(t, l.names())
	})
}

func TestRefreshSkipsLocksOfOtherPrograms(t *testing.T) {
	l := newLockedList(t)
	l.take()
	require.NoError(t, os.Remove(l.at(listLock)))
	l.plant(listLock, time.Minute)
	before, err := os.Stat(l.at(listLock))
	require.NoError(t, err)
	l.refresh(time.Now())
	after, err := os.Stat(l.at(listLock))
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime())
	require.NoError(t, l.Unlock())
}
