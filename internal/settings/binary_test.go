package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/settings"
)

func TestIsTemporaryRecognisesGoRun(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4)
	for path, want := range map[string]bool{
		"/var/build/go-build1007192772/b001/exe/fsmtx":              true,
		"/home/me/.cache/go-build/e6/" + hash + "-d/fsmtx":          true,
		"/Users/me/Library/Caches/go-build/01/" + hash + "-d/fsmtx": true,
		"/home/me/own-cache/e6/" + hash + "-d/fsmtx":                true,
		"/home/me/go/bin/fsmtx":                                     false,
		"/home/me/go-build/bin/fsmtx":                               false,
		"/home/me/go-build/exe/fsmtx":                               false,
		"/nix/store/" + hash + "-fsmtx/bin/fsmtx":                   false,
		"/usr/local/bin/fsmtx":                                      false,
	} {
		assert.Equal(t, want, settings.IsTemporary(path), path)
	}
}

func TestBinaryReturnsThePathThatWasCalled(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "fsmtx")))
	t.Setenv("PATH", dir)

	path, err := settings.Binary("fsmtx")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "fsmtx"), path, "a link to the program is kept")

	require.NoError(t, os.Symlink("fsmtx", filepath.Join(dir, "f")))
	require.NoError(t, os.Symlink("f", filepath.Join(dir, "fsmtx-dev")))
	path, err = settings.Binary("fsmtx-dev")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "fsmtx"), path, "hooks are not known by another name")
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "own")))
	path, err = settings.Binary("own")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "own"), path, "no link has the name")

	path, err = settings.Binary("something-else")
	require.NoError(t, err)
	assert.Equal(t, self, path)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o700))
	path, err = settings.Binary("other")
	require.NoError(t, err)
	assert.Equal(t, self, path, "a name that leads to another program is ignored")

	t.Chdir(dir)
	path, err = settings.Binary("./fsmtx")
	require.NoError(t, err)
	assert.True(t, filepath.IsAbs(path))
	assert.Equal(t, "fsmtx", filepath.Base(path))
}

func TestCheckNameRequiresThisProgramOnPath(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	t.Setenv("PATH", dir)

	err = settings.CheckName()
	require.ErrorIs(t, err, settings.ErrNotOnPath)
	require.ErrorContains(t, err, "executable file not found")

	onPath := filepath.Join(dir, settings.Program)
	require.NoError(t, os.WriteFile(onPath, nil, 0o700))
	err = settings.CheckName()
	require.ErrorIs(t, err, settings.ErrNotOnPath)
	require.ErrorContains(t, err, "this is "+self+", and PATH has "+onPath)

	require.NoError(t, os.Remove(onPath))
	require.NoError(t, os.Symlink(self, onPath))
	require.NoError(t, settings.CheckName(), "a link to this program")
}
