package hydrate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
)

// TestMissingRegistryIsAcceptedIfTheClientRuns: if the client runs without a registry, the
// skill comes from elsewhere. A malformed registry is still an error.
func TestMissingRegistryIsAcceptedIfTheClientRuns(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skipf("the client's command line cannot be read on %s", runtime.GOOS)
	}
	home := t.TempDir()
	r := hydrate.Request{Event: client.PostToolUse, Session: "s", Command: "p:s", Cwd: home}
	_, _, err := hydrate.Find(r, env("HOME", home), hydrate.Options{})
	require.ErrorIs(t, err, hydrate.ErrLookup, "no client is known")

	claude := env("HOME", home, "CLAUDE_PID", strconv.Itoa(os.Getpid()))
	h, _, err := hydrate.Find(r, claude, hydrate.Options{})
	require.NoError(t, err)
	assert.Nil(t, h)

	require.NoError(t, os.MkdirAll(filepath.Join(home, ".claude/plugins"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".claude/plugins/installed_plugins.json"), []byte("{"), 0o644))
	_, _, err = hydrate.Find(r, claude, hydrate.Options{})
	require.ErrorIs(t, err, hydrate.ErrLookup)
}

// TestOptionsOfTheClientAreSearchedLast: a directory on the client's command line is used
// if neither the project nor the user has a folder of that name.
func TestOptionsOfTheClientAreSearchedLast(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skipf("the client's command line cannot be read on %s", runtime.GOOS)
	}
	h := newHome(t)
	for _, folder := range []string{"added/.claude/skills/far", "added/.claude/skills/near", "project/.claude/skills/near"} {
		h.write(folder+"/SKILL.md", "")
		h.write(folder+"/fsm.json", "[]")
	}
	claude := exec.Command("sh", "-c", "echo started; read line", "claude", "--add-dir", "../added")
	stdin, err := claude.StdinPipe()
	require.NoError(t, err)
	stdout, err := claude.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, claude.Start())
	t.Cleanup(func() { stdin.Close(); _ = claude.Wait() })
	_, err = stdout.Read(make([]byte, 8)) // then the child runs sh, with the arguments
	require.NoError(t, err)

	project := filepath.Join(h.dir, "project")
	vars := env("HOME", h.dir, "CLAUDE_PROJECT_DIR", project, "CLAUDE_PID", strconv.Itoa(claude.Process.Pid))
	for name, want := range map[string]string{"far": "added/.claude/skills/far/fsm.json", "near": "project/.claude/skills/near/fsm.json",
		"none": ""} {
		_, result, err := hydrate.Find(hydrate.Request{Event: client.PostToolUse, Session: "s", Command: name, Cwd: h.dir}, vars,
			hydrate.Options{})
		require.NoError(t, err)
		if want != "" {
			want = filepath.Join(h.dir, want)
		}
		assert.Equal(t, want, result.Spec, name)
	}
}
