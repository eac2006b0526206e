package tasks

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/stretchr/testify/assert"
)

// TestTheRegisteredLineSpellsTheListAsTheProgramDoes: where the program is missing, the line of a hook finds the list by its name.
func TestTheRegisteredLineSpellsTheListAsTheProgramDoes(t *testing.T) {
	dir := t.TempDir()
	refused := func(sh, name string) bool {
		c := exec.Command(sh, "-c", shell.GuardOr(shell.Refuse, filepath.Join(dir, "gone"), []string{"hook"}))
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CLAUDE_CONFIG_DIR=" + dir, "CLAUDE_CODE_SESSION_ID=other", "LANG=C.UTF-8",
			"CLAUDE_CODE_TASK_LIST_ID=" + name}
		_ = c.Run()
		return c.ProcessState.ExitCode() == 2
	}
	text := rapid.StringOfN(rapid.SampledFrom([]rune("a.Z_-9 /\\*?[]!$'\"`~;\n\té日\u00a0\u0300\uffff😀")), 1, 12, -1)
	rapid.Check(t, func(r *rapid.T) {
		name, sh := text.Draw(r, "name"), rapid.SampledFrom([]string{"/bin/sh", "bash"}).Draw(r, "sh")
		state := filepath.Join(dir, "tasks", "."+CleanID(name)+".fsmtx")
		require.NoError(r, os.MkdirAll(filepath.Dir(state), 0o755))
		require.False(r, refused(sh, name), "no workflow")
		require.NoError(r, os.Mkdir(state, 0o755))
		defer os.RemoveAll(state)
		require.True(r, refused(sh, name), "%s: %q is %s", sh, name, state)
	})
}

// TestTheListOfATeam is that of the session that leads it, in a terminal; with -p there is no team.
func TestTheListOfATeam(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{"HOME": home, TeamVariable: "1"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	const session = "0b54e1c2-7c1e-4a53-9d1a-2f0f4a1d5f10"
	assert.Equal(t, session, ID(lookup, session))
	team := filepath.Join(home, ".claude", "teams", "a")
	require.NoError(t, os.MkdirAll(team, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(team, "config.json"), []byte(`{"name": "a", "leadSessionId": "`+session+`"}`), 0o600))
	assert.Equal(t, "session-0b54e1c2", ID(lookup, session))
	assert.Equal(t, "other", ID(lookup, "other"))
	env[TeamVariable] = ""
	assert.Equal(t, session, ID(lookup, session))
}
