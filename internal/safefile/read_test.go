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

func TestReadFileReadsOnlyRegularFilesWithinTheLimit(t *testing.T) {
	dir := t.TempDir()
	file, empty, link, fifo := dir+"/file", dir+"/empty", dir+"/link", dir+"/fifo"
	require.NoError(t, os.WriteFile(file, []byte("four"), 0o600))
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, files.Mkfifo(fifo, 0o600))
	for name, c := range map[string]struct {
		path string
		max  int64
		flag int
		want error
	}{
		"at the limit":               {file, 4, 0, nil},
		"over the limit":             {file, 3, 0, safefile.ErrTooLarge},
		"empty":                      {empty, 0, 0, nil},
		"link":                       {link, 4, 0, nil},
		"link not followed":          {link, 4, safefile.NoFollow, safefile.ErrNotRegular},
		"fifo":                       {fifo, 4, 0, safefile.ErrNotRegular},
		"fifo, links not followed":   {fifo, 4, safefile.NoFollow, safefile.ErrNotRegular},
		"directory":                  {dir, 4, 0, safefile.ErrNotRegular},
		"absent":                     {dir + "/absent", 4, 0, os.ErrNotExist},
		"absent, links not followed": {dir + "/absent", 4, safefile.NoFollow, os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := safefile.ReadFile(c.path, c.max, c.flag)
			require.ErrorIs(t, err, c.want)
			if c.want == nil {
				require.NotNil(t, data)
			}
		})
	}
	_, err := safefile.Open(fifo, os.O_WRONLY)
	require.ErrorIs(t, err, safefile.ErrNotRegular, "a FIFO without a reader, opened for writing")
	_, err = safefile.Open(dir, os.O_WRONLY)
	require.ErrorIs(t, err, safefile.ErrNotRegular, "a directory opened for writing")
}

func TestCheckOwner(t *testing.T) {
	mine := t.TempDir()
	info, err := os.Lstat(mine)
	require.NoError(t, err)
	require.NoError(t, safefile.CheckOwner(mine, info))
	if os.Geteuid() != 0 {
		t.Skip("only root can change the owner of a file")
	}
	require.NoError(t, os.Chown(mine, 12345, -1))
	info, err = os.Lstat(mine)
	require.NoError(t, err)
	for _, check := range []func(string, os.FileInfo) error{safefile.CheckOwner, safefile.CheckSole} {
		require.ErrorIs(t, check(mine, info), safefile.ErrNotOwn)
		require.ErrorContains(t, check(mine, info), "open "+mine+": not only this user's: it belongs to user 12345")
	}
}

// TestCheckSole: a file with a second name is a file elsewhere, too.
func TestCheckSole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	sole := func() error {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		return safefile.CheckSole(path, info)
	}
	require.NoError(t, sole())
	require.NoError(t, os.Link(path, path+"2"))
	require.ErrorIs(t, sole(), safefile.ErrNotOwn)
	require.ErrorContains(t, sole(), path+": not only this user's: it has 2 hard links")
}

func TestResolveFollowsAsTheKernelDoes(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(root+"/real/deep", 0o700))
	for link, target := range map[string]string{
		"rel": "real/deep", "abs": root + "/real", "dangling": "real/none", "up": "real/deep/..", "loop": "loop",
	} {
		require.NoError(t, os.Symlink(target, root+"/"+link))
	}
	for path, want := range map[string]string{
		"/rel/x":        "/real/deep/x",
		"/rel/../y":     "/real/y", // ".." of the link's target, not of the link
		"/abs/deep":     "/real/deep",
		"/dangling/a":   "/real/none/a",
		"/up":           "/real",
		"/none/./a//b/": "/none/a/b",
	} {
		require.Equal(t, root+want, safefile.Resolve(root+path), path)
	}
	require.True(t, strings.HasPrefix(safefile.Resolve(root+"/loop"), root), "a loop ends")
	require.Equal(t, "/", safefile.Resolve("/../.."))
}

// TestKernelText: what the kernel makes has no size, and one read of it is enough.
func TestKernelText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 2000)), 0o600))
	text, err := safefile.KernelText(path)
	require.NoError(t, err)
	require.Len(t, text, 1024)
	_, err = safefile.KernelText(path + "-none")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = safefile.KernelText(filepath.Dir(path))
	require.ErrorIs(t, err, syscall.EISDIR)
}

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
	require.NoError(t, files.Mkfifo(dir+"/fifo", 0o600))
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
	require.NoError(t, files.Mkfifo(dir+"/fifo", 0o600))
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
