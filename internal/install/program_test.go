package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// forAllPlatforms is a plugin for every platform. Its programs are scripts that print their
// platform, their arguments and their standard input.
func forAllPlatforms() Plugin {
	p := small()
	p.Programs = nil
	for _, platform := range Platforms() {
		p.Programs = append(p.Programs, Program{Platform: platform, Fsmtx: []byte("#!/bin/sh\necho " + string(platform) +
			" \"$@\"\ncat\nexit 3\n")})
	}
	return p
}

// tool writes a stand-in for a program of the system.
func tool(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

// run runs a program as the client runs a hook in exec form, with a uname that prints system,
// and returns its output and exit code.
func run(t *testing.T, system, program string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	tools := t.TempDir()
	tool(t, tools, "uname", `[ "$*" = -sm ] && echo "`+system+`"`)
	c := exec.Command(program, args...)
	c.Env = []string{"PATH=" + tools + ":/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT=" + filepath.Dir(filepath.Dir(program))}
	input, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer input.Close()
	c.Stdin = input
	out, err := c.Output()
	if failed, ok := err.(*exec.ExitError); ok {
		return string(out), string(failed.Stderr), failed.ExitCode()
	}
	require.NoError(t, err)
	return string(out), "", 0
}

// TestTheScriptStartsTheProgramOfThePlatform: a plugin that was written on this platform works
// unchanged on every other one.
func TestTheScriptStartsTheProgramOfThePlatform(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a plugin's place")
	_, err := forAllPlatforms().Write(dir, false)
	require.NoError(t, err)
	for system, want := range map[string]string{
		"Linux x86_64":  "linux/amd64",
		"Linux aarch64": "linux/arm64",
		"Darwin x86_64": "darwin/amd64",
		"Darwin arm64":  "darwin/arm64",
	} {
		out, _, code := run(t, system, filepath.Join(dir, "bin/fsmtx"), "hydrate", "two words", "")
		assert.Equal(t, want+" hydrate two words \n", out, system)
		assert.Equal(t, 3, code, "the program's exit code")
	}
}

// TestTheScriptFailsOnAPlatformWithoutAProgram: but not as a hook, because some agents refuse
// every call whose hook fails.
func TestTheScriptFailsOnAPlatformWithoutAProgram(t *testing.T) {
	dir := t.TempDir()
	p := forAllPlatforms()
	p.Programs = p.Programs[:2] // of Linux
	_, err := p.Write(dir, false)
	require.NoError(t, err)
	for _, system := range []string{"FreeBSD amd64", "Darwin arm64", ""} {
		for _, hook := range [][]string{{"hook", "--agent=claude"}, {"hydrate", "--announce"}, {"hydrate"}, {"step"},
			{"step", "--stop=hold"}, {"recover", "--hook"}, {"guard", "H01"}, {"guard", "skill-files"}} {
			out, message, code := run(t, system, filepath.Join(dir, "bin/fsmtx"), hook...)
			assert.Empty(t, out+message, hook)
			assert.Zero(t, code, hook)
		}
		out, message, code := run(t, system, filepath.Join(dir, "bin/fsmtx"), "step", "show")
		assert.Empty(t, out)
		assert.Contains(t, message, "fsmtx: there is no program for "+system+" in "+dir+"/bin\n")
		assert.Equal(t, 1, code)
	}
}

// TestTheSessionStartHookReportsAProgramThatDoesNotRun runs that hook where the program is
// missing or not executable.
func TestTheSessionStartHookReportsAProgramThatDoesNotRun(t *testing.T) {
	p := forAllPlatforms()
	p.Parts = []Part{Workflows(settings.Hooks(Command, nil, settings.Duty{}))}
	for i := range p.Programs {
		p.Programs[i].Fsmtx = []byte("#!/bin/sh\necho hooked\n")
	}
	var lines []string
	for _, h := range p.hooks() {
		if h.Event == client.SessionStart {
			lines = append(lines, h.Line())
		}
	}
	require.Len(t, lines, 1, "the event starts one process")
	dir := t.TempDir()
	_, err := p.Write(dir, false)
	require.NoError(t, err)
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	hook := func(system string) string {
		script := filepath.Join(dir, "bin/sh") // run derives the plugin's directory from it
		require.NoError(t, os.Symlink(sh, script))
		defer os.Remove(script)
		out, _, code := run(t, system, script, "-c", lines[0])
		require.Zero(t, code)
		return out
	}
	reports := func(out string) {
		t.Helper()
		var reply client.Reply
		require.NoError(t, json.Unmarshal([]byte(out), &reply, json.RejectUnknownMembers(true)))
		assert.Contains(t, reply.SystemMessage, "does not run on this machine")
		assert.Equal(t, client.SessionStart, reply.Specific.HookEventName)
		assert.Contains(t, reply.Specific.AdditionalContext, "Tell the user once that the plugin's program does not run here.")
	}

	assert.Equal(t, "hooked\n", hook("Darwin arm64"))
	reports(hook("FreeBSD amd64"))

	require.NoError(t, os.Chmod(filepath.Join(dir, "bin/darwin-arm64/fsmtx"), 0o644))
	reports(hook("Darwin arm64"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin/darwin-arm64/fsmtx"), []byte("\xcf\xfa\xed\xfe\x07"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(dir, "bin/darwin-arm64/fsmtx"), 0o755))
	reports(hook("Darwin arm64"))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "bin/fsmtx")))
	reports(hook("Linux x86_64"))
}

func TestASingleProgramHasNoScript(t *testing.T) {
	files, err := small().files()
	require.NoError(t, err)
	for _, f := range files {
		if f.path == "bin/fsmtx" {
			assert.Equal(t, "#!/bin/sh\n", string(f.data))
			return
		}
	}
	t.Fatal("there is no bin/fsmtx")
}

func TestPlatformsAreDroppedOnlyOnRequest(t *testing.T) {
	dir := t.TempDir()
	_, err := forAllPlatforms().Write(dir, false)
	require.NoError(t, err)

	_, err = small().Write(dir, true)
	require.ErrorIs(t, err, errPlatforms)
	assert.FileExists(t, filepath.Join(dir, "bin/darwin-arm64/fsmtx"))

	p := small()
	p.Drop = true
	_, err = p.Write(dir, false)
	var differs *differsError
	require.ErrorAs(t, err, &differs)
	assert.Contains(t, differs.paths, "bin/darwin-arm64/fsmtx")
	_, err = p.Write(dir, true)
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(dir, "bin/darwin-arm64/fsmtx"))
	now, err := ReadPlugin(dir)
	require.NoError(t, err)
	assert.Empty(t, now.Platforms)
}
