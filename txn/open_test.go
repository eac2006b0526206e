package txn

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestOpenShowsThatItIsThere: cleanup tools remove directories with an old modification time, and others may wait for the lock.
func TestOpenShowsThatItIsThere(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	long, earliest := time.Unix(1e9, 0), time.Now().Truncate(time.Second)
	require.NoError(t, os.Chtimes(stateDirOf(dir), long, long))
	opened(t, dir)
	info, err := os.Stat(stateDirOf(dir))
	require.NoError(t, err)
	assert.NotEqual(t, long, info.ModTime())
	text, err := os.ReadFile(filepath.Join(stateDirOf(dir), lockName))
	require.NoError(t, err)
	pid, since := parseHolder(string(text))
	assert.Equal(t, os.Getpid(), pid)
	assert.False(t, since.Before(earliest), since)
}

func TestParseHolderIgnoresWhatItDoesNotKnow(t *testing.T) {
	at := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	for text, want := range map[string]struct {
		pid   int
		since time.Time
	}{
		"12 2026-11-21T20:00:00Z\n": {12, at}, "12": {12, time.Time{}}, "12 yesterday": {12, time.Time{}},
		"": {}, "x 2026-11-21T20:00:00Z": {}, "-1 2026-11-21T20:00:00Z": {}, "0 2026-11-21T20:00:00Z": {},
	} {
		pid, since := parseHolder(text)
		assert.Equal(t, want.pid, pid, "%q", text)
		assert.True(t, want.since.Equal(since), "%q", text)
	}
}

func TestLockedErrorSaysWhoHoldsTheLock(t *testing.T) {
	at := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		err  LockedError
		want string
	}{
		{LockedError{"p", 12, at, errTest}, "p is locked by process 12 since 2026-11-21T20:00:00Z: test"},
		{LockedError{"p", 12, time.Time{}, errTest}, "p is locked by process 12: test"},
		{LockedError{"p", 0, time.Time{}, errTest}, "p is locked by another process: test"},
	} {
		assert.EqualError(t, &c.err, c.want)
	}
}

// TestOpenWaitsForTheLock until another Dir releases it.
func TestOpenWaitsForTheLock(t *testing.T) {
	dir := newList(t)
	d, err := Open(t.Context(), dir)
	require.NoError(t, err)
	opened := make(chan error)
	go func() {
		second, err := Open(context.Background(), dir)
		if err == nil {
			err = second.Close()
		}
		opened <- err
	}()
	require.NoError(t, d.Close())
	require.NoError(t, <-opened)
}

// TestOpenSurvivesTheRemovalOfTheStateDirectory: a cleanup tool removes S after it was
// created and before it is checked, or after the lock file was opened and before Open checks
// that the file still exists.
func TestOpenSurvivesTheRemovalOfTheStateDirectory(t *testing.T) {
	dir := newList(t)
	s := stateDirOf(dir)
	for _, path := range []string{s, filepath.Join(s, lockName)} {
		removed := 0
		files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(step faultfs.Step) error {
			if step.Op == "lstat" && step.Path == path && removed < 2 {
				removed++
				return os.RemoveAll(s)
			}
			return nil
		}}
		d, err := Open(t.Context(), dir, WithFS(files))
		require.NoError(t, err)
		require.Equal(t, 2, removed)
		require.NoError(t, d.Commit(t.Context(), Change{Creates: []File{{filepath.Base(path), nil, 0o644}}}))
		require.NoError(t, d.Close())
	}
}

// TestOpenLocksTheFileAtThePath: another process replaces the lock file while Open locks the
// old one.
func TestOpenLocksTheFileAtThePath(t *testing.T) {
	dir := newList(t)
	lock := filepath.Join(stateDirOf(dir), lockName)
	replaced := false
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op == "lstat" && s.Path == lock && !replaced {
			replaced = true
			return replaceFile(lock, "")
		}
		return nil
	}}
	opened(t, dir, WithFS(files))
	require.True(t, replaced)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, dir)
	require.ErrorIs(t, err, ErrLocked, "Open has locked the file that is at the path now")
}

func TestFailedOpenReleasesTheLock(t *testing.T) {
	free := func(dir, name string) {
		_, err := Open(ended(errTest), dir)
		require.Equal(t, errTest, err, "%s: the lock is not free", name)
	}
	for name, files := range map[string]vfs.FS{
		"holder":  failing(errTest, func(s faultfs.Step) bool { return s.Op == "overwrite" }),
		"touch":   failing(errTest, func(s faultfs.Step) bool { return s.Op == "chtimes" }),
		"stat":    failing(errTest, func(s faultfs.Step) bool { return s.Op == "lstat" && filepath.Base(s.Path) == lockName }),
		"journal": failing(errTest, func(s faultfs.Step) bool { return s.Op == "read" }),
	} {
		dir := newList(t)
		l := &recorder{}
		_, err := Open(t.Context(), dir, WithFS(files), WithLocker(l))
		require.ErrorIs(t, err, errTest, name)
		free(dir, name)
		free(dir, "another end of the context")
		if name != "stat" {
			assert.Equal(t, "unlock", l.calls[len(l.calls)-1], name)
		}
	}
}

func TestParseStateDir(t *testing.T) {
	for name, want := range map[string]string{
		".list.fsmtx": "list", ".a.b.fsmtx": "a.b", "..hidden.fsmtx": ".hidden",
		"list.fsmtx": "", ".fsmtx": "", "..fsmtx": "", "...fsmtx": "", "....fsmtx": "", ".list": "", "": "", ".a/b.fsmtx": "",
	} {
		dir, ok := ParseStateDir(name)
		assert.Equal(t, want != "", ok, name)
		assert.Equal(t, want, dir, name)
	}
}

func TestStateDirIsNamedAfterTheDirectory(t *testing.T) {
	root := memoryDir(t)
	s, err := StateDir(filepath.Join(root, "absent"))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, ".absent.fsmtx"), s)
	name, ok := ParseStateDir(filepath.Base(s))
	assert.True(t, ok)
	assert.Equal(t, "absent", name)

	t.Chdir(root)
	s, err = StateDir("relative")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, ".relative.fsmtx"), s)

	require.NoError(t, os.Symlink("nothing", filepath.Join(root, "dangling")))
	_, err = StateDir(filepath.Join(root, "dangling"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "resolving the symbolic link "+filepath.Join(root, "dangling"))
}

func TestUntrustedDirectoriesAreDescribed(t *testing.T) {
	root := memoryDir(t)
	require.NoError(t, os.WriteFile(root+"/file", nil, 0o600))
	require.NoError(t, os.Symlink("file", root+"/link"))
	require.NoError(t, files.Mkfifo(root+"/pipe", 0o600))
	require.NoError(t, os.Mkdir(root+"/open", 0o700))
	require.NoError(t, os.Chmod(root+"/open", 0o720))
	for path, want := range map[string]string{
		root + "/file": "it is a file", root + "/link": "it is a symbolic link", root + "/pipe": "it is a named pipe",
		root + "/open": "others may write to it (mode 0720); inspect it, then: chmod 700 '" + root + "/open'",
		"/dev/null":    "it is neither a file nor a directory",
	} {
		err := checkTrusted(vfs.OS{}, path)
		assert.ErrorIs(t, err, ErrUntrustedDir)
		assert.EqualError(t, err, path+": not a trusted directory: "+want)
	}
	assert.NoError(t, checkTrusted(vfs.OS{}, root))
}

// recorder is a Locker that records its calls and returns the errors in fails, one
// for each call that begins with the key.
type recorder struct {
	calls []string
	fails map[string][]error
	kept  bool
	lock  func(ctx context.Context)
}

func (r *recorder) call(words ...string) error {
	r.calls = append(r.calls, strings.Join(words, " "))
	queue := r.fails[words[0]]
	if len(queue) == 0 {
		return nil
	}
	r.fails[words[0]] = queue[1:]
	return queue[0]
}

func (r *recorder) Bind(_ vfs.FS, dir, scratch string) {
	_ = r.call("bind", dir, scratch)
}

func (r *recorder) Lock(ctx context.Context, names []string) (bool, error) {
	if r.lock != nil {
		r.lock(ctx)
	}
	return r.kept, r.call(append([]string{"lock"}, names...)...)
}

func (r *recorder) Check() error  { return r.call("check") }
func (r *recorder) Unlock() error { return r.call("unlock") }
func (r *recorder) Reap() error   { return r.call("reap") }

// TestLockerIsCalledInOrder checks the order of calls that a Locker can rely on.
func TestLockerIsCalledInOrder(t *testing.T) {
	dir := filepath.Join(memoryDir(t), "list")
	l := &recorder{kept: true}
	d, err := Open(t.Context(), dir, WithLocker(l))
	require.NoError(t, err)
	assert.Equal(t, []string{"bind " + dir + " " + stateDirOf(dir) + "/locks", "reap"}, l.calls)
	require.NoDirExists(t, dir)

	l.lock = func(context.Context) { require.DirExists(t, dir) }
	kept, err := d.Lock(t.Context(), "1.json", "2.json")
	require.NoError(t, err)
	assert.True(t, kept)
	l.kept = false
	kept, err = d.Lock(t.Context())
	require.NoError(t, err)
	assert.False(t, kept)

	l.calls = nil
	require.NoError(t, d.Commit(t.Context(), create("1.json")))
	require.NoError(t, d.Close())
	assert.Equal(t, []string{"check", "check", "unlock", "unlock", "unlock"}, l.calls)
}

func TestRecoveryTakesTheLocksOfAllFiles(t *testing.T) {
	w := newWorld(t)
	l := &recorder{}
	recovered(t, w.d, WithLocker(l))
	assert.Equal(t, []string{"reap", "lock 4.json 5.json 2.json 3.json", "unlock", "unlock"}, l.calls[1:])

	l = &recorder{}
	recovered(t, w.d, WithLocker(l))
	assert.Equal(t, []string{"reap", "unlock"}, l.calls[1:], "there is nothing to recover")
}

// TestCommitChecksTheLocks: a lock is lost before D is changed, or while it is changed. The rollback locks what it removes, and goes ahead
// without those locks if they cannot be had.
func TestCommitChecksTheLocks(t *testing.T) {
	rollsBack := []string{"reap", "check", "check", "lock 3.json 4.json", "unlock", "unlock"}
	for name, c := range map[string]struct {
		fails map[string][]error
		calls []string
	}{
		"before":               {map[string][]error{"check": {errTest}}, []string{"reap", "check", "unlock", "unlock"}},
		"while":                {map[string][]error{"check": {nil, errTest}}, rollsBack},
		"while, without locks": {map[string][]error{"check": {nil, errTest}, "lock": {context.DeadlineExceeded}}, rollsBack},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newList(t)
			list := tree(t, dir)
			linked := false
			files := before(func(s faultfs.Step) error { linked = linked || linksInto(dir)(s); return nil })
			l := &recorder{fails: c.fails}
			require.Equal(t, errTest, commit(t, dir, replacing, WithLocker(l), WithFS(files)))
			requireRolledBack(t, dir, list)
			assert.Equal(t, c.calls, l.calls[1:])
			assert.Equal(t, name != "before", linked, "whether D was changed before the rollback")
		})
	}
}

// TestALockIsHeldAfterACommitThatLeftItsJournal: the recovery takes and releases locks of its own, and
// changes D, so it comes before those of the next change.
func TestALockIsHeldAfterACommitThatLeftItsJournal(t *testing.T) {
	dir, full := newList(t), true
	l := &recorder{kept: true}
	d, err := Open(t.Context(), dir, WithLocker(l), WithFS(before(func(s faultfs.Step) error {
		if linksInto(dir)(s) {
			_ = l.call("change")
		}
		if full && (strings.HasPrefix(filepath.Base(s.To), donePrefix) || s.Op == "remove") {
			return syscall.ENOSPC
		}
		return nil
	})))
	require.NoError(t, err)
	defer d.Close()
	require.ErrorIs(t, d.Commit(t.Context(), replacing), ErrRecoveryRequired)
	require.FileExists(t, filepath.Join(stateDirOf(dir), journalName))
	full, l.calls = false, nil
	kept, err := d.Lock(t.Context(), "1.json")
	require.NoError(t, err)
	require.False(t, kept)
	require.NoError(t, d.Commit(t.Context(), create("9.json")))
	locked := slices.Index(l.calls, "lock 1.json")
	require.GreaterOrEqual(t, locked, 0)
	require.Equal(t, []string{"lock 1.json", "check", "change", "check"}, l.calls[locked:locked+4])
}

// TestRollbackLocksTheFilesItRemoves: a program that has read a created file may be
// about to write it.
func TestRollbackLocksTheFilesItRemoves(t *testing.T) {
	dir := newList(t)
	list := tree(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	l := &recorder{}
	l.lock = func(ctx context.Context) {
		assert.NoError(t, ctx.Err(), "it waits although the transaction's context has ended")
		_, bounded := ctx.Deadline()
		assert.True(t, bounded, "it does not wait for ever")
		assert.Contains(t, contents(t, dir), "3.json", "it locks before it removes")
	}
	files := before(func(s faultfs.Step) error {
		if s.Op == "link" && s.To == filepath.Join(dir, "3.json") {
			cancel(errTest)
		}
		return nil
	})
	d := opened(t, dir, WithLocker(l), WithFS(files))
	require.Equal(t, errTest, d.Commit(ctx, replacing))
	assert.Equal(t, []string{"check", "lock 3.json", "unlock"}, l.calls[2:])
	requireRolledBack(t, dir, list)
}

func TestFailureToUnlockDoesNotFailTheTransaction(t *testing.T) {
	dir := newList(t)
	l := &recorder{fails: map[string][]error{"unlock": {errTest, errTest}}}
	require.NoError(t, commit(t, dir, replacing, WithLocker(l)))
	require.Contains(t, contents(t, dir), "3.json")

	d, err := Open(t.Context(), dir, WithLocker(&recorder{fails: map[string][]error{"unlock": {errTest}}}))
	require.NoError(t, err)
	require.ErrorIs(t, d.Close(), errTest, "Close returns the error")
	require.NoError(t, d.Close(), "closing again does nothing")

	d, err = Open(t.Context(), dir, WithLocker(&recorder{fails: map[string][]error{"unlock": {errTest}}}))
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context(), create("5.json")))
	require.ErrorIs(t, d.Close(), errTest, "of an earlier Commit, too")

	r := recovered(t, dir, WithLocker(&recorder{fails: map[string][]error{"unlock": {errTest}}}))
	require.ErrorIs(t, r.Unreleased, errTest)
}

// TestLockerSeesOnlyATrustedDirectory: Open checks the Locker's directory before
// the Locker is asked to reap.
func TestLockerSeesOnlyATrustedDirectory(t *testing.T) {
	w := newWorld(t)
	w.plant(t, "locks link .")
	l := &recorder{}
	_, err := Open(t.Context(), w.d, WithLocker(l))
	require.ErrorIs(t, err, ErrUntrustedDir)
	assert.NotContains(t, l.calls, "reap")
}
