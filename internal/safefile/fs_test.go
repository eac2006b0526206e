package safefile_test

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// system is the operating system's file system. It records the paths that are opened.
type system struct{ opened []string }

func (*system) Stat(path string) (fs.FileInfo, error)      { return os.Stat(path) }
func (*system) Lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (*system) Readlink(path string) (string, error)       { return os.Readlink(path) }
func (*system) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

func (s *system) Open(path string) (fs.File, error) {
	s.opened = append(s.opened, path)
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func TestReadFileIn(t *testing.T) {
	dir := t.TempDir()
	file, link := dir+"/file", dir+"/link"
	require.NoError(t, os.WriteFile(file, []byte("12345"), 0o600))
	require.NoError(t, os.Symlink("file", link))
	for _, max := range []int64{5, 6, math.MaxInt64} {
		for _, path := range []string{file, link} {
			data, err := safefile.ReadFileIn(&system{}, path, max)
			require.NoError(t, err)
			require.Equal(t, "12345", string(data))
		}
	}
	data, err := safefile.ReadFileIn(&system{}, file, 4)
	require.ErrorIs(t, err, safefile.ErrTooLarge)
	require.Contains(t, err.Error(), "more than 4 bytes")
	require.Nil(t, data)
	_, err = safefile.ReadFileIn(&system{}, dir+"/absent", 4)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, safefile.ErrDangling)
	_, err = safefile.ReadFileIn(&system{}, file+"/below", 4)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestOpenInRefusesBeforeOpening(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(dir+"/fifo", 0o600))
	require.NoError(t, os.Symlink("gone", dir+"/dangling"))
	require.NoError(t, os.Symlink("loop", dir+"/loop"))
	closeSocket, err := files.Socket(dir + "/socket")
	require.NoError(t, err)
	t.Cleanup(func() { _ = closeSocket() })

	for path, want := range map[string]struct {
		err  error
		text string
	}{
		dir:               {safefile.ErrNotRegular, "not a regular file but a directory"},
		dir + "/fifo":     {safefile.ErrNotRegular, "not a regular file but a FIFO"},
		dir + "/socket":   {safefile.ErrNotRegular, "not a regular file but a socket"},
		"/dev/null":       {safefile.ErrNotRegular, "not a regular file but a device"},
		dir + "/dangling": {safefile.ErrDangling, "dangling symbolic link"},
		dir + "/loop":     {syscall.ELOOP, "symbolic links"},
	} {
		fsys := &system{}
		_, err := safefile.OpenIn(fsys, path)
		require.ErrorIs(t, err, want.err, path)
		require.ErrorAs(t, err, new(*fs.PathError))
		require.Contains(t, err.Error(), path+": ")
		require.Contains(t, err.Error(), want.text)
		require.Empty(t, fsys.opened)
	}
}

// replaced is a file system on which every path is replaced between Stat and Open: Stat
// describes the regular file beside it.
type replaced struct{ system }

func (*replaced) Stat(path string) (fs.FileInfo, error) {
	return os.Stat(filepath.Join(filepath.Dir(path), "file"))
}

func TestOpenInChecksWhatItOpened(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/file", nil, 0o600))
	require.NoError(t, syscall.Mkfifo(dir+"/fifo", 0o600))
	fsys := &replaced{}
	_, err := safefile.OpenIn(fsys, dir+"/fifo")
	require.ErrorIs(t, err, safefile.ErrNotRegular)
	require.Len(t, fsys.opened, 1)
	_, err = safefile.OpenIn(fsys, dir+"/gone")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// vanished is a file system on which every path is created between Stat and Lstat.
type vanished struct{ system }

func (*vanished) Stat(path string) (fs.FileInfo, error) {
	return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
}

func TestOnlyALinkDangles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/file", nil, 0o600))
	_, err := safefile.OpenIn(&vanished{}, dir+"/file")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, safefile.ErrDangling)
}

func TestOpenNamesTheTypeOfAFileThatIsNotRegular(t *testing.T) {
	dir := t.TempDir()
	_, err := safefile.Open(dir, os.O_RDONLY)
	require.EqualError(t, err, "open "+dir+": not a regular file but a directory")
	require.NoError(t, syscall.Mkfifo(dir+"/fifo", 0o600))
	_, err = safefile.Open(dir+"/fifo", os.O_RDONLY)
	require.True(t, strings.HasSuffix(err.Error(), "not a regular file but a FIFO"), err)
}
