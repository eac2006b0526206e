package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// TestTheTrackerOfAProject: its settings count, and win, in a folder that the person trusts.
func TestTheTrackerOfAProject(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		full := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
	}
	config := filepath.Join(root, "home/.gemini")
	e := &event.Event{SessionID: "s", Cwd: filepath.Join(root, "project"), TranscriptPath: filepath.Join(config, "tmp/p/chats/s.jsonl")}
	on := func() bool { return trackerOf(e, config) == filepath.Join(config, "tmp/p/s/tracker") }

	write("project/.gemini/settings.json", `{"experimental": {"taskTracker": true}}`)
	assert.False(t, on())
	t.Setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
	assert.True(t, on())
	t.Setenv("GEMINI_RESTRICTED_MODE", "true")
	assert.False(t, on())
	t.Setenv("GEMINI_RESTRICTED_MODE", "")
	write("project/.gemini/settings.json", `{"experimental": {"taskTracker": false}}`)
	write("home/.gemini/settings.json", `{"experimental": {"taskTracker": true}}`)
	assert.False(t, on(), "the project's wins")
	t.Setenv("GEMINI_CLI_TRUST_WORKSPACE", "false")
	assert.True(t, on())
	t.Setenv("GEMINI_CLI_TRUST_WORKSPACE", "1")
	t.Setenv("GEMINI_CLI_TRUSTED_FOLDERS_PATH", filepath.Join(root, "rules.json"))
	write("rules.json", `{"`+root+`": "TRUST_FOLDER"}`)
	assert.False(t, on(), "a file of rules that a variable names")
}

func TestWhatSettingsSayAboutTheTracker(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	for text, want := range map[string][2]bool{
		`{"experimental": {"taskTracker": true}}`:          {true, true},
		`{"experimental": {"taskTracker": true,}} // mine`: {true, true},
		`{"experimental": {"taskTracker": false}}`:         {false, true},
		`{"experimental": {"taskTracker": "yes"}}`:         {false, false},
		`{"experimental": {}}`:                             {false, false},
		`{"experimental"`:                                  {false, false},
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		on, known := tracks(file)
		assert.Equal(t, want, [2]bool{on, known}, text)
	}
}
