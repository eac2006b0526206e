package tasks

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// lockedList is a list's directory and its locks.
type lockedList struct {
	*clientLocks
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

func boundLocks(dir, scratch string) *clientLocks {
	l := new(clientLocks)
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

// try takes locks if they are free.
func (l lockedList) try(names ...string) error {
	ctx, cancel := context.WithCancel(l.t.Context())
	cancel()
	_, err := l.Lock(ctx, names)
	return err
}

// busy returns why locks are not to be had.
func (l lockedList) busy(names ...string) error {
	err := l.try(names...)
	require.Error(l.t, err)
	return err
}

// isBusy is busy because of another program's lock.
func (l lockedList) isBusy(names ...string) (busy *BusyError) {
	l.t.Helper()
	require.ErrorAs(l.t, l.busy(names...), &busy)
	return busy
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
	busy := l.isBusy("1.json", "2.json")
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
		if s.Op == "mkdir" && strings.Contains(filepath.ToSlash(s.Path), "locks/") {
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

// TestBusyErrorDescribesTheLock: one that is in use, or one that was abandoned and cannot be taken over.
func TestBusyErrorDescribesTheLock(t *testing.T) {
	denied := &fs.PathError{Op: "rename", Path: "x", Err: syscall.EACCES}
	for age, c := range map[time.Duration]struct {
		abandoned bool
		says      string
	}{
		-time.Hour: {true, `^the lock LOCK has a time in the future, 2\S+Z, so that it never counts as abandoned: a clock was set back; ` +
			`if no other program is using the task list, remove that directory: context canceled$`},
		time.Minute:  {true, `^the lock LOCK was abandoned at 2\S+Z, but cannot be removed \(permission denied\); if no other program`},
		-time.Second: {false, `the task list is in use: another program has held `}, // proper-lockfile may set it 1 s ahead
		0:            {false, `the task list is in use: another program has held `},
		stale / 2:    {false, `the task list is in use: another program has held .* since 2\S+Z`},
	} {
		l := newLockedList(t)
		l.plant(listLock, age)
		info, err := os.Stat(l.at(listLock))
		require.NoError(t, err)
		l.files = &faultfs.Steps{FS: vfs.OS{}, Before: onStep("rename", l.at(listLock), func() error {
			if age > stale {
				return denied
			}
			return nil
		})}
		busy := l.isBusy()
		assert.Equal(t, c.abandoned, busy.Abandoned(), age)
		assert.Regexp(t, strings.ReplaceAll(c.says, "LOCK", regexp.QuoteMeta(l.at(listLock))), busy.Error())
		assert.True(t, busy.Since.Equal(info.ModTime()))
		assert.DirExists(t, l.at(listLock))
	}
	inUse := &BusyError{Path: "a", Since: time.Now(), Age: -ahead, Ahead: ahead}
	assert.False(t, inUse.Abandoned(), "at the limit")
	assert.NotContains(t, (&BusyError{Path: "a", Cause: context.Canceled}).Error(), "since", "the time is not known")
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

	l = newLockedList(t)
	l.take("1.json")
	l.files = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error { return syscall.EIO }}
	err := l.Check()
	require.ErrorIs(t, err, errLockLost, "it cannot be looked at")
	require.ErrorIs(t, err, syscall.EIO)
	l.files = vfs.OS{}
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

func TestParseRecord(t *testing.T) {
	text := "12 34 5.json.lock\nnonsense\n1 2\n1 x 3.json.lock\n1 2 ../x.lock\n1 2 a\x00.lock\n1 2 5.json\n7 8 a b.json.lock\n"
	assert.Equal(t, []lock{{"5.json.lock", 12, 34}, {"a b.json.lock", 7, 8}}, parseRecord([]byte(text)))
}

// TestReap releases the locks on record that are still those of this program.
func TestReap(t *testing.T) {
	scratch := func(names ...string) func(l lockedList) error {
		return func(l lockedList) (err error) {
			for _, name := range names {
				err = errors.Join(err, os.MkdirAll(filepath.Join(l.scratch, name), 0o755))
			}
			return err
		}
	}
	for what, c := range map[string]struct {
		meanwhile func(l lockedList) error
		locks     []string // that are left
		scratch   []string
	}{
		"recorded locks": {scratch(), []string{}, nil},
		"another program's lock with the same inode": {func(l lockedList) error {
			return os.Chtimes(l.at(listLock), time.Time{}, time.Unix(time.Now().Unix(), int64((l.held[0].nanos+100)%1e9)))
		}, []string{listLock}, nil},
		"what is not a record": {scratch("full/directory"), []string{}, []string{"full"}},
		// A power cut on a file system without a journal may leave them.
		"directories under the names of records": {scratch(recordPrefix+"0", recordPrefix+"1/file"), []string{}, []string{recordPrefix + "1"}},
	} {
		l := newLockedList(t)
		require.NoError(t, l.Reap())
		require.NoDirExists(t, l.scratch)
		l.take("1.json")
		require.NoError(t, c.meanwhile(l))
		require.NoError(t, boundLocks(l.dir, l.scratch).Reap())
		assert.Equal(t, c.locks, l.names(), what)
		files.RequireOnly(t, l.scratch, c.scratch...)
		require.NoError(t, l.Unlock())
	}
}

func TestReapReturnsReadErrors(t *testing.T) {
	for _, fault := range []string{"readdir", "read", "lstat"} {
		l := newLockedList(t)
		l.take()
		reaper := boundLocks(l.dir, l.scratch)
		reaper.files = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
			if s.Op == fault {
				return syscall.EIO
			}
			return nil
		}}
		require.ErrorIs(t, reaper.Reap(), syscall.EIO, fault)
		assert.Equal(t, []string{listLock}, l.names(), fault)
		require.NoError(t, l.Unlock())
	}
}

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
		l.isBusy("2.json")
		<-stolen
		assert.Equal(t, []string{"2.json.lock"}, l.names(), "the client's lock is still there, ours are not")
	})
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
	l.isBusy()
	left, err := filepath.Glob(filepath.Join(l.scratch, "stale-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestLockMeetsSomethingAtAStep: it is taken all the same, or it is busy, or the error of the step is returned. No lock of ours is
// left then.
func TestLockMeetsSomethingAtAStep(t *testing.T) {
	errBusy := errors.New("busy")
	fails := func(err error) func(string) error { return func(string) error { return err } }
	for what, c := range map[string]struct {
		age  time.Duration // of another program's lock of the list; 0 if there is none
		step string        // of which the path begins so
		do   func(lock string) error
		want error // what Lock returns
	}{
		"no scratch directory":                          {0, "mkdir s/locks", fails(syscall.EROFS), syscall.EROFS},
		"no space for a lock":                           {0, "mkdir s/locks/", fails(syscall.ENOSPC), syscall.ENOSPC},
		"no space for the record":                       {0, "overwrite s/locks/", fails(syscall.ENOSPC), syscall.ENOSPC},
		"an unreadable new lock":                        {0, "lstat s/locks/", fails(syscall.EIO), syscall.EIO},
		"no space for a name":                           {0, "rename to list/1.json.lock", fails(syscall.ENOSPC), syscall.ENOSPC},
		"two file systems":                              {0, "rename to list/", fails(syscall.EXDEV), txn.ErrNoLinks},
		"an unreadable lock":                            {time.Second, "lstat list/.lock.lock", fails(syscall.EIO), syscall.EIO},
		"a stale lock that stays":                       {time.Minute, "rename list/.lock.lock", fails(syscall.EACCES), errBusy},
		"a stale lock in the lower layer of an overlay": {time.Minute, "rename list/.lock.lock", fails(syscall.EXDEV), nil},
		"a stale lock that vanishes":                    {time.Minute, "rename list/.lock.lock", os.Remove, nil},
		"a stale lock that another program takes": {time.Minute, "rename list/.lock.lock", func(lock string) error {
			// The kernel may reuse the inode of a removed directory, so the old one is kept.
			return errors.Join(os.Rename(lock, lock+".old"), os.Mkdir(lock, 0o755))
		}, errBusy},
		"a stale lock that is refreshed": {time.Minute, "rename list/.lock.lock",
			func(lock string) error { return os.Chtimes(lock, time.Time{}, time.Now()) }, errBusy},
	} {
		l := newLockedList(t)
		if c.age != 0 {
			l.plant(listLock, c.age)
		}
		before, last := l.names(), error(nil)
		l.files = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
			for _, step := range []string{s.Op + " " + s.Path, s.Op + " to " + s.To} {
				if strings.HasPrefix(strings.Replace(step, filepath.Dir(l.dir)+"/", "", 1), c.step) {
					last = c.do(l.at(listLock))
					return last
				}
			}
			return nil
		}}
		if c.want == nil {
			require.NoError(t, l.try("1.json"), what)
			require.NoError(t, l.Unlock(), what)
			require.Empty(t, l.names(), what)
			continue
		}
		err := l.busy("1.json")
		if _, busy := errors.AsType[*BusyError](err); busy {
			err = errBusy
		} else {
			require.ErrorIs(t, err, last, what)
		}
		require.ErrorIs(t, err, c.want, what)
		require.Subset(t, l.names(), before, "%s: the other's is taken over", what)
		require.NotContains(t, l.names(), "1.json.lock", what)
		require.Equal(t, len(before) > 0, slices.Contains(l.names(), listLock), what)
	}
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
	l.isBusy("1.json")
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
		l.isBusy()
		assert.Equal(t, 3, tries)
	})
}
