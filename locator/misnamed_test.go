package locator

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIsMisnamed(t *testing.T) {
	for _, name := range []string{
		"FSM.json", "Fsm.json", "fsm.JSON", "fsm.jsonc", "fsm.json5", "fsm.hjson", "fsm.jsonl", "fsm.yaml", "fsm.yml", "FSM.YAML", "fsm.toml",
		"fsm.json.txt", "fsm.json.json", "fsm (1).json", "fsm(2).json", "fsm 2.json", "fsm-1.json", "fsm_1.json", "fsm1.json",
		"fsm copy.json", "fsm copy 2.json", "fsm-copy.json", "Copy of fsm.json", ".fsm.json", "_fsm.json", "fsm.json ", " fsm.json",
	} {
		assert.NotEmpty(t, IsMisnamed(name), name)
	}
	for _, name := range []string{
		"fsm.json", "fsm", "fsm.js", "fsm.py", "fsm.go", "fsm.md", "fsm.txt", "fsm.json.bak", "fsm.json~", ".fsm.json.swp",
		"fsm.schema.json", "fsm-example.json", "tasks.json", "package.json", "form.json", "fsmtx.yaml", "state.yaml", "SKILL.md", "fs.json", "",
	} {
		assert.Empty(t, IsMisnamed(name), name)
	}
	assert.Contains(t, IsMisnamed("fsm.yml"), "has to be JSON")
	assert.Contains(t, IsMisnamed("fsm.jsonc"), "no comments")
	assert.Contains(t, IsMisnamed("FSM.json"), "in lower case")
}

// TestMisnamedIsNotUsed: the search names the file, reads one directory for it, and none
// where there is an fsm.json.
func TestMisnamedIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		path := filepath.Join(dir, ".claude/skills/release", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("[]"), 0o600))
	}
	write("SKILL.md")
	write("fsm.yaml")
	write("notes.txt")
	files := &readDirs{FS: OS{}}
	l := &Locator{FS: files, ProjectDir: dir, Invoked: true}

	r, err := l.Locate("release", dir)
	require.NoError(t, err)

	assert.False(t, r.Found())
	require.Len(t, r.Misnamed(), 1)
	assert.Equal(t, filepath.Join(dir, ".claude/skills/release/fsm.yaml"), r.Misnamed()[0].Path)
	assert.Equal(t, OutcomeFailed, r.Steps[len(r.Steps)-1].Outcome)
	assert.Equal(t, []string{filepath.Join(dir, ".claude/skills/release")}, files.read)
	all, complete := l.Misnamed(dir)
	assert.Equal(t, r.Misnamed(), all)
	assert.True(t, complete)

	write("fsm.json")
	files.read = nil
	r, err = l.Locate("release", dir)
	require.NoError(t, err)

	assert.True(t, r.Found())
	assert.Empty(t, r.Misnamed())
	assert.Empty(t, files.read)
	all, _ = l.Misnamed(dir)
	assert.Empty(t, all)
}

// readDirs records the directories that are read.
type readDirs struct {
	FS
	read []string
}

func (r *readDirs) ReadDir(path string) ([]fs.DirEntry, error) {
	r.read = append(r.read, path)
	return r.FS.ReadDir(path)
}

// TestMisnamedWhereCaseIsIgnored: FSM.json opens as fsm.json on such a file system, but not on
// another one.
func TestMisnamedWhereCaseIsIgnored(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "FSM.json"), nil, 0o600))
	files := ignoresCase{OS{}}

	_, err := files.Lstat(filepath.Join(dir, "fsm.json"))
	require.NoError(t, err)
	found := MisnamedIn(files, dir)

	require.Len(t, found, 1)
	assert.Equal(t, filepath.Join(dir, "FSM.json"), found[0].Path)
}

// ignoresCase is a file system in which FSM.json can be opened as fsm.json.
type ignoresCase struct{ FS }

func (f ignoresCase) Lstat(path string) (fs.FileInfo, error) {
	return f.FS.Lstat(strings.Replace(path, "fsm.json", "FSM.json", 1))
}
