package settings_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// install adds the hooks to the file on disk.
func install(t *testing.T, path string) {
	t.Helper()
	f := must(settings.Read(path))
	require.NoError(t, f.Replace(add(t, f.Data, ours)))
}

// uninstall removes the hooks from the file on disk.
func uninstall(t *testing.T, path string) {
	t.Helper()
	f := must(settings.Read(path))
	require.NoError(t, f.Replace(remove(t, f.Data, ours)))
}

// tree returns every path below root with its mode, the content of files and the targets of links.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		link, _ := os.Readlink(path)
		data, _ := os.ReadFile(path)
		all = append(all, fmt.Sprint(path, " ", must(d.Info()).Mode(), " ", link, " ", string(data)))
		return nil
	}))
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

// TestUninstallRestoresFilesAndDirectories: a row has directories, files with their mode, and links.
func TestUninstallRestoresFilesAndDirectories(t *testing.T) {
	for name, entries := range map[string][]string{
		"an empty directory": {"a"},
		"another file":       {"a/.claude/settings.json 644"},
		"a file":             {"a/.claude/s.json 640"},
		"a read-only file":   {"a/.claude/s.json 444"},
		"a link":             {"dotfiles/s.json 600", "a/.claude/s.json -> ROOT/dotfiles/s.json"},
		"a link to a link":   {"dotfiles/s.json 664", "dotfiles/link.json -> s.json", "a/.claude/s.json -> ../../dotfiles/link.json"},
		"a link to nothing":  {"dotfiles/deep", "a/.claude/s.json -> ../../dotfiles/deep/s.json"},
		"a link to nothing, below a linked directory": {"b/c/.claude", "b/c/.claude/s.json -> ../s.json", "a/.claude -> ROOT/b/c/.claude"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, entry := range entries {
				if path, target, ok := strings.Cut(entry, " -> "); ok {
					link(t, strings.ReplaceAll(target, "ROOT", root), root+"/"+path)
				} else if path, mode, ok := strings.Cut(entry, " "); ok {
					write(t, root+"/"+path, "{\n  \"a\": 1\n}", fs.FileMode(must(strconv.ParseUint(mode, 8, 32))))
				} else {
					require.NoError(t, os.MkdirAll(root+"/"+path, 0o755))
				}
			}
			was := tree(t, root)
			path := root + "/a/.claude/s.json"

			install(t, path)
			assert.Equal(t, settings.Installed, state(t, must(os.ReadFile(path)), ours))
			install(t, path) // writes nothing

			uninstall(t, path)
			assert.Equal(t, was, tree(t, root))
		})
	}
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
	require.NoError(t, os.Mkdir(root+"/a/.claude", 0o700))
	uninstall(t, path)
	assert.DirExists(t, root+"/a/.claude", "it held nothing of ours")
}

// What a change refuses otherwise, package safefile tests.
func TestReplaceRefusesAConcurrentChange(t *testing.T) {
	path := t.TempDir() + "/.claude/s.json"
	absent := must(settings.Read(path))
	assert.Nil(t, absent.Data)
	write(t, path, `{"a": 1}`, 0o600)
	err := absent.Replace([]byte("{}"))
	assert.ErrorIs(t, err, safefile.ErrChanged)
	assert.NotContains(t, err.Error(), "changing ", "the file is named once")
	assert.Contains(t, err.Error(), path)
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, files.Mkfifo(root+"/fifo", 0o600))
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

func TestCreatedFileHasMode0644LessTheUmask(t *testing.T) {
	path := t.TempDir() + "/s.json"
	install(t, path)
	info := must(os.Stat(path))
	umask := files.Umask(0)
	files.Umask(umask)
	assert.Equal(t, fs.FileMode(0o644&^umask), info.Mode())
}
