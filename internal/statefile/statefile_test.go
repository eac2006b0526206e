package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

const wait = time.Minute // more than sixty updates take on a busy machine

func plusOne(old []byte) ([]byte, error) {
	n, _ := strconv.Atoi(string(old))
	return strconv.AppendInt(nil, int64(n+1), 10), nil
}

func TestUpdateLosesNoChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	var all sync.WaitGroup
	for range 60 {
		all.Go(func() { assert.NoError(t, Update(path, wait, plusOne)) })
	}
	all.Wait()
	data, err := Read(path)
	require.NoError(t, err)
	assert.Equal(t, "60", string(data))
}

func TestUpdateReplacesTheFileAsAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	require.NoError(t, os.WriteFile(path, []byte("1"), 0o644))
	reader, err := os.Open(path)
	require.NoError(t, err)
	defer reader.Close()
	require.NoError(t, Update(path, wait, plusOne))
	old := make([]byte, 8)
	n, err := reader.Read(old)
	require.NoError(t, err)
	assert.Equal(t, "1", string(old[:n]), "a reader with the old file open reads the old content")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the file and its lock, no temporary file")
}

func TestUpdateChangesNothingForNilOrAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	require.NoError(t, Update(path, wait, func(old []byte) ([]byte, error) {
		assert.Nil(t, old, "a missing file is nil")
		return nil, nil
	}))
	assert.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	failed := errors.New("failed")
	assert.ErrorIs(t, Update(path, wait, func(old []byte) ([]byte, error) {
		assert.NotNil(t, old, "an empty file is not a missing one")
		return []byte("x"), failed
	}), failed)
	data, err := Read(path)
	require.NoError(t, err)
	assert.Empty(t, data)
}

func TestUpdateReturnsErrBusyWhileTheLockIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	unlock, err := Hold(path+LockSuffix, wait)
	require.NoError(t, err)
	assert.ErrorIs(t, Update(path, time.Millisecond, plusOne), safefile.ErrBusy)
	unlock()
	assert.NoError(t, Update(path, wait, plusOne), "it succeeds once the lock is free")
}

// planted returns functions that create something other than a regular file at a path.
func planted(t *testing.T) map[string]func(path string) {
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("keep"), 0o600))
	t.Cleanup(func() {
		data, err := os.ReadFile(victim)
		assert.NoError(t, err)
		assert.Equal(t, "keep", string(data))
	})
	return map[string]func(string){
		"symlink":          func(path string) { require.NoError(t, os.Symlink(victim, path)) },
		"dangling symlink": func(path string) { require.NoError(t, os.Symlink(victim+"2", path)) },
		"directory":        func(path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
		"pipe":             func(path string) { require.NoError(t, files.Mkfifo(path, 0o600)) },
	}
}

func TestFilesThatAreNotRegularAreRefused(t *testing.T) {
	for name, plant := range planted(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "n")
			plant(path)
			_, err := Read(path)
			assert.ErrorIs(t, err, safefile.ErrNotRegular)
			_, err = Tail(path, 10)
			assert.ErrorIs(t, err, safefile.ErrNotRegular)
			assert.ErrorIs(t, Update(path, wait, plusOne), safefile.ErrNotRegular)
			assert.ErrorIs(t, Append(path, []byte("x")), safefile.ErrNotRegular)
			_, err = Hold(path, wait)
			assert.ErrorIs(t, err, safefile.ErrNotRegular)
		})
		t.Run(name+" for a lock", func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "n")
			plant(path + LockSuffix)
			assert.ErrorIs(t, Update(path, wait, plusOne), safefile.ErrNotRegular)
			assert.NoFileExists(t, path)
		})
	}
}

func TestFileOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change the owner of a file")
	}
	path := filepath.Join(t.TempDir(), "n")
	require.NoError(t, os.WriteFile(path, []byte("1"), 0o644))
	require.NoError(t, os.Chown(path, 12345, 12345))
	_, err := Read(path)
	assert.ErrorIs(t, err, safefile.ErrNotOwn)
	assert.ErrorIs(t, Update(path, wait, plusOne), safefile.ErrNotOwn)
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, maxBytes+1))
	_, err := Read(path)
	assert.ErrorIs(t, err, safefile.ErrTooLarge)
	require.NoError(t, os.Truncate(path, maxBytes))
	_, err = Read(path)
	assert.NoError(t, err)
}

func TestAppendWritesWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	line := strings.Repeat("x", 5000) + "\n"
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { assert.NoError(t, Append(path, []byte(line))) })
	}
	all.Wait()
	data, err := Read(path)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat(line, 40), string(data))
}

func TestTailReturnsTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o600))
	for max, want := range map[int64]string{3: "789", 10: "0123456789", 100: "0123456789"} {
		data, err := Tail(path, max)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
}

func TestHoldExcludesOtherHolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	release, err := Hold(path, wait)
	require.NoError(t, err)
	_, err = Hold(path, time.Millisecond)
	assert.ErrorIs(t, err, safefile.ErrBusy)
	require.NoError(t, Append(path, []byte("x")), "the lock does not keep its holder from writing")
	release()
	for range 50 { // the one that gave up is still in the queue, and lets go at once
		release, err = Hold(path, wait)
		require.NoError(t, err)
		release()
	}
}

func TestRemoveKeepsTheLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	require.NoError(t, Update(path, wait, plusOne))
	require.NoError(t, Remove(path, wait))
	assert.NoFileExists(t, path)
	assert.FileExists(t, path+LockSuffix)
	assert.NoError(t, Remove(path, wait), "a missing file is not an error")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "below"), 0o700))
	assert.Error(t, Remove(path, wait), "what cannot be removed is one")
	info, err := os.Stat(path + LockSuffix)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestStore: what has a name is read and written, and synced where that is promised; other files are not seen.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	var synced []string
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if strings.Contains(s.String(), "sync") {
			synced = append(synced, s.String())
		}
		return nil
	}}
	for _, name := range []string{"log", "journal", "late-", ".hidden", "LOG", "log1"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	s := Stored(In(files, dir, "journal"), filepath.Join(dir, "tmp-"))
	for _, name := range []string{"journal", "late-", ".hidden", "LOG", "log1", "", "a/b"} {
		_, err := s.ReadState(name)
		require.ErrorIs(t, err, ErrName, name)
		require.ErrorIs(t, s.WriteState(name, nil), ErrName, name)
	}
	for name, write := range map[string]func(string) error{
		"written":  func(name string) error { return s.WriteState(name, []byte("text\n")) },
		"unlocked": func(name string) error { return s.WriteUnlocked(name, []byte("text\n")) },
		"appended": func(name string) error { return s.AppendState(name, []byte("text")) },
	} {
		synced = nil
		require.NoError(t, write(name))
		assert.Contains(t, synced, "sync "+filepath.Base(dir), "%s: its name", name)
		data, err := s.ReadState(name)
		require.NoError(t, err)
		assert.Equal(t, "text\n", string(data), name)
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), name)
	}
	require.ErrorIs(t, s.WriteState("log", make([]byte, vfs.MaxFileBytes+1)), vfs.ErrFileTooLarge)
	for prefix, want := range map[string][]string{"": {"appended", "log", "unlocked", "written"}, "l": {"log"}, "x": nil} {
		names, err := s.StateNames(prefix)
		require.NoError(t, err)
		assert.Equal(t, want, names, prefix)
	}
	s.Shut()
	_, err := s.StateNames("")
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = s.ReadState("log")
	require.ErrorIs(t, err, fs.ErrClosed)
}
