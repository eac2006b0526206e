package locator

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIsMisnamed(t *testing.T) {
	for _, name := range []string{
		"FSM.json", "Fsm.json", "fsm.JSON", "fsm.jsonc", "fsm.json5", "fsm.hjson", "fsm.jsonl", "fsm.yaml", "fsm.yml", "FSM.YAML", "fsm.toml",
		"fsm.json.txt", "fsm.json.json", "fsm.jsn", "fsm.jso", "fsm (1).json", "fsm(2).json", "fsm 2.json", "fsm-1.json",
		"fsm_1.json", "fsm1.json",
		"fsm copy.json", "fsm copy 2.json", "fsm-copy.json", "Copy of fsm.json", "fsm.json (1)", ".fsm.json", "_fsm.json", "fms.json",
		"fsm.josn", "sfm.json",
		"fsm.json ", " fsm.json",
	} {
		assert.NotEmpty(t, IsMisnamed(name), name)
	}
	for _, name := range []string{
		"fsm.json", "fsm", "fsm.js", "fsm.py", "fsm.go", "fsm.md", "fsm.txt", "fsm.json.bak", "fsm.json~", "fsm.json.orig", ".fsm.json.swp",
		"fsm.schema.json", "fsm-example.json",
		"fsm.disabled.json", "tasks.json", "package.json", "form.json", "fsmtx.yaml", "state.yaml", "workflow.yml", "SKILL.md", "fs.json",
		"sm.json", "",
	} {
		assert.Empty(t, IsMisnamed(name), name)
	}
	assert.Contains(t, IsMisnamed("fsm.yml"), "has to be JSON")
	assert.Contains(t, IsMisnamed("fsm.jsonc"), "no comments")
	assert.Contains(t, IsMisnamed("FSM.json"), "in lower case")
}

func TestIsCopy(t *testing.T) {
	for _, name := range []string{"fsm.json.bak", "fsm.json~", "fsm.json.orig", ".fsm.json.swp", "#fsm.json#", ".#fsm.json", "fsm.json.1",
		"FSM.JSON.OLD",
		"fsm-old.json", "fsm.bak.json", "fsm_v2.json", "fsm.disabled.json", "sample.fsm.json", "fsm.json.example"} {
		assert.NotEmpty(t, IsCopy(name), name)
	}
	for _, name := range []string{"fsm.json", "FSM.json", "fsm.yaml", "fsm (1).json", "fsm.schema.json", "fsm.py", "fsmtx.json",
		"workflow.json", ""} {
		assert.Empty(t, IsCopy(name), name)
	}
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

// TestMisplacedBesideAMisspeltSkill: in memory, because skill.md is SKILL.md where case is ignored.
func TestMisplacedBesideAMisspeltSkill(t *testing.T) {
	link := &fstest.MapFile{Data: []byte("folder"), Mode: fs.ModeSymlink | 0o777}
	files := inMemory{fstest.MapFS{
		"p/.claude/skills/lower/skill.md":          {},
		"p/.claude/skills/testing/Skill.md":        {},
		"p/.claude/skills/y/SKILL.md":              {},
		"p/.claude/skills/y/templates/skill.md":    {},
		"p/.claude/skills/y/parts/skill.md":        {},
		"p/.claude/skills/linked/skill":            link,
		"p/.claude/skills/linked/folder/notes.txt": {},
	}}
	for dir, want := range map[string]string{
		"lower": "its skill.md has to have the name SKILL.md", "testing": "its Skill.md has to have the name SKILL.md",
		"y": "", "y/templates": "", "y/parts": "its skill.md has to have the name SKILL.md", "linked": "",
	} {
		why := MisplacedAt(files, filepath.Join("p/.claude/skills", dir, "fsm.json"))
		assert.Equal(t, want == "", why == "", "%s: %s", dir, why)
		assert.Contains(t, why, want, dir)
	}
}

// TestWhatTheClientDoesNotSee: folders of folders, files in skills/ and commands of the project are no skills to the client.
func TestWhatTheClientDoesNotSee(t *testing.T) {
	for at, c := range map[string]struct{ beside, want string }{
		".claude/skills/category/x":    {".claude/skills/category/x/SKILL.md", "its folder has to be directly in skills, and not in category"},
		".claude/skills":               {".claude/skills/SKILL.md", "its SKILL.md has to be in a folder of its own in skills"},
		".claude/skills/x":             {".claude/skills/x.md", "its x.md has to be the file SKILL.md in the folder x"},
		".claude/commands/x":           {".claude/commands/x.md", "x.md is a command, and only a skill has a workflow: "},
		".claude/skills/y":             {".claude/skills/y/SKILL.md", ""},
		".claude/skills/y/templates":   {".claude/skills/y/templates/SKILL.md", ""},
		".claude/skills/plug/more":     {".claude/skills/plug/more/SKILL.md", ""},
		".claude/skills/plug/skills/x": {".claude/skills/plug/skills/x/SKILL.md", ""},
		".claude/commands/z":           {".claude/commands/z/SKILL.md", ""},
		".agents/skills/category/x":    {".agents/skills/category/x/SKILL.md", ""},
		"skills/category/x":            {"skills/category/x/SKILL.md", ""},
		"commands/x":                   {"commands/x.md", ""},
	} {
		files := inMemory{fstest.MapFS{"p/" + at + "/fsm.json": {}, "p/" + c.beside: {}, "p/.claude/skills/plug/.claude-plugin/plugin.json": {}}}
		path := filepath.Join("p", at, "fsm.json")
		why := MisplacedAt(files, path)
		assert.Equal(t, c.want == "", why == "", "%s: %s", at, why)
		assert.Contains(t, why, c.want, at)

		dir := t.TempDir()
		for name := range files.MapFS {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600))
		}
		all, _ := (&Locator{FS: OS{}, ProjectDir: filepath.Join(dir, "p")}).Misnamed(filepath.Join(dir, "p"))
		assert.Equal(t, c.want != "", len(all) == 1, "%s: %v", at, all)
	}
}

// TestPutAsideOnPurpose: what is in the folder of a skill or in one for what is put aside, and what a link makes a skill, is
// not reported.
func TestPutAsideOnPurpose(t *testing.T) {
	dir := t.TempDir()
	skills := filepath.Join(dir, ".claude", "skills")
	for _, name := range []string{"creator", "creator/skeleton", "_templates/x", ".disabled/x", "archive/x", "Examples/x", "testing/linked"} {
		require.NoError(t, os.MkdirAll(filepath.Join(skills, name), 0o700))
		for _, file := range []string{"SKILL.md", "fsm.json"} {
			require.NoError(t, os.WriteFile(filepath.Join(skills, name, file), []byte("[]"), 0o600))
		}
	}
	link := filepath.Join(skills, "linked")
	require.NoError(t, os.Symlink("testing/linked", link))
	l := &Locator{FS: OS{}, ProjectDir: dir}
	all, _ := l.Misnamed(dir)
	assert.Empty(t, all)
	require.NoError(t, os.Remove(link))
	all, _ = l.Misnamed(dir)
	require.Len(t, all, 1)
	assert.Equal(t, filepath.Join(skills, "testing/linked/fsm.json"), all[0].Path)
}

type inMemory struct{ fstest.MapFS }

func (m inMemory) Readlink(path string) (string, error) { return m.ReadLink(path) }

// TestSkillsWhereTheClientDoesNotLook: a skill in .claude/skill is named, and to whoever asks for it one in
// skills/ of a project, which may be a repository of skills. Neither is if it belongs to a plugin or an
// extension, or if the client knows the name from elsewhere.
func TestSkillsWhereTheClientDoesNotLook(t *testing.T) {
	dir := t.TempDir()
	write := func(parts ...string) {
		path := filepath.Join(append([]string{dir}, parts...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("[]"), 0o600))
	}
	write("skills", "ship", "SKILL.md")
	write("skills", "ship", "fsm.json")
	write("skills", "notes", "SKILL.md")
	write("skills", "data", "fsm.json")
	l := &Locator{FS: OS{}, ProjectDir: dir}
	path := filepath.Join(dir, "skills", "ship", "fsm.json")

	all, _ := l.Misnamed(dir)
	require.Empty(t, all)
	r, err := l.Locate("ship", dir)
	require.NoError(t, err)
	last := r.Steps[len(r.Steps)-1]
	require.Equal(t, []any{RuleProject, path, OutcomeFailed}, []any{last.Rule, last.Path, last.Outcome})
	write(".claude", "skill", "plan", "SKILL.md")
	write(".claude", "skill", "plan", "fsm.json")
	all, _ = l.Misnamed(dir)
	require.Len(t, all, 1)
	require.Equal(t, filepath.Join(dir, ".claude", "skill", "plan", "fsm.json"), all[0].Path)

	write("gemini-extension.json")
	all, _ = l.Misnamed(dir)
	require.Empty(t, all)
	require.NoError(t, os.Remove(filepath.Join(dir, "gemini-extension.json")))
	write(".claude", "skills", "plan", "SKILL.md")
	all, _ = l.Misnamed(dir)
	require.Empty(t, all)
}
