package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

func TestTheFirstRowsOfH07ToH09(t *testing.T) {
	feature := map[string]string{"PLANNING_FEATURE_DIR": t.TempDir()}
	for id, agent := range map[string]string{"H07": techLead, "H08": architect, "H09": qaStrategist} {
		event := func(agent string) string {
			return fmt.Sprintf(`{"session_id":"s","cwd":"/","agent_type":%q,"last_assistant_message":"words"}`, agent)
		}
		other := explain(t, id, event(agents+"researcher"), feature)
		assert.Equal(t, 1, other.Row, id)
		assert.False(t, refuses(other.Verdict), id)
		assert.Equal(t, 2, explain(t, id, event(agent), feature).Row, id)
		assert.Equal(t, 2, explain(t, id, event(""), feature).Row, "%s: an event without an agent's name has matched the matcher", id)
		if id != "H08" {
			e := explain(t, id, event(agent), nil)
			assert.Equal(t, "No feature directory, cannot validate", e.Detail, id)
			assert.Equal(t, 1, e.Row, id)
		}
	}
}

func TestAnUnreadableDocumentIsNotAFailure(t *testing.T) {
	feature := t.TempDir()
	for _, name := range []string{"tasks.md", "test-cases/unit/a.md"} {
		path := filepath.Join(feature, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		createUnreadable(t, path)
	}
	for id, agent := range map[string]string{"H07": techLead, "H09": qaStrategist} {
		e := explain(t, id, fmt.Sprintf(`{"session_id":"s","cwd":"/","agent_type":%q}`, agent),
			map[string]string{"PLANNING_FEATURE_DIR": feature})
		assert.Equal(t, 0, e.Row, id)
		assert.Equal(t, "APPROVE", e.Word, id)
		assert.Contains(t, e.Detail, " unreadable: ", id)
	}
}

// createUnreadable creates a regular file that cannot be read. Root can read a file
// whatever its mode; for root it is a link to the memory of this process, where nothing is
// mapped at address 0.
func createUnreadable(t *testing.T, path string) {
	const memory = "/proc/self/mem"
	if os.Geteuid() != 0 {
		require.NoError(t, os.WriteFile(path, nil, 0))
		return
	}
	if !safefile.IsFile(memory) {
		t.Skip("root can read every file, and this system has no " + memory)
	}
	require.NoError(t, os.Symlink(memory, path))
}

func TestWithoutALastMessageTheTranscriptIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"assistant","message":{"content":"## Found\n`+
		strings.Repeat("word ", 100)+`"}}`+"\n"), 0o600))
	for last, row := range map[string]int{"": 7, " \n": 7, "short": 5} {
		input := fmt.Sprintf(`{"session_id":"s","cwd":%q,"agent_type":"product-planning:x","last_assistant_message":%q,`+
			`"agent_transcript_path":"t.jsonl"}`,
			filepath.Dir(path), last)
		assert.Equal(t, row, explain(t, "H10", input, nil).Row, "%q", last)
	}
}
