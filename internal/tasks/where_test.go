package tasks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
)

func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestID(t *testing.T) {
	for session, want := range map[string]string{
		"abc-123_X":      "abc-123_X",
		"azAZ09":         "azAZ09",
		"`{@[/:":         "------",
		"../../etc":      "------etc",
		"a b\nc":         "a-b-c",
		"é":              "-",
		"𝄞":              "--", // two UTF-16 code units
		"a\xffb":         "a-b",
		".":              "-",
		"a/b\x00c":       "a-b-c",
		"team.name@home": "team-name-home",
	} {
		assert.Equal(t, want, ID(env(nil), session), "%q", session)
	}
	assert.Equal(t, "my-list", ID(env(map[string]string{"CLAUDE_CODE_TASK_LIST_ID": "my list"}), "s"))
	assert.Equal(t, "s", ID(env(map[string]string{"CLAUDE_CODE_TASK_LIST_ID": ""}), "s"), "an empty variable is not set")
}

func TestDir(t *testing.T) {
	dir, err := Dir(env(map[string]string{"HOME": "/home/u"}), "s")
	require.NoError(t, err)
	assert.Equal(t, "/home/u/.claude/tasks/s", dir)
	dir, err = Dir(env(map[string]string{"HOME": "/home/u", "CLAUDE_CONFIG_DIR": "/c"}), "s")
	require.NoError(t, err)
	assert.Equal(t, "/c/tasks/s", dir)
	_, err = Dir(env(map[string]string{"HOME": ""}), "s")
	assert.ErrorIs(t, err, client.ErrNoHome)
}
