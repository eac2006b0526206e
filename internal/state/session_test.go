package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/txn"
)

// TestADamagedMemory is named until it is written again, loses only what it held, and lets no command pass.
func TestADamagedMemory(t *testing.T) {
	l := hydrated(t, `{}`)
	file := filepath.Join(StateDir(l.List.Dir), SessionFile)
	mine := Pending{Step: 1, Call: "x", PID: os.Getpid(), Start: caller.StartOf(os.Getpid())}
	fill := func(m *Memory) {
		m.Grants, m.Pending, m.Told = []Grant{{Command: "x", Session: "s1", Use: "u1"}}, []Pending{mine}, []string{"k"}
	}
	require.NoError(t, l.Remember(t.Context(), fill))
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	s, err := l.Now(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Pending{mine}, s.Pending)
	for n := range whole {
		require.NoError(t, os.WriteFile(file, whole[:n], 0o600))
		l.Known = nil
		_, err := l.UseGrant(t.Context(), "x", []string{"x"})
		require.ErrorIs(t, err, ErrNoGrant, n)
		require.ErrorIs(t, err, ErrMemory, n)
		require.ErrorContains(t, err, file+" is damaged")
		s, err := l.Now(t.Context())
		require.NoError(t, err)
		require.Len(t, s.Troubles, 1)
		require.ErrorIs(t, s.Troubles[0], ErrMemory)
		require.Empty(t, s.Pending)
		require.Len(t, s.Steps, 1)
	}
	require.NoError(t, l.Remember(t.Context(), func(m *Memory) { require.Zero(t, *m); m.Told = []string{"new"} }))
	m, err := l.Memory()
	require.NoError(t, err)
	require.Equal(t, Memory{Told: []string{"new"}}, m)
	s, err = l.Now(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.Troubles)
}

// TestMemoryIsReadOnce as long as its file is the same one, and nobody changes what others have of it.
func TestMemoryIsReadOnce(t *testing.T) {
	l := hydrated(t, `{}`)
	file := filepath.Join(StateDir(l.List.Dir), SessionFile)
	require.NoError(t, l.Remember(t.Context(), func(m *Memory) { m.Told = []string{"a", "b"} }))
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(file, old, old))
	before, err := l.Memory()
	require.NoError(t, err)
	info, err := os.Lstat(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(`{"told":["x","y"]}`)[:info.Size()], 0o600))
	require.NoError(t, os.Chtimes(file, old, old))
	again, err := l.Memory()
	require.NoError(t, err)
	require.Equal(t, before, again, "it is not read again")
	require.NoError(t, l.Locked(t.Context(), func(dir *txn.Dir) error {
		require.NoError(t, l.RememberIn(dir, func(m *Memory) { m.Told[0] = "c" }))
		now, err := l.MemoryIn(dir)
		require.Equal(t, []string{"c", "b"}, now.Told)
		return err
	}))
	require.Equal(t, []string{"a", "b"}, before.Told)
	other, err := (&Store{List: l.List}).Memory()
	require.NoError(t, err)
	require.Equal(t, []string{"c", "b"}, other.Told)
}
