package locator_test

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/locator"
)

// onDisk returns a locator on the real file system and a directory for the test.
func onDisk(t *testing.T) (dir string, l *locator.Locator) {
	dir = must(filepath.EvalSymlinks(t.TempDir()))
	return dir, &locator.Locator{FS: locator.OS{}, ConfigDir: filepath.Join(dir, "config")}
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// unusable are the kinds of files that cannot be read as an fsm.json: a directory, a FIFO, or a link to something.
var unusable = map[string]struct {
	target string
	err    error
	text   string
}{
	"directory":      {"", locator.ErrNotRegular, "not a regular file but a directory"},
	"FIFO":           {"FIFO", locator.ErrNotRegular, "not a regular file but a FIFO"},
	"link to a FIFO": {"FILE.fifo", locator.ErrNotRegular, "not a regular file but a FIFO"},
	"device":         {"/dev/null", locator.ErrNotRegular, "not a regular file but a device"},
	"dangling link":  {"gone", locator.ErrDangling, "dangling symbolic link"},
	"circular link":  {"FILE", syscall.ELOOP, "symbolic links"},
}

// makeUnusable makes such a file.
func makeUnusable(t *testing.T, path, target string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, files.Mkfifo(path+".fifo", 0o644))
	switch target {
	case "":
		require.NoError(t, os.Mkdir(path, 0o755))
	case "FIFO":
		require.NoError(t, os.Rename(path+".fifo", path))
	default:
		require.NoError(t, os.Symlink(strings.Replace(target, "FILE", filepath.Base(path), 1), path))
	}
}

func TestUnusableSpecIsFoundAndRefused(t *testing.T) {
	for name, test := range unusable {
		t.Run(name, func(t *testing.T) {
			dir, l := onDisk(t)
			path := filepath.Join(dir, ".claude", "skills", "s", "fsm.json")
			makeUnusable(t, path, test.target)
			write(t, filepath.Join(l.ConfigDir, "skills", "s", "fsm.json"), spec)

			assert.Equal(t, path, must(l.Locate("s", dir)).Path)

			_, err := locator.ReadSpec(l.FS, path, 100)
			require.ErrorIs(t, err, test.err)
			assert.Contains(t, err.Error(), test.text)
			assert.True(t, strings.HasPrefix(err.Error(), path+": "), err.Error())
		})
	}
}

func TestUnusableRegistryIsAnErrorAndDoesNotBlock(t *testing.T) {
	for name, test := range unusable {
		t.Run(name, func(t *testing.T) {
			dir, l := onDisk(t)
			plugins := filepath.Join(l.ConfigDir, "plugins")
			makeUnusable(t, filepath.Join(plugins, "installed_plugins.json"), test.target)

			_, err := l.Locate("p:s", dir)
			require.ErrorAs(t, err, new(*locator.RegistryError))
			require.ErrorIs(t, err, test.err)
			assert.Contains(t, err.Error(), "Skill 'p:s' not found - installed_plugins.json is missing or malformed: "+plugins+
				"/installed_plugins.json: ")
			_, err = l.Locate("s", dir)
			assert.NoError(t, err)
		})
	}
}

func TestFIFOsInPlaceOfOtherFilesDoNotBlock(t *testing.T) {
	dir, l := onDisk(t)
	plugin := filepath.Join(dir, "plugin")
	write(t, filepath.Join(l.ConfigDir, "plugins", "installed_plugins.json"), objectOf(entry{"p@m", "user", "", plugin, ""}))
	for _, path := range []string{
		filepath.Join(l.ConfigDir, "plugins", "known_marketplaces.json"),
		filepath.Join(l.ConfigDir, "settings.json"),
		filepath.Join(dir, ".claude", "settings.json"),
		filepath.Join(plugin, ".claude-plugin", "plugin.json"),
		filepath.Join(plugin, "skills", "folder", "SKILL.md"),
		filepath.Join(dir, "dev", "skills"),
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, files.Mkfifo(path, 0o644))
	}
	l.PluginDirs = []string{plugin, filepath.Join(dir, "dev")}
	for _, command := range []string{"p:s", "dev:s", "alias"} {
		assert.False(t, must(l.Locate(command, dir)).Found())
	}
}

func TestReadSpec(t *testing.T) {
	dir, l := onDisk(t)
	path := write(t, filepath.Join(dir, "fsm.json"), "12345")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("fsm.json", link))
	for _, max := range []int64{5, 6, math.MaxInt64} {
		for _, p := range []string{path, link} {
			assert.Equal(t, "12345", string(must(locator.ReadSpec(l.FS, p, max))))
		}
	}
	_, err := locator.ReadSpec(l.FS, path, 4)
	require.ErrorIs(t, err, locator.ErrTooLarge)
	assert.Equal(t, path+": file too large: more than 4 bytes", err.Error())

	_, err = locator.ReadSpec(l.FS, filepath.Join(dir, "gone"), 4)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = locator.ReadSpec(l.FS, filepath.Join(path, "below"), 4)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	assert.Equal(t, filepath.Join(path, "below")+": not a directory", err.Error())
}

// forbidden denies access to a path and everything below it, as a directory without
// search permission does.
type forbidden struct {
	locator.FS
	path string
}

func (f forbidden) refuse(path string) error {
	if strings.HasPrefix(path, f.path) {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	}
	return nil
}

func (f forbidden) Open(path string) (fs.File, error) {
	if err := f.refuse(path); err != nil {
		return nil, err
	}
	return f.FS.Open(path)
}

func (f forbidden) Lstat(path string) (fs.FileInfo, error) {
	if err := f.refuse(path); err != nil {
		return nil, err
	}
	return f.FS.Lstat(path)
}

func TestUnreadableSpecIsFoundAndRefused(t *testing.T) {
	for _, path := range []string{project + "/.claude/skills/s/fsm.json", project + "/.claude"} {
		w := newWorld(t)
		found := w.skill(project + "/.claude/skills/s")
		w.skill(config + "/skills/s")
		w.FS = forbidden{w.FS, path}
		result := w.finds(found, "s", project)
		assert.Contains(t, explain(result), "permission denied")
		_, err := locator.ReadSpec(w.FS, found, 100)
		require.ErrorIs(t, err, fs.ErrPermission)
	}
}

func TestImpossibleFileNamesAreAbsent(t *testing.T) {
	dir, l := onDisk(t)
	write(t, filepath.Join(dir, ".claude", "skills", "file"), "")
	for _, name := range []string{strings.Repeat("x", 300), "file"} {
		result := must(l.Locate(name, dir))
		assert.False(t, result.Found(), explain(result))
	}
	assert.False(t, must(l.Locate("s", "/with\x00nul")).Found())
}

// recording records the paths that are opened.
type recording struct {
	locator.FS
	opened *[]string
}

func (r recording) Open(path string) (fs.File, error) {
	*r.opened = append(*r.opened, path)
	return r.FS.Open(path)
}

func (r recording) ReadDir(path string) ([]fs.DirEntry, error) {
	*r.opened = append(*r.opened, path)
	return r.FS.ReadDir(path)
}

func TestNothingIsReadBeforeItIsNeeded(t *testing.T) {
	w := newWorld(t)
	w.Invoked = true
	w.PluginDirs = []string{"/dev/p"}
	w.put("/dev/p/.claude-plugin/plugin.json", `{"name": "d"}`)
	w.put("/dev/p/skills/x/SKILL.md", "---\nname: y\n---\n")
	w.put("/p/skills/other/SKILL.md", "---\nname: y\n---\n")
	w.put(config+"/settings.json", `{}`)
	w.put(known, `{}`)
	w.put(registry, objectOf(entry{"p@m", "user", "", "/p", ""}, entry{"q@m", "local", "/elsewhere", "/q", ""}))
	w.skill(config + "/skills/s")
	w.skill("/p/skills/s")
	settings := config + "/settings.json"
	w.put(config+"/skills/mine/SKILL.md", "")
	w.put("/p/skills/theirs/SKILL.md", "")
	folders := []string{config + "/skills", project + "/.claude/skills", "/projects/.claude/skills", "/.claude/skills"}
	plugin := []string{"/dev/p/.claude-plugin/plugin.json", settings, registry, known}
	tests := map[string][]string{
		"mine":     nil,
		"p:theirs": append(slices.Clone(plugin), "/p/commands", "/p/skills"),
		"q:s":      append(slices.Clone(plugin), folders...),
		"y": append(append(append([]string{}, folders...), plugin...), "/dev/p/commands", "/dev/p/skills", "/p/commands", "/p/skills",
			project),
	}
	files := w.FS
	for command, want := range tests {
		var opened []string
		w.FS = recording{files, &opened}
		w.locate(command, project)
		if command == "q:s" {
			opened = slices.DeleteFunc(opened, func(path string) bool { return strings.HasSuffix(path, "SKILL.md") })
		}
		assert.Equal(t, want, opened, command)
	}
}
