package tools_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/program"
)

// plant creates what a txtar file cannot contain:
//
//	plant fifo PATH
//	plant socket PATH
//	plant sparse PATH MIB
//	plant memory DIR            a directory in memory, where syncing is fast
//	plant file PATH TEXT
//	plant repeat PATH TEXT N
//	plant tasks DIR TEXT N      N task files; ° in TEXT is the number of the task
//
// TEXT is a Go string without its quotes.
func plant(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: plant kind path...")
	}
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	switch kind := args[0]; kind {
	case "fifo":
		ts.Check(syscall.Mkfifo(path, 0o644))
	case "socket":
		closeSocket, err := files.Socket(path)
		ts.Check(err)
		ts.Defer(func() { _ = closeSocket() })
	case "sparse":
		ts.Check(os.WriteFile(path, nil, 0o644))
		ts.Check(os.Truncate(path, int64(number(ts, args[2]))<<20))
	case "file":
		ts.Check(os.WriteFile(path, []byte(unquote(ts, args[2])), 0o644))
	case "repeat":
		ts.Check(os.WriteFile(path, []byte(strings.Repeat(unquote(ts, args[2]), number(ts, args[3]))), 0o644))
	case "memory":
		dir, err := os.MkdirTemp("/dev/shm", "fsmtx-test-")
		if err != nil {
			ts.Check(os.Mkdir(path, 0o755))
			return
		}
		ts.Defer(func() { _ = os.RemoveAll(dir) })
		ts.Check(os.Symlink(dir, path))
	case "tasks":
		for i := range number(ts, args[3]) {
			n := strconv.Itoa(i + 1)
			ts.Check(os.MkdirAll(path, 0o755))
			ts.Check(os.WriteFile(filepath.Join(path, n+".json"), []byte(strings.ReplaceAll(unquote(ts, args[2]), "°", n)), 0o644))
		}
	default:
		ts.Fatalf("plant: unknown kind %s", kind)
	}
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func unquote(ts *testscript.TestScript, text string) string {
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	ts.Check(err)
	return s
}

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

func (p *person) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	require.NoError(p.t, os.WriteFile(p.path(name), []byte(text), 0o644))
}

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
