package tasks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// TestStaleLocks: a lock is taken over once it is older than ten seconds. The test's
// clock stands still, so the age is exact.
func TestStaleLocks(t *testing.T) {
	for age, free := range map[time.Duration]bool{
		-time.Hour: false, 0: false, 10 * time.Second: false, 10*time.Second + time.Nanosecond: true, time.Hour: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLockedList(t)
			l.plant(listLock, age)
			if !free {
				require.ErrorAs(t, l.busy(), new(*BusyError), "age %v", age)
				assert.Equal(t, []string{listLock}, l.names())
				return
			}
			l.take()
			require.NoError(t, l.Check())
			require.NoError(t, l.Unlock())
			assert.Empty(t, l.names(), "age %v", age)
		})
	}
}

// TestTakeOverWaitsForOtherClients: a client that saw the stale lock just before it was
// taken over replaces it by its own within 50 ms. The client then holds the lock.
func TestTakeOverWaitsForOtherClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLockedList(t)
		l.plant("2.json.lock", time.Minute)
		stolen := make(chan struct{})
		l.before(func(s faultfs.Step) error {
			if s.Op == "rename" && filepath.Dir(s.To) == l.scratch {
				go func() {
					defer close(stolen)
					time.Sleep(49 * time.Millisecond)
					assert.NoError(t, os.Remove(l.at("2.json.lock")))
					assert.NoError(t, os.Mkdir(l.at("2.json.lock"), 0o755))
				}()
			}
			return nil
		})
		require.ErrorAs(t, l.busy("2.json"), new(*BusyError))
		<-stolen
		assert.Equal(t, []string{"2.json.lock"}, l.names(), "the client's lock is still there, ours are not")
	})
}

// TestTakeOverIsVerified: a client takes or refreshes the stale lock right before the
// take-over. The lock is moved back.
func TestTakeOverIsVerified(t *testing.T) {
	for name, change := range map[string]func(lock string) error{
		"another lock": func(lock string) error {
			// The kernel may reuse the inode of a removed directory, so the old one is kept.
			return errors.Join(os.Rename(lock, lock+".old"), os.Mkdir(lock, 0o755))
		},
		"refreshed": func(lock string) error { return os.Chtimes(lock, time.Time{}, time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLockedList(t)
			l.plant(listLock, time.Minute)
			l.before(onStep("rename", l.at(listLock), func() error { return change(l.at(listLock)) }))
			require.ErrorAs(t, l.busy(), new(*BusyError))
			assert.DirExists(t, l.at(listLock), "the client's lock was taken over")
		})
	}
}

func TestFailedTakeOverLeavesNothingInScratch(t *testing.T) {
	l := newLockedList(t)
	l.plant(listLock, time.Minute)
	l.before(func(s faultfs.Step) error {
		switch {
		case s.Op == "rename" && s.Path == l.at(listLock): // refreshed right before the take-over
			return os.Chtimes(s.Path, time.Time{}, time.Now())
		case s.Op == "rename" && s.To == l.at(listLock) && strings.Contains(s.Path, "stale-"): // the place is taken
			return os.Mkdir(s.To, 0o755)
		}
		return nil
	})
	require.ErrorAs(t, l.busy(), new(*BusyError))
	left, err := filepath.Glob(filepath.Join(l.scratch, "stale-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestStaleLockThatVanishesIsFree(t *testing.T) {
	l := newLockedList(t)
	l.plant(listLock, time.Minute)
	l.before(onStep("rename", l.at(listLock), func() error { return os.Remove(l.at(listLock)) }))
	l.take()
	require.NoError(t, l.Unlock())
}

func TestStaleLockThatCannotBeMovedIsBusy(t *testing.T) {
	l := newLockedList(t)
	l.plant(listLock, time.Minute)
	l.before(failStep("rename", l.at(listLock), syscall.EACCES))
	require.ErrorAs(t, l.busy(), new(*BusyError))
}

// TestAStaleLockInTheLowerLayerOfAnOverlayIsRemoved: such a directory cannot be renamed.
func TestAStaleLockInTheLowerLayerOfAnOverlayIsRemoved(t *testing.T) {
	l := newLockedList(t)
	l.plant(listLock, time.Minute)
	l.before(failStep("rename", l.at(listLock), syscall.EXDEV))
	l.take()
	require.NoError(t, l.Unlock())
	require.NoDirExists(t, l.at(listLock))
}

func TestLstatErrorOfALockIsReturned(t *testing.T) {
	l := newLockedList(t)
	l.plant(listLock, 0)
	l.files = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: failStep("lstat", l.at(listLock), syscall.EIO)}
	require.ErrorIs(t, l.busy(), syscall.EIO)
}

func TestLstatErrorOfAPreparedLockIsReturned(t *testing.T) {
	l := newLockedList(t)
	l.files = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op == "lstat" && filepath.Dir(s.Path) == l.scratch {
			return syscall.EIO
		}
		return nil
	}}
	require.ErrorIs(t, l.busy(), syscall.EIO)
}

func TestScratchThatCannotBeCreatedIsAnError(t *testing.T) {
	l := newLockedList(t)
	l.before(failStep("mkdir", l.scratch, syscall.EROFS))
	require.ErrorIs(t, l.busy(), syscall.EROFS)
}

// TestLockCreatesARemovedListAgain: the client removes the directories of lists that
// have not changed for a month (fact 9).
func TestLockCreatesARemovedListAgain(t *testing.T) {
	l := newLockedList(t)
	require.NoError(t, os.Remove(l.dir))
	l.take()
	assert.DirExists(t, l.at(listLock))
	require.NoError(t, l.Unlock())

	require.NoError(t, os.Remove(l.dir))
	l.before(failStep("mkdir", l.dir, syscall.EACCES))
	require.ErrorIs(t, l.busy(), syscall.EACCES)
}

func TestOtherFileSystemIsErrNoLinks(t *testing.T) {
	l := newLockedList(t)
	l.before(func(s faultfs.Step) error {
		if s.Op == "rename" {
			return syscall.EXDEV
		}
		return nil
	})
	err := l.busy()
	require.ErrorIs(t, err, txn.ErrNoLinks)
	require.ErrorIs(t, err, syscall.EXDEV)
}

// noRenameNew is a file system without a rename that fails if the target exists.
type noRenameNew struct{ vfs.OS }

func (noRenameNew) RenameNew(string, string) error { return errors.ErrUnsupported }

func TestLockWithoutRenameNew(t *testing.T) {
	l := newLockedList(t)
	l.files = noRenameNew{}
	l.take("1.json")
	require.NoError(t, l.Check(), "the lock has the recorded inode")
	require.NoError(t, l.Unlock())
	assert.Empty(t, l.names())
	l.plant("1.json.lock", 0)
	require.ErrorAs(t, l.busy("1.json"), new(*BusyError))
	assert.Equal(t, []string{"1.json.lock"}, l.names())
}

func TestLockIsBusyAfterThreeLostTakeOvers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLockedList(t)
		tries := 0
		l.before(func(s faultfs.Step) error {
			if s.Op != "rename" || s.To != l.at(listLock) {
				return nil
			}
			tries++
			if err := os.Mkdir(s.To, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return os.Chtimes(s.To, time.Time{}, time.Now().Add(-time.Minute))
		})
		require.ErrorAs(t, l.busy(), new(*BusyError))
		assert.Equal(t, 3, tries)
	})
}
