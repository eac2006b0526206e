package settings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/settings"
)

func TestIsTemporaryRecognisesGoRun(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4)
	for path, want := range map[string]bool{
		"/var/build/go-build1007192772/b001/exe/fsmtx":              true,
		"/home/me/.cache/go-build/e6/" + hash + "-d/fsmtx":          true,
		"/Users/me/Library/Caches/go-build/01/" + hash + "-d/fsmtx": true,
		"/home/me/own-cache/e6/" + hash + "-d/fsmtx":                true,
		"/home/me/go/bin/fsmtx":                                     false,
		"/home/me/go-build/bin/fsmtx":                               false,
		"/home/me/go-build/exe/fsmtx":                               false,
		"/nix/store/" + hash + "-fsmtx/bin/fsmtx":                   false,
		"/usr/local/bin/fsmtx":                                      false,
	} {
		assert.Equal(t, want, settings.IsTemporary(path), path)
	}
}

func TestBinaryReturnsThePathThatWasCalled(t *testing.T) {
	self := must(os.Executable())
	dir := t.TempDir()
	if settings.IsTemporary(self) { // the program below, which a hook must not have
		path, err := settings.Binary("fsmtx")
		require.Equal(t, self, path)
		require.ErrorIs(t, err, settings.ErrTemporary)
		return
	}
	built := filepath.Join(dir, "go-build1/b001/exe/fsmtx")
	require.NoError(t, os.MkdirAll(filepath.Dir(built), 0o700))
	require.NoError(t, os.WriteFile(built, must(os.ReadFile(self)), 0o700))
	out, err := exec.Command(built, "-test.run=^"+t.Name()+"$").CombinedOutput()
	require.NoError(t, err, "%s", out)

	require.NoError(t, os.Symlink(self, filepath.Join(dir, "fsmtx")))
	t.Setenv("PATH", dir)

	assert.Equal(t, filepath.Join(dir, "fsmtx"), must(settings.Binary("fsmtx")), "a link to the program is kept")

	require.NoError(t, os.Symlink("fsmtx", filepath.Join(dir, "f")))
	require.NoError(t, os.Symlink("f", filepath.Join(dir, "fsmtx-dev")))
	assert.Equal(t, filepath.Join(dir, "fsmtx"), must(settings.Binary("fsmtx-dev")), "hooks are not known by another name")
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "own")))
	assert.Equal(t, filepath.Join(dir, "own"), must(settings.Binary("own")), "no link has the name")

	assert.Equal(t, self, must(settings.Binary("something-else")))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o700))
	assert.Equal(t, self, must(settings.Binary("other")), "a name that leads to another program is ignored")

	t.Chdir(dir)
	path := must(settings.Binary("./fsmtx"))
	assert.True(t, filepath.IsAbs(path))
	assert.Equal(t, "fsmtx", filepath.Base(path))
}

func TestCheckNameRequiresThisProgramOnPath(t *testing.T) {
	self := must(os.Executable())
	dir := t.TempDir()
	t.Setenv("PATH", dir)

	err := settings.CheckName()
	require.ErrorIs(t, err, settings.ErrNotOnPath)
	require.ErrorContains(t, err, "executable file not found")

	onPath := filepath.Join(dir, settings.Program)
	require.NoError(t, os.WriteFile(onPath, nil, 0o700))
	err = settings.CheckName()
	require.ErrorIs(t, err, settings.ErrNotOnPath)
	require.ErrorContains(t, err, "this is "+self+", and PATH has "+onPath)

	require.NoError(t, os.Remove(onPath))
	require.NoError(t, os.Symlink(self, onPath))
	require.NoError(t, settings.CheckName(), "a link to this program")
}

// TestMissing runs the hook of SessionStart as the client does, without the program and then with it. Its path may have any characters,
// and the shell reads nothing but the script. Its standard input is the event.
func TestMissing(t *testing.T) {
	sh, dir := must(exec.LookPath("sh")), filepath.Join(t.TempDir(), "$(touch pwned) 'x'")
	at := filepath.Join(dir, "fsmtx")
	run := func(program string) string {
		c := exec.Command(sh, "-c", atStartOf(program))
		c.Dir, c.Env, c.Stdin = t.TempDir(), []string{"PATH=" + dir}, strings.NewReader("touch pwned\n")
		out := must(c.Output())
		require.Empty(t, must(os.ReadDir(c.Dir)))
		return string(out)
	}
	for program, says := range map[string][2]string{
		"fsmtx": {"fsmtx is not on your PATH", "Tell the user once that fsmtx is missing, and is at https://github.com/fsmtx/fsmtx."},
		at:      {"is not where the hooks expect it", ""},
	} {
		var reply client.Reply
		require.NoError(t, json.Unmarshal([]byte(run(program)), &reply, json.RejectUnknownMembers(true)))
		assert.Contains(t, reply.SystemMessage, says[0])
		assert.Equal(t, client.SessionStart, reply.Specific.HookEventName)
		assert.Contains(t, reply.Specific.AdditionalContext, says[1])
	}
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(at, []byte("#!/bin/sh\n"), 0o755))
	assert.Empty(t, run("fsmtx")+run(at))
}

// atStartOf returns the line of the hook of SessionStart.
func atStartOf(program string) string {
	hooks := settings.Hooks(program, nil, settings.Duty{})
	return hooks[slices.IndexFunc(hooks, func(h settings.Hook) bool { return h.Event == client.SessionStart })].Line()
}
