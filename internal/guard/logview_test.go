package guard

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// syncBuffer is a buffer that is safe for concurrent use.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *syncBuffer) holds(text string) func() bool {
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.text.String() == text
	}
}

func TestFollowLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	ctx, cancel := context.WithCancel(t.Context())
	var s syncBuffer
	done := make(chan error)
	go func() { done <- FollowLog(ctx, path, time.Millisecond, &s) }()
	limit, pause := 20*time.Second, time.Millisecond
	require.NoError(t, statefile.Append(path, []byte("one\n")), "it waits for a log that does not exist yet")
	require.Eventually(t, s.holds("one\n"), limit, pause)
	require.NoError(t, statefile.Append(path, []byte("two\n")))
	require.Eventually(t, s.holds("one\ntwo\n"), limit, pause)
	require.NoError(t, os.Truncate(path, 0))
	require.NoError(t, statefile.Append(path, []byte("3\n")))
	require.Eventually(t, s.holds("one\ntwo\n3\n"), limit, pause)
	cancel()
	assert.NoError(t, <-done, "cancelling is not an error")
}

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
