package guard

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

func TestCopyLog(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	assert.ErrorIs(t, CopyLog(filepath.Join(dir, "none"), &out), ErrNoLog)
	path := filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(path, []byte("a → \x1b[31mred\x00\n\tb\n"), 0o600))
	require.NoError(t, CopyLog(path, &out))
	assert.Equal(t, "a → \\x1b[31mred\\x00\n\tb\n", out.String(), "a log cannot control the terminal")
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "link")))
	assert.ErrorIs(t, CopyLog(filepath.Join(dir, "link"), &out), safefile.ErrNotRegular)
}

func TestCopyLogKeepsCharactersWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := strings.Repeat("x", 32*1024-1) + "→ end\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	var out bytes.Buffer
	require.NoError(t, CopyLog(path, &out))
	assert.True(t, text == out.String())
}

func TestNewestLog(t *testing.T) {
	dir := t.TempDir()
	env := stateIn(dir)
	_, err := NewestLog(Config{}, env)
	assert.ErrorIs(t, err, ErrNoLog)
	for i, name := range []string{"planning-hooks-b.log", "planning-hooks-a.log", "other.log", "planning-hook-breaker-a.json",
		"planning-hooks-c.txt"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		at := time.Unix(1700000000+int64(i), 0)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "planning-hooks-z.log")))
	path, err := NewestLog(Config{}, env)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "planning-hooks-a.log"), path)
}

func TestTheStateDirectoryIsNotAPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a]*")
	require.NoError(t, os.Mkdir(dir, 0o700))
	log := filepath.Join(dir, "planning-hooks-a.log")
	require.NoError(t, os.WriteFile(log, nil, 0o600))
	env := stateIn(dir)
	path, err := NewestLog(Config{}, env)
	require.NoError(t, err)
	assert.Equal(t, log, path)
	require.NoError(t, os.RemoveAll(dir))
	_, err = NewestLog(Config{}, env)
	assert.ErrorIs(t, err, ErrNoLog, "a missing directory has none")
}

func TestALogOfAnotherUserIsNotShown(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "planning-hooks-a.log")
	require.NoError(t, os.WriteFile(log, []byte("forged\n"), 0o644))
	require.NoError(t, os.Chown(log, 12345, 12345))
	_, err := NewestLog(Config{}, stateIn(dir))
	assert.ErrorIs(t, err, ErrNoLog)
	assert.ErrorIs(t, CopyLog(log, io.Discard), safefile.ErrNotOwn)
}
