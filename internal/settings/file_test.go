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

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// install adds the hooks to the file on disk.
func install(t *testing.T, path string) {
	t.Helper()
	f, err := settings.Read(path)
	require.NoError(t, err)
	require.NoError(t, f.Replace(add(t, f.Data, ours)))
}

// uninstall removes the hooks from the file on disk.
func uninstall(t *testing.T, path string) {
	t.Helper()
	f, err := settings.Read(path)
	require.NoError(t, err)
	require.NoError(t, f.Replace(remove(t, f.Data, ours)))
}

// tree returns every path below root with its mode, the content of files and the
// targets of links.
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

func TestUninstallRestoresFilesAndDirectories(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, root string){
		"an empty directory": func(t *testing.T, root string) { require.NoError(t, os.MkdirAll(root+"/a", 0o755)) },
		"another file":       func(t *testing.T, root string) { write(t, root+"/a/.claude/settings.json", "{}", 0o644) },
		"a file":             func(t *testing.T, root string) { write(t, root+"/a/.claude/s.json", "{\n  \"a\": 1\n}", 0o640) },
		"a read-only file": func(t *testing.T, root string) {
			write(t, root+"/a/.claude/s.json", "{\n  \"a\": 1\n}", 0o444)
		},
		"a link": func(t *testing.T, root string) {
			write(t, root+"/dotfiles/s.json", "{\n  \"a\": 1\n}", 0o600)
			link(t, root+"/dotfiles/s.json", root+"/a/.claude/s.json")
		},
		"a link to a link": func(t *testing.T, root string) {
			write(t, root+"/dotfiles/s.json", "{\n  \"a\": 1\n}", 0o664)
			link(t, "s.json", root+"/dotfiles/link.json")
			link(t, "../../dotfiles/link.json", root+"/a/.claude/s.json")
		},
		"a link to nothing": func(t *testing.T, root string) {
			require.NoError(t, os.MkdirAll(root+"/dotfiles/deep", 0o755))
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

			install(t, path)
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, settings.Installed, state(t, data, ours))

			uninstall(t, path)
			assert.Equal(t, was, tree(t, root))
		})
	}
}

func TestModeAndLinkAreKept(t *testing.T) {
	root := t.TempDir()
	path, target := root+"/settings.json", root+"/dotfiles/s.json"
	write(t, target, "{}", 0o640)
	link(t, "dotfiles/s.json", path)
	install(t, path)

	to, err := os.Readlink(path)
	require.NoError(t, err)
	assert.Equal(t, "dotfiles/s.json", to)
	info, err := os.Lstat(target)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o640), info.Mode())
}

// TestUninstallKeepsDirectories that are in use or not hidden, as the project's may be.
func TestUninstallKeepsDirectories(t *testing.T) {
	root := t.TempDir()
	install(t, root+"/project/.mcp.json")
	uninstall(t, root+"/project/.mcp.json")
	assert.DirExists(t, root+"/project")
	path := root + "/a/.claude/s.json"
	install(t, path)
	write(t, root+"/a/mine", "", 0o600)
	uninstall(t, path)
	assert.NoDirExists(t, root+"/a/.claude")
	assert.FileExists(t, root+"/a/mine")
}

func TestNothingIsWrittenIfNothingChanges(t *testing.T) {
	path := t.TempDir() + "/s.json"
	write(t, path, `{"a": 1}`, 0o600)
	install(t, path)
	was, err := os.Stat(path)
	require.NoError(t, err)
	install(t, path)
	is, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(was, is), "not even replaced by an equal file")
}

func TestReplaceRefusesAConcurrentChange(t *testing.T) {
	path := t.TempDir() + "/.claude/s.json"
	absent, err := settings.Read(path)
	require.NoError(t, err)
	write(t, path, `{"a": 1}`, 0o600)
	err = absent.Replace([]byte("{}"))
	assert.ErrorIs(t, err, safefile.ErrChanged)
	assert.NotContains(t, err.Error(), "changing ", "the file is named once")
	assert.Contains(t, err.Error(), path)

	present, err := settings.Read(path)
	require.NoError(t, err)
	write(t, path, `{"a": 2}`, 0o600)
	assert.ErrorIs(t, present.Replace([]byte("{}")), safefile.ErrChanged)
	assert.ErrorIs(t, present.Replace(nil), safefile.ErrChanged)
	require.NoError(t, os.Remove(path))
	assert.ErrorIs(t, present.Replace([]byte("{}")), safefile.ErrChanged)
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, syscall.Mkfifo(root+"/fifo", 0o600))
	link(t, "loop", root+"/loop")
	for _, path := range []string{root, root + "/fifo", root + "/loop"} {
		_, err := settings.Read(path)
		assert.ErrorIs(t, err, safefile.ErrNotRegular, path)
	}
	_, err := settings.Read(root + "/loop")
	assert.ErrorIs(t, err, syscall.ELOOP)

	write(t, root+"/huge", "", 0o600)
	require.NoError(t, os.Truncate(root+"/huge", 1<<30))
	_, err = settings.Read(root + "/huge")
	assert.ErrorIs(t, err, safefile.ErrTooLarge)
}

func TestAnEmptyFileIsNotAMissingFile(t *testing.T) {
	path := t.TempDir() + "/empty"
	absent, err := settings.Read(path)
	require.NoError(t, err)
	assert.Nil(t, absent.Data)

	write(t, path, "", 0o600)
	empty, err := settings.Read(path)
	require.NoError(t, err)
	assert.NotNil(t, empty.Data)
	assert.ErrorIs(t, absent.Replace([]byte("{}")), safefile.ErrChanged)
	require.NoError(t, empty.Replace(nil))
	assert.NoFileExists(t, path)
}

func TestCreatedFileHasMode0644LessTheUmask(t *testing.T) {
	path := t.TempDir() + "/s.json"
	install(t, path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	umask := syscall.Umask(0)
	syscall.Umask(umask)
	assert.Equal(t, fs.FileMode(0o644&^umask), info.Mode())
}

func TestAFailedWriteLeavesNoDirectory(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(root+"/a", 0o755))
	f, err := settings.Read(root + "/a/b/" + strings.Repeat("s", 256))
	require.NoError(t, err)
	assert.ErrorIs(t, f.Replace([]byte("{}")), syscall.ENAMETOOLONG)
	assert.NoDirExists(t, root+"/a/b")
	assert.DirExists(t, root+"/a")
}
