package client_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

func TestName(t *testing.T) {
	tests := []struct{ name, manifest, want, err string }{
		{"manifest", `{"name": "my-plugin"}`, "my-plugin", ""},
		{"no manifest", "", "folder", ""},
		{"manifest without a name", `{"version": "1"}`, "folder", `:1:1: "name" is missing`},
		{"torn manifest", `{"name": "my-pl`, "folder", ":1:16: unexpected end of file: the string that begins at 1:10 is not closed"},
		{"name of another type", `{"name": 1}`, "folder", `:1:1: "name" is missing`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			if test.manifest != "" {
				w.put("/dev/folder/.claude-plugin/plugin.json", test.manifest)
			}
			name, err := client.Name(w, "/dev/folder/")
			assert.Equal(t, test.want, name)
			if test.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "/dev/folder/.claude-plugin/plugin.json"+test.err)
			require.ErrorAs(t, err, new(*client.FileError))
		})
	}
}

func TestSkillFolders(t *testing.T) {
	w := newWorld(t)
	assert.Empty(t, client.SkillFolders(w, "/p"))
	w.put("/p/skills/b/SKILL.md", "")
	w.put("/p/skills/a/SKILL.md", "")
	w.put("/p/commands/c.md", "")
	assert.Equal(t, []string{"/p/skills/a", "/p/skills/b"}, client.SkillFolders(w, "/p"))
}

func TestOwnName(t *testing.T) {
	w := newWorld(t)
	w.put("/p/skills/a/SKILL.md", "---\nname: alias\n---\n")
	w.put("/p/skills/b/SKILL.md", "---\nname: \"alias\n---\n")
	w.put("/p/skills/c/SKILL.md", "no frontmatter")
	for folder, want := range map[string]struct {
		name string
		err  error
		text string
	}{
		"a": {"alias", nil, ""}, "b": {"", frontmatter.ErrSyntax, "/p/skills/b/SKILL.md: frontmatter is not valid YAML"}, "c": {},
		"absent": {"", fs.ErrNotExist, "/p/skills/absent/SKILL.md: file does not exist"},
	} {
		name, err := client.OwnName(w, "/p/skills/"+folder)
		assert.Equal(t, want.name, name, folder)
		require.ErrorIs(t, err, want.err)
		if want.err != nil {
			require.ErrorContains(t, err, want.text)
			require.ErrorAs(t, err, new(*client.FileError))
		}
	}
}

// failingReads returns files that cannot be read, and counts those that are open.
type failingReads struct {
	client.FS
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

func TestOwnNameOfAFileThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.put("/p/skills/a/SKILL.md", "---\nname: alias\n---\n")
	files := &failingReads{FS: w}
	name, err := client.OwnName(files, "/p/skills/a")
	assert.Empty(t, name)
	require.ErrorIs(t, err, errRead)
	require.EqualError(t, err, "/p/skills/a/SKILL.md: read failed")
	assert.Zero(t, files.open, "every file is closed")
}

func TestNestedPath(t *testing.T) {
	assert.Equal(t, "sub/dir/command", client.NestedPath("sub:dir:command"))
}
