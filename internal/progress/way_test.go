package progress

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBeforeTheClientListsTheTools: a skill that is typed as the first prompt comes before, so the agent
// is told of every way that it may have.
func TestBeforeTheClientListsTheTools(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	transcript := filepath.Join(t.TempDir(), "s.jsonl")
	early := Offered(none, transcript, "", false, "/bin/fsmtx")
	assert.Equal(t, Way{Kind: Commands, Program: "/bin/fsmtx", Unlisted: true}, early)
	for _, way := range []string{"TaskUpdate", "step_complete", "/bin/fsmtx complete N"} {
		assert.Contains(t, early.Manual(), way)
	}
	listing := `{"type": "attachment", "attachment": {"type": "deferred_tools_delta", "addedNames": ["Bash"], ` +
		`"removedNames": [], "readdedNames": []}}` + "\n"
	require.NoError(t, os.WriteFile(transcript, []byte(listing), 0o644))
	assert.Equal(t, Way{Kind: Commands, Program: "/bin/fsmtx"}, Offered(none, transcript, "", false, "/bin/fsmtx"))
	assert.Equal(t, Way{Kind: Commands, Program: "/bin/fsmtx"}, Offered(none, "", "", false, "/bin/fsmtx"), "no client")
}
