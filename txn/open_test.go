package txn

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	dir := newList(t)
	_, err := Open(ended(errTest), dir)
	require.Equal(t, errTest, err, "the lock was free")
	require.NoError(t, commit(t, dir, replacing))
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
		require.NoError(t, commit(t, dir, replacing), name)
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
	require.NoError(t, syscall.Mkfifo(root+"/pipe", 0o600))
	require.NoError(t, os.Mkdir(root+"/open", 0o700))
	require.NoError(t, os.Chmod(root+"/open", 0o720))
	for path, want := range map[string]string{
		root + "/file": "it is a file", root + "/link": "it is a symbolic link", root + "/pipe": "it is a named pipe",
		root + "/open": "others may write to it (mode 0720)", "/dev/null": "it is neither a file nor a directory",
	} {
		err := checkTrusted(vfs.OS{}, path)
		assert.ErrorIs(t, err, ErrUntrustedDir)
		assert.EqualError(t, err, path+": not a trusted directory: "+want)
	}
	assert.NoError(t, checkTrusted(vfs.OS{}, root))
}
