package tools_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	c.Dir, c.Env, c.Stdin = "/", []string{"HOME=" + p.home, raceOptions}, strings.NewReader(aSkillWasCalled)
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
	for _, c := range []struct {
		name    string
		prepare func(p *person)
		args    []string
		code    int
		message string
	}{
		{"unreadable fsm.json", func(p *person) { p.mode(".claude/skills/my-skill/fsm.json", 0) }, []string{"hydrate"}, 2,
			"fsm.json: permission denied"},
		{"unreadable list", func(p *person) { p.mode(".claude/tasks/s", 0o300) }, []string{"hydrate"}, 2, "tasks/s: permission denied"},
		{"list without search", func(p *person) { p.mode(".claude/tasks/s", 0o600) }, []string{"hydrate"}, 2, "permission denied"},
		{"list that may not be written", func(p *person) { p.mode(".claude/tasks/s", 0o500) }, []string{"hydrate"}, 2, "permission denied"},
		{"lists that may not be written", func(p *person) { p.mode(".claude/tasks", 0o500) }, []string{"hydrate"}, 2,
			"tasks/.s.fsmtx: permission denied"},
		{"unreadable high-water mark", func(p *person) {
			p.write(".claude/tasks/s/.highwatermark", "7")
			p.mode(".claude/tasks/s/.highwatermark", 0)
		}, []string{"hydrate"}, 2, ".highwatermark: permission denied"},
		{"unreadable journal", func(p *person) { p.stateDir(0o700, "journal", 0) }, []string{"hydrate"}, 2, "journal: permission denied"},
		{"unreadable journal, recover", func(p *person) { p.stateDir(0o700, "journal", 0) }, []string{"recover"}, 1,
			"journal: permission denied"},
		{"unreadable journal, recover --force", func(p *person) { p.stateDir(0o700, "journal", 0) }, []string{"recover", "--force"}, 1,
			"journal: permission denied"},
		{"unreadable lock", func(p *person) { p.stateDir(0o700, "lock", 0) }, []string{"hydrate"}, 2, "lock: permission denied"},
		{"state directory without permissions", func(p *person) { p.stateDir(0, "", 0) }, []string{"hydrate"}, 2, "permission denied"},
		{"state directory that others may write to", func(p *person) { p.stateDir(0o777, "", 0) }, []string{"hydrate"}, 2,
			"others may write to it (mode 0777)"},
		{"state directory that the group may write to", func(p *person) { p.stateDir(0o770, "", 0) }, []string{"recover"}, 1,
			"others may write to it (mode 0770)"},
		{"state directory of root", func(p *person) { p.stateDir(0o755, "", 0); p.give(".claude/tasks/.s.fsmtx") }, []string{"hydrate"}, 2,
			"it belongs to user 0"},
		{"state directory of root, recover", func(p *person) { p.stateDir(0o755, "", 0); p.give(".claude/tasks/.s.fsmtx") },
			[]string{"recover"}, 1, "it belongs to user 0"},
		{"unreadable lists", func(p *person) { p.mode(".claude/tasks", 0o300) }, []string{"recover"}, 1, "tasks: permission denied"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			if strings.Contains(c.name, "of root") && os.Geteuid() != 0 {
				t.Skip("only root can give a directory to root")
			}
			c.prepare(p)
			before := p.list()
			code, stdout, stderr := p.run(c.args...)
			assert.Equal(t, c.code, code)
			if c.code == 2 {
				assert.Empty(t, stdout)
			}
			assert.Contains(t, stdout+stderr, c.message)
			assert.Equal(t, before, p.list())
		})
	}
}

func (p *person) mode(name string, mode os.FileMode) {
	p.t.Helper()
	p.chownHome()
	require.NoError(p.t, os.Chmod(p.path(name), mode))
}

// stateDir creates the state directory, with a file in it unless its name is empty.
func (p *person) stateDir(mode os.FileMode, file string, fileMode os.FileMode) {
	p.t.Helper()
	const s = ".claude/tasks/.s.fsmtx"
	require.NoError(p.t, os.Mkdir(p.path(s), 0o700))
	if file != "" {
		p.write(s+"/"+file, "x")
		p.mode(s+"/"+file, fileMode)
	}
	p.mode(s, mode)
}

func (p *person) give(name string) {
	p.t.Helper()
	require.NoError(p.t, os.Chown(p.path(name), 0, 0))
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
