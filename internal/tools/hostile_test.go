//go:build unix

package tools_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/program"
)

// person is an unprivileged user with a home, to whom file permissions apply. If the
// test runs as root, it is the user nobody.
type person struct {
	t       *testing.T
	home    string
	program string
	uid     int
	env     []string
}

const nobody = 65534

func newPerson(t *testing.T) *person {
	t.Helper()
	root, err := os.MkdirTemp("", "fsmtx-test-") // only root can enter the parent of t.TempDir
	require.NoError(t, err)
	require.NoError(t, os.Chmod(root, 0o755))
	p := &person{t: t, home: filepath.Join(root, "home"), program: filepath.Join(root, "fsmtx"), uid: os.Geteuid()}
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+rwX", root).Run()
		_ = os.RemoveAll(root)
	})
	require.NoError(t, exec.Command("cp", program.Path(t), p.program).Run())
	if p.uid == 0 {
		p.uid = nobody
	}
	p.write(".claude/skills/my-skill/fsm.json", `[{"id": 1, "subject": "a"}]`)
	p.write(".claude/tasks/s/1.json", `{"id": "1", "subject": "mine", "description": "", "status": "pending", "blocks": [], "blockedBy": []}`)
	p.write(".claude/tasks/s/2.json",
		`{"id": "2", "subject": "old", "description": "", "status": "pending", "blocks": [], "blockedBy": [], "metadata": {"fsm": 1}}`)
	p.chownHome()
	return p
}

func (p *person) path(name string) string { return filepath.Join(p.home, name) }

func (p *person) write(name, text string) { put(p.t, p.path(name), text) }

// chownHome makes the person the owner of everything in the home.
func (p *person) chownHome() {
	p.t.Helper()
	if os.Geteuid() == 0 {
		require.NoError(p.t, exec.Command("chown", "-hR", fmt.Sprint(p.uid, ":", p.uid), p.home).Run())
	}
}

const aSkillWasCalled = `{"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_response": {"success": true, ` +
	`"commandName": "my-skill"}}`

// run runs the program as the person. It kills it after ten seconds, because no file may
// block it.
func (p *person) run(args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	c := exec.CommandContext(p.t.Context(), p.program, args...)
	c.Dir, c.Env, c.Stdin = "/", append([]string{"HOME=" + p.home, raceOptions}, p.env...), strings.NewReader(aSkillWasCalled)
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}}
	}
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	stop := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
	defer stop.Stop()
	err := c.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = nil
		code = failed.ExitCode()
	}
	require.NoError(p.t, err)
	return code, out.String(), errs.String()
}

// list returns mode, size and mtime of everything in the task list, nil if the list
// cannot be read.
func (p *person) list() map[string]string {
	p.t.Helper()
	entries, err := os.ReadDir(p.path(".claude/tasks/s"))
	if os.IsPermission(err) {
		return nil
	}
	require.NoError(p.t, err)
	m := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(p.t, err)
		m[e.Name()] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
	}
	return m
}

// TestMissingPermissionsAreReported: a file that cannot be read, written or trusted makes
// the command fail with a message and leaves the list unchanged.
func TestMissingPermissionsAreReported(t *testing.T) {
	const list, state = ".claude/tasks/s", ".claude/tasks/.s.fsmtx"
	for _, c := range []struct {
		path    string // a file that does not exist yet has an x, the state directory is empty
		mode    os.FileMode
		ofRoot  bool
		command string
		code    int
		message string
	}{
		{".claude/skills/my-skill/fsm.json", 0, false, "hydrate", 2, "fsm.json: permission denied"},
		{list, 0o300, false, "hydrate", 2, "tasks/s: permission denied"},
		{list, 0o600, false, "hydrate", 2, "permission denied"},
		{list, 0o500, false, "hydrate", 2, "permission denied"},
		{".claude/tasks", 0o500, false, "hydrate", 2, "tasks/.s.fsmtx: permission denied"},
		{".claude/tasks", 0o300, false, "recover", 1, "tasks: permission denied"},
		{list + "/.highwatermark", 0, false, "hydrate", 2, ".highwatermark: permission denied"},
		{state + "/journal", 0, false, "hydrate", 2, "journal: permission denied"},
		{state + "/journal", 0, false, "recover", 1, "journal: permission denied"},
		{state + "/journal", 0, false, "recover --force", 1, "journal: permission denied"},
		{state + "/lock", 0, false, "hydrate", 2, "lock: permission denied"},
		{state, 0, false, "hydrate", 2, "permission denied"},
		{state, 0o777, false, "hydrate", 2, "others may write to it (mode 0777)"},
		{state, 0o770, false, "recover", 1, "others may write to it (mode 0770)"},
		{state, 0o755, true, "hydrate", 2, "it belongs to user 0 (root); if root has run fsmtx here, mend it: sudo chown -R "},
		{state, 0o755, true, "recover", 1, "it belongs to user 0"},
	} {
		t.Run(strings.ReplaceAll(fmt.Sprint(c.path, c.mode, c.command), "/", "-"), func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			if c.ofRoot && os.Geteuid() != 0 {
				t.Skip("only root can give a directory to root")
			}
			if c.path == state {
				require.NoError(t, os.Mkdir(p.path(state), 0o700))
			} else if _, err := os.Lstat(p.path(c.path)); err != nil {
				p.write(c.path, "x")
			}
			p.mode(c.path, c.mode)
			if c.ofRoot {
				require.NoError(t, os.Chown(p.path(c.path), 0, 0))
			}
			before := p.list()
			code, stdout, stderr := p.run(strings.Fields(c.command)...)
			assert.Equal(t, c.code, code)
			if c.code == 2 {
				assert.Empty(t, stdout)
			}
			assert.Contains(t, stdout+stderr, c.message)
			assert.Equal(t, before, p.list())
		})
	}
}

// TestWhatRootMadeIsToldOnce: with the cause and the line that mends it, and with nothing else to do.
func TestWhatRootMadeIsToldOnce(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to root")
	}
	for _, mode := range []os.FileMode{0o755, 0o700} { // of the list, too
		whatRootMadeIsToldOnce(t, mode)
	}
}

func whatRootMadeIsToldOnce(t *testing.T, mode os.FileMode) {
	p := newPerson(t)
	require.NoError(t, exec.Command("cp", filepath.Join(program.Dir(t), "fsmtx-tools"), filepath.Dir(p.program)).Run())
	p.write(".claude/tasks/.s.fsmtx/session.json", "{}")
	for _, dir := range []string{".claude/tasks/.s.fsmtx", ".claude/tasks/s"} {
		require.NoError(t, os.Chown(p.path(dir), 0, 0))
		require.NoError(t, os.Chmod(p.path(dir), mode))
	}
	mend := fmt.Sprintf("it belongs to user 0 (root); if root has run fsmtx here, mend it: sudo chown -R %d '%s'", nobody,
		p.path(".claude/tasks"))
	for _, command := range []string{"begin my-skill", "status", "log", "recover", "next", "doctor", "status --all", "log --all", "undo",
		"step skip 4 --because x", "person: undo", "person: step skip 4 --because x", "attest"} {
		caller, line, ok := strings.Cut(command, ": ")
		if !ok {
			caller, line = "script", command
		}
		p.env = []string{"FSMTX_TEST_CALLER=" + caller, "FSMTX_TEST_YOUNG=1"}
		args := strings.Fields(line)
		if command != "doctor" && command != "attest" && !slices.Contains(args, "--all") {
			args = append(args, "--list", "s")
		}
		_, stdout, stderr := p.run(args...)
		out := stdout + stderr
		assert.Equal(t, 1, strings.Count(out, mend), "%s: %s", command, out)
		for _, other := range []string{"did not create", "replaces its steps", "chmod 700", "fsmtx recover", "remove it", "agent",
			"no skill has put"} {
			assert.NotContains(t, out, other, command)
		}
	}
}

func (p *person) mode(name string, mode os.FileMode) {
	p.t.Helper()
	p.chownHome()
	require.NoError(p.t, os.Chmod(p.path(name), mode))
}

// TestUnreadableTaskIsKept: the client does not show the task, so a hydration keeps it.
// Its number is not given again.
func TestUnreadableTaskIsKept(t *testing.T) {
	p := newPerson(t)
	p.write(".claude/tasks/s/7.json",
		`{"id": "7", "subject": "x", "description": "", "status": "pending", "blocks": [], "blockedBy": [], "metadata": {"fsm": 1}}`)
	p.mode(".claude/tasks/s/7.json", 0)
	before := p.list()
	code, stdout, stderr := p.run("hydrate")
	require.Zero(t, code, stderr)
	assert.Equal(t, "{\"continue\": true}\n", stdout)
	after := p.list()
	assert.Equal(t, before["7.json"], after["7.json"])
	assert.Equal(t, before["1.json"], after["1.json"])
	assert.NotContains(t, after, "2.json")
	assert.Contains(t, after, "8.json")

	info, err := os.Stat(p.path(".claude/tasks/.s.fsmtx"))
	require.NoError(t, err)
	assert.Equal(t, os.ModeDir|0o700, info.Mode())
}
