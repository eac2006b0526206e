package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheStateDirectoryIsCreated(t *testing.T) {
	b := newBench(t, passing)
	b.env[stateDir] = filepath.Join(b.dir, "a", "b")
	assert.Empty(t, b.run(firstStop).Output)
	assert.FileExists(t, b.session().Log())
}

func TestAnUnusableStateDirectoryIsReportedOnceAndFailuresAreCounted(t *testing.T) {
	b := newBench(t, passing)
	file := filepath.Join(b.dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	b.env[stateDir] = file
	id := fmt.Sprintf("guardtest-%d-%d", os.Getpid(), time.Now().UnixNano())
	stop := strings.Replace(firstStop, `"s"`, `"`+id+`"`, 1)
	elsewhere := SessionOf(id, func(string) string { return "" })
	t.Cleanup(func() {
		for _, path := range []string{elsewhere.Log(), elsewhere.Breaker(), elsewhere.Breaker() + ".lock", elsewhere.Blocks(),
			elsewhere.Blocks() + ".lock"} {
			_ = os.Remove(path)
		}
	})
	first := b.run(stop).Output
	assert.Contains(t, first, "cannot use PLANNING_STATE_DIR="+file)
	assert.Contains(t, first, "Create the directory or unset the variable.")
	assert.Empty(t, b.run(stop).Output, "it is reported once")
	assert.FileExists(t, elsewhere.Log())

	b.rule.Decide = failing
	for range 3 {
		assert.Contains(t, b.run(stop).Output, "Failing open")
	}
	assert.Contains(t, b.run(stop).Output, "circuit breaker OPEN")
}

func TestTheLogIsAtTheConfiguredPath(t *testing.T) {
	b := newBench(t, passing)
	delete(b.env, stateDir)
	path := filepath.Join(b.dir, "logs-{session_id}.txt")
	b.plugin(t, "feature_flags: {hooks_enforcement: {log_location: \""+path+"\"}}")
	assert.Empty(t, b.run(firstStop).Output)
	assert.FileExists(t, filepath.Join(b.dir, "logs-s.txt"))
	b.env[stateDir] = b.dir
	b.run(firstStop)
	assert.FileExists(t, b.session().Log(), "PLANNING_STATE_DIR takes precedence")
}

func TestSessionIDsNeverBecomePaths(t *testing.T) {
	for id, want := range map[string]string{
		"abc-DEF_123":            "abc-DEF_123",
		strings.Repeat("a", 128): strings.Repeat("a", 128),
		strings.Repeat("a", 129): "x",
		"../../etc/passwd":       "x",
		"":                       "",
	} {
		got := fileID(id)
		if strings.HasPrefix(want, "x") {
			assert.Regexp(t, `^x[0-9a-f]{32}$`, got)
		} else {
			assert.Equal(t, want, got)
		}
	}
	assert.NotEqual(t, fileID("é"), fileID("è"))
	assert.Equal(t, "/tmp", SessionOf("x", func(string) string { return "" }).dir)
}

func TestRemoveOld(t *testing.T) {
	b := newBench(t, passing)
	now := time.Now()
	old := now.AddDate(0, 0, -31)
	for _, name := range []string{"planning-hooks-a.log", "planning-hook-breaker-a.json", "planning-stop-blocks-a.json.lock",
		"budget-a.json", "planning-notes.md", "other.log"} {
		path := filepath.Join(b.dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, old, old))
	}
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "planning-hooks-dir.log"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(b.dir, "planning-hooks-dir.log"), old, old))
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "planning-hooks-new.log"), nil, 0o600))
	RemoveOld(b.session(), now.AddDate(0, 0, -30), "budget-")
	var left []string
	entries := must(os.ReadDir(b.dir))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	assert.Equal(t, []string{"other.log", "planning-hooks-dir.log", "planning-hooks-new.log", "planning-notes.md"}, left)
}
