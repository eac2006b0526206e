package plugins_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

func TestName(t *testing.T) {
	tests := []struct{ name, manifest, want, err string }{
		{"manifest", `{"name": "my-plugin"}`, "my-plugin", ""},
		{"no manifest", "", "folder", ""},
		{"manifest without a name", `{"version": "1"}`, "folder", ""},
		{"torn manifest", `{"name": "my-pl`, "folder", ":1:16: unexpected end of file: the string that begins at 1:10 is not closed"},
		{"name of another type", `{"name": 1}`, "folder", `:1:10: "name": got a number, want a string`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			if test.manifest != "" {
				w.put("/dev/folder/.claude-plugin/plugin.json", test.manifest)
			}
			name, err := plugins.Name(w, "/dev/folder/")
			assert.Equal(t, test.want, name)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "/dev/folder/.claude-plugin/plugin.json"+test.err)
			require.ErrorAs(t, err, new(*plugins.FileError))
		})
	}
}

func TestSkillFolders(t *testing.T) {
	w := newWorld(t)
	assert.Empty(t, plugins.SkillFolders(w, "/p"))
	w.put("/p/skills/b/SKILL.md", "")
	w.put("/p/skills/a/SKILL.md", "")
	w.put("/p/commands/c.md", "")
	assert.Equal(t, []string{"/p/skills/a", "/p/skills/b"}, plugins.SkillFolders(w, "/p"))
}

func TestHasName(t *testing.T) {
	w := newWorld(t)
	w.put("/p/skills/a/SKILL.md", "---\nname: alias\n---\n")
	for name, want := range map[string]bool{"alias": true, "a": false} {
		has, err := plugins.HasName(w, "/p/skills/a", name)
		require.NoError(t, err)
		assert.Equal(t, want, has, name)
	}

	w.put("/p/skills/b/SKILL.md", "---\nname: \"alias\n---\n")
	has, err := plugins.HasName(w, "/p/skills/b", "alias")
	assert.False(t, has)
	require.ErrorIs(t, err, frontmatter.ErrSyntax)
	require.ErrorAs(t, err, new(*plugins.FileError))
	assert.Contains(t, err.Error(), "/p/skills/b/SKILL.md: frontmatter is not valid YAML")

	has, err = plugins.HasName(w, "/p/skills/c", "alias")
	assert.False(t, has)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "/p/skills/c/SKILL.md: file does not exist")
}

func TestOwnName(t *testing.T) {
	w := newWorld(t)
	w.put("/p/skills/a/SKILL.md", "---\nname: alias\n---\n")
	w.put("/p/skills/b/SKILL.md", "---\nname: \"alias\n---\n")
	w.put("/p/skills/c/SKILL.md", "no frontmatter")
	w.put("/p/skills/d/SKILL.md", "---\nname: <alias>\n---\n") // a name that the client rejects
	for folder, want := range map[string]string{"a": "alias", "b": "", "c": "", "d": "", "absent": ""} {
		assert.Equal(t, want, plugins.OwnName(w, "/p/skills/"+folder), folder)
	}
}

// failingReads returns files that cannot be read, and counts those that are open.
type failingReads struct {
	plugins.FS
	open int
}

var errRead = errors.New("read failed")

func (fsys *failingReads) Open(path string) (fs.File, error) {
	f, err := fsys.FS.Open(path)
	fsys.open++
	return &failingFile{f, fsys}, err
}

type failingFile struct {
	fs.File
	fsys *failingReads
}

func (*failingFile) Read([]byte) (int, error) { return 0, errRead }

func (f *failingFile) Close() error {
	f.fsys.open--
	return f.File.Close()
}

func TestHasNameOfAFileThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.put("/p/skills/a/SKILL.md", "---\nname: alias\n---\n")
	files := &failingReads{FS: w}
	has, err := plugins.HasName(files, "/p/skills/a", "alias")
	assert.False(t, has)
	require.ErrorIs(t, err, errRead)
	require.EqualError(t, err, "/p/skills/a/SKILL.md: read failed")
	assert.Zero(t, files.open, "every file is closed")
}

func TestNestedPath(t *testing.T) {
	assert.Equal(t, "sub/dir/command", plugins.NestedPath("sub:dir:command"))
}
