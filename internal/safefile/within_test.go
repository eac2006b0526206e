package safefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		dir, file, want string
		ok              bool
	}{
		{"/a/b", "/a/b/c/d", "c/d", true},
		{"/a/b", "/a/b", "", false},
		{"/a/b", "/a/bc", "", false},
		{"/a/b", "/a", "", false},
		{"/a/b", "/a/b/..c", "..c", true},
		{"/", "/a", "a", true},
	} {
		inner, ok := Within(c.dir, c.file)
		assert.Equal(t, c.want, inner)
		assert.Equal(t, c.ok, ok, c.file)
	}
}

func TestAbsolute(t *testing.T) {
	for _, c := range []struct{ path, base, want string }{
		{"/a", "/b", "/a"},
		{"a", "/b", "/b/a"},
		{"a", "/b//", "/b/a"},
		{"a", "/", "/a"},
		{"link/../a", "/b", "/b/link/../a"}, // not cleaned: link may lead elsewhere
		{"a", "b", ""},
		{"a", "", ""},
		{"", "/b", ""},
	} {
		assert.Equal(t, c.want, Absolute(c.path, c.base), c)
	}
}

func TestKindsOfFile(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(at("empty"), nil, 0o600))
	require.NoError(t, os.Mkdir(at("dir"), 0o700))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink("dir", at("dirlink")))
	for name, want := range map[string]struct{ dir, file, content bool }{
		"file": {false, true, true}, "empty": {false, true, false}, "dir": {true, false, false},
		"link": {false, true, true}, "dirlink": {true, false, false}, "missing": {},
	} {
		assert.Equal(t, want.dir, IsDir(at(name)), name)
		assert.Equal(t, want.file, IsFile(at(name)), name)
		assert.Equal(t, want.content, HasContent(at(name)), name)
	}
	t.Chdir(root)
	assert.False(t, IsFile(""))
	assert.False(t, HasContent(""))
}

func TestSame(t *testing.T) {
	root := t.TempDir()
	a, b, second, missing := root+"/a", root+"/b", root+"/second", root+"/missing"
	require.NoError(t, os.WriteFile(a, nil, 0o600))
	require.NoError(t, os.WriteFile(b, nil, 0o600))
	require.NoError(t, os.Link(a, second))
	assert.True(t, Same(missing, missing))
	assert.True(t, Same(a, second))
	assert.False(t, Same(a, b))
	assert.False(t, Same(missing, a))
	assert.False(t, Same(a, missing))
}
