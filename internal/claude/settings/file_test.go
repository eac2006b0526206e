package settings_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

// putIn installs the hooks in the file, takeOut takes them out again, both from
// the disk to the disk.
func putIn(t *testing.T, path string) {
	t.Helper()
	f, err := settings.Read(path)
	require.NoError(t, err)
	require.NoError(t, f.Replace(add(t, f.Data, ours)))
}

func takeOut(t *testing.T, path string) {
	t.Helper()
	f, err := settings.Read(path)
	require.NoError(t, err)
	require.NoError(t, f.Replace(remove(t, f.Data, ours)))
}

// tree returns every path below root with its mode and, of files and links, what
// they hold.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		line := path + " " + info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			line += " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			require.NoError(t, err)
			line += " -> " + link
		}
		all = append(all, line)
		return nil
	}))
	sort.Strings(all)
	return all
}

func write(t *testing.T, path, data string, mode fs.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	require.NoError(t, os.Chmod(path, mode))
}

func link(t *testing.T, to, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.Symlink(to, path))
}

func TestFileAndDirectoriesComeBackAsTheyWere(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, root string){
		"nothing":               func(*testing.T, string) {},
		"an empty directory":    func(t *testing.T, root string) { require.NoError(t, os.MkdirAll(root+"/a", 0o755)) },
		"the file's own, empty": func(t *testing.T, root string) { require.NoError(t, os.MkdirAll(root+"/a/.claude", 0o750)) },
		"another file":          func(t *testing.T, root string) { write(t, root+"/a/.claude/settings.json", "{}", 0o644) },
		"a file":                func(t *testing.T, root string) { write(t, root+"/a/.claude/s.json", `{"a": 1}`, 0o640) },
		"a file nobody may write": func(t *testing.T, root string) {
			write(t, root+"/a/.claude/s.json", `{"a": 1}`, 0o444)
		},
		"a link": func(t *testing.T, root string) {
			write(t, root+"/dotfiles/s.json", "{\n}", 0o600)
			link(t, root+"/dotfiles/s.json", root+"/a/.claude/s.json")
		},
		"a link to a link": func(t *testing.T, root string) {
			write(t, root+"/dotfiles/s.json", "{}", 0o664)
			link(t, "s.json", root+"/dotfiles/link.json")
			link(t, "../../dotfiles/link.json", root+"/a/.claude/s.json")
		},
		"a link to nothing": func(t *testing.T, root string) {
			link(t, "../../dotfiles/deep/s.json", root+"/a/.claude/s.json")
		},
		"a link to nothing, below a linked directory": func(t *testing.T, root string) {
			require.NoError(t, os.MkdirAll(root+"/b/c/.claude", 0o755))
			link(t, "../s.json", root+"/b/c/.claude/s.json")
			link(t, root+"/b/c/.claude", root+"/a/.claude")
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			before(t, root)
			was := tree(t, root)
			path := root + "/a/.claude/s.json"

			putIn(t, path)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, settings.Installed, state(t, data, ours))

			takeOut(t, path)
			assert.Equal(t, was, tree(t, root))
		})
	}
}

func TestModeAndLinkAreKept(t *testing.T) {
	root := t.TempDir()
	path, target := root+"/settings.json", root+"/dotfiles/s.json"
	write(t, target, "{}", 0o640)
	link(t, "dotfiles/s.json", path)
	putIn(t, path)

	to, err := os.Readlink(path)
	require.NoError(t, err)
	assert.Equal(t, "dotfiles/s.json", to)
	info, err := os.Lstat(target)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o640), info.Mode())
}

func TestDirectoryMadeIsKeptIfSomethingIsInIt(t *testing.T) {
	root := t.TempDir()
	path := root + "/a/.claude/s.json"
	putIn(t, path)
	write(t, root+"/a/mine", "", 0o600)
	takeOut(t, path)
	assert.NoDirExists(t, root+"/a/.claude")
	assert.FileExists(t, root+"/a/mine")
}

func TestNothingIsWrittenIfNothingChanges(t *testing.T) {
	path := t.TempDir() + "/s.json"
	write(t, path, `{"a": 1}`, 0o600)
	putIn(t, path)
	was, err := os.Stat(path)
	require.NoError(t, err)
	putIn(t, path)
	is, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(was, is), "not even replaced by its like")
}

func TestAChangeInBetweenIsNotOverwritten(t *testing.T) {
	path := t.TempDir() + "/.claude/s.json"
	absent, err := settings.Read(path)
	require.NoError(t, err)
	write(t, path, `{"a": 1}`, 0o600)
	assert.ErrorIs(t, absent.Replace([]byte("{}")), settings.ErrChanged)

	present, err := settings.Read(path)
	require.NoError(t, err)
	write(t, path, `{"a": 2}`, 0o600)
	assert.ErrorIs(t, present.Replace([]byte("{}")), settings.ErrChanged)
	assert.ErrorIs(t, present.Replace(nil), settings.ErrChanged)
	require.NoError(t, os.Remove(path))
	assert.ErrorIs(t, present.Replace([]byte("{}")), settings.ErrChanged)
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	root := t.TempDir()
	_, err := settings.Read(root)
	assert.ErrorIs(t, err, settings.ErrNotRegular)
	require.NoError(t, syscall.Mkfifo(root+"/fifo", 0o600))
	_, err = settings.Read(root + "/fifo")
	assert.ErrorIs(t, err, settings.ErrNotRegular)
	link(t, "loop", root+"/loop")
	_, err = settings.Read(root + "/loop")
	assert.ErrorContains(t, err, "too many symbolic links")
	write(t, root+"/empty", "", 0o600)
	f, err := settings.Read(root + "/empty")
	require.NoError(t, err)
	assert.NotNil(t, f.Data, "an empty file is a file")
}

func TestAFailedWriteLeavesNoDirectory(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(root+"/a", 0o755))
	// A name that is allowed, and so long that no temporary file can be named after
	// it.
	f, err := settings.Read(root + "/a/b/" + strings.Repeat("s", 250))
	require.NoError(t, err)
	assert.ErrorIs(t, f.Replace([]byte("{}")), syscall.ENAMETOOLONG)
	assert.NoDirExists(t, root+"/a/b")
	assert.DirExists(t, root+"/a")
}
