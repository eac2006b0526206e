package safefile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

func TestReadFileReadsOnlyRegularFilesWithinTheLimit(t *testing.T) {
	dir := t.TempDir()
	file, empty, link, fifo := dir+"/file", dir+"/empty", dir+"/link", dir+"/fifo"
	require.NoError(t, os.WriteFile(file, []byte("four"), 0o600))
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
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
