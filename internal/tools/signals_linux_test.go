package tools_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// Time limits for waiting for a process, far above what it needs on a busy machine.
const (
	untilBlocked = time.Minute
	untilEnded   = time.Minute
)

// stuck is a call that blocks: it reads an input that does not end, or writes to a full pipe.
type stuck struct {
	args   []string
	stdin  string // if empty, the call reads an input that does not end
	gently bool   // exit code 0 is allowed: the command ends by itself after the signal
}

// stuckCalls returns calls of every command.
func stuckCalls() map[string][]stuck {
	one := func(args ...string) []stuck { return []stuck{{args: args, stdin: "{}"}} }
	reads := func(args ...string) stuck { return stuck{args: args} }
	hook := func(stdin string, args ...string) stuck { return stuck{args: args, stdin: stdin} }
	tool := `{"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "/x/spec.md"}}`
	update := `{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "TaskUpdate", ` +
		`"tool_input": {"taskId": "3", "status": "completed"}}`
	skip := `{"session_id": "s", "turn_id": "t", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash", ` +
		`"tool_input": {"command": "fsmtx step skip 3 --because x"}}`
	return map[string][]stuck{
		"fsmtx": {hook("x")}, "fsmtx hook": {reads("hook"), hook(skip, "hook"), hook(aSkillWasCalled, "hook", "--agent=claude"),
			hook(update, "hook", "--agent=claude")}, "fsmtx help": one("help"), "fsmtx next": one("next", "--list", "s"),
		"fsmtx start": one("start", "2", "--list", "s"), "fsmtx complete": one("complete", "2", "--list", "s"),
		"fsmtx begin": one("begin", "skill", "--list", "s"), "fsmtx continue": one("continue", "--to", "s"),
		"fsmtx completion":      one("completion"),
		"fsmtx completion bash": one("completion", "bash"), "fsmtx completion zsh": one("completion", "zsh"),
		"fsmtx completion fish": one("completion", "fish"), "fsmtx completion powershell": one("completion", "powershell"),
		"fsmtx init": {hook("x", "init", "--yes"), hook("x", "init")}, "fsmtx new": one("new", "fresh"),
		"fsmtx validate": {reads("validate", "-"), {args: []string{"validate", ".claude/skills/my-skill"}, stdin: "x"}},
		"fsmtx fmt":      {reads("fmt"), {args: []string{"fmt"}, stdin: "[]"}},
		"fsmtx graph":    {reads("graph", "-"), {args: []string{"graph", "my-skill"}, stdin: "x"}}, "fsmtx schema": one("schema"),
		"fsmtx locate": one("locate"), "fsmtx plan": {reads("plan", "-"), {args: []string{"plan", "my-skill"}, stdin: "x"}},
		"fsmtx status":     {hook("x", "status", "--list", "s"), hook("x", "status", "--all")},
		"fsmtx statusline": {reads("statusline"), hook(`{"session_id": "s"}`, "statusline", "--also")},
		"fsmtx log":        {hook("x", "log", "--list", "s"), hook("x", "log", "--list", "s", "--decisions")},
		"fsmtx undo":       one("undo", "--list", "s", "--dry-run"),
		"fsmtx test":       one("test"),
		"fsmtx report":     {hook("x", "report"), hook("x", "report", "--all")},
		"fsmtx recover":    {hook("x", "recover")},
		"fsmtx attest":     one("attest", "--list", "s"), "fsmtx verify": one("verify", "none"),
		"fsmtx doctor":  one("doctor"),
		"fsmtx install": {hook("x", "install", "--check"), hook("x", "install", "--print"), hook("x", "install", "--remove", "--purge")},
		"fsmtx plugin":  one("plugin", "p"), "fsmtx demo": one("demo"), "fsmtx version": one("version"),
		"fsmtx hydrate":     {reads("hydrate"), hook(aSkillWasCalled, "hydrate"), hook("x", "hydrate", "--nonsense")},
		"fsmtx step":        one("step"),
		"fsmtx step skip":   one("step", "skip", "3", "--because", "x", "--list", "s"),
		"fsmtx step done":   one("step", "done", "3", "--because", "x", "--list", "s"),
		"fsmtx step reopen": one("step", "reopen", "3", "--because", "x", "--list", "s"),
		"fsmtx step move":   one("step", "move", ".", "--because", "x", "--list", "s"),
		"fsmtx step reload": one("step", "reload", "my-skill", "--because", "x", "--list", "s"),
		"fsmtx step end":    one("step", "end", "3", "--because", "x", "--list", "s"), "fsmtx step allow": one("step", "allow", "Edit",
			"--because", "x", "--list", "s"),
		"fsmtx mcp":   {{args: []string{"mcp"}, gently: true}, {[]string{"mcp"}, mcpSession, true}},
		"fsmtx guard": {reads("guard", "H04"), hook("x", "guard", "H99")}, "fsmtx guard list": one("guard", "list"),
		"fsmtx guard explain": {reads("guard", "explain", "H04"), hook(tool, "guard", "explain", "H04")},
		"fsmtx guard reset":   one("guard", "reset", "s"), "fsmtx guard unlock": one("guard", "unlock"),
		"fsmtx guard skill-files": {reads("guard", "skill-files"), hook("x", "guard", "skill-files")},
		"fsmtx hooks":             one("hooks"), "fsmtx hooks fire": {reads("hooks", "fire", "PreToolUse"), hook(tool, "hooks", "fire",
			"PreToolUse", "--dialect", "claude")}, "fsmtx hooks eval": {reads("hooks", "eval"), hook("x", "hooks", "eval")},
		"fsmtx hooks tool":  {reads("hooks", "tool", "x", "--input", "-", "--", "true"), hook("x", "hooks", "tool", "x", "--", "true")},
		"fsmtx hooks model": {reads("hooks", "model", "--", "true"), hook("{}", "hooks", "model", "--", "true")},
		"fsmtx hooks list":  one("hooks", "list"), "fsmtx hooks check": one("hooks", "check", "none"),
		"fsmtx hooks status": one("hooks", "status"),
	}
}

// TestSignalsEndEveryCommand: SIGHUP ends every command that is blocked in reading or writing,
// by the signal itself or with exit code 128 plus its number. SIGTERM and SIGINT do the same,
// which is tested for two commands. A command without a row fails the test.
func TestSignalsEndEveryCommand(t *testing.T) {
	worlds.Long(t)
	t.Parallel() // it mostly waits
	if !canSeeSystemCalls() {
		t.Skip("/proc/PID/task/TID/syscall, which shows whether a process is blocked, cannot be read here")
	}
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP) // so that it is not ignored by what is started here, as it is under nohup
	defer signal.Stop(received)
	calls := stuckCalls()
	eachCommand(true, func(_ *cobra.Command, path string) {
		assert.NotEmpty(t, calls[path], "%s has no row in this test", path)
	})
	var all sync.WaitGroup
	slots := make(chan struct{}, 8) // more than there are processors, because the processes mostly wait
	end := func(row stuck, s syscall.Signal) {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			endStuck(t, row, s)
		})
	}
	for _, rows := range calls {
		for _, row := range rows {
			end(row, syscall.SIGHUP)
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		end(stuck{args: []string{"hydrate"}, stdin: aSkillWasCalled}, s)
		end(stuck{args: []string{"status", "--list", "s"}, stdin: "x"}, s)
	}
	all.Wait()
}

func endStuck(t *testing.T, row stuck, s syscall.Signal) {
	about := fmt.Sprintf("fsmtx %q with %v", row.args, s)
	home, err := os.MkdirTemp("", "fsmtx-test-")
	if !assert.NoError(t, err) {
		return
	}
	defer os.RemoveAll(home)
	c := stuckProgram(t, home, row.args...)
	out := fullPipe(t)
	defer out.close()
	c.Stdout, c.Stderr = out.write, out.write
	fd, number := []string{"0x1", "0x2"}, uintptr(unix.SYS_WRITE)
	if row.stdin == "" {
		var in *os.File
		r, w, err := os.Pipe()
		if !assert.NoError(t, err) {
			return
		}
		defer w.Close()
		defer r.Close()
		in, fd, number = r, []string{"0x0"}, unix.SYS_READ
		c.Stdin = in
	} else {
		c.Stdin = tempFile(t, home, row.stdin)
	}
	if !assert.NoError(t, c.Start(), about) {
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	if !waitUntilStuck(c.Process.Pid, number, fd, ended) {
		_ = c.Process.Kill()
		assert.Fail(t, "not stuck", about)
		return
	}
	assert.NoError(t, c.Process.Signal(s))
	select {
	case err := <-ended:
		if err == nil && row.gently {
			break
		}
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !assert.True(t, ok, "%s: %v", about, err) {
			return
		}
		status := failed.Sys().(syscall.WaitStatus)
		atOnce := row.stdin == "" && !row.gently // a command that reads has nothing to end first
		assert.True(t, status.Signaled() && status.Signal() == s || !atOnce && status.ExitStatus() == 128+int(s), "%s: %v", about, failed)
	case <-time.After(untilEnded):
		_ = c.Process.Kill()
		assert.Fail(t, "still running", about)
	}
	if usesList(row.args) {
		assertWholeList(t, home, about)
	}
}

// usesList reports whether the command reads or changes a task list.
func usesList(args []string) bool {
	return len(args) > 0 && slices.Contains([]string{"hydrate", "hook", "step", "status", "statusline", "log", "undo", "recover",
		"install", "doctor", "mcp"}, args[0])
}

// stuckProgram returns a call in a home with a skill and a task list. If the command uses the
// list, the skill has been hydrated.
func stuckProgram(t *testing.T, home string, args ...string) *exec.Cmd {
	write := func(name, text string) { put(t, filepath.Join(home, name), text) }
	write(".claude/skills/my-skill/SKILL.md", "x")
	write(".claude/skills/my-skill/fsm.json", `[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b", "blockedBy": [1]}]`)
	write(".claude/tasks/s/1.json", `{"id": "1", "subject": "mine", "description": "", "status": "pending", "blocks": [], "blockedBy": []}`)
	write("state/planning-hooks-s.log", "[2026-01-02T15:04:05Z] H04: DENY | x\n")
	write("lock-holder", "")
	program.Link(t, filepath.Join(home, "bin"))
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"),
		"PLANNING_STATE_DIR=" + filepath.Join(home, "state"), "TMPDIR=" + home, raceOptions}
	run := func(stdin string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(home, "bin/fsmtx"), args...)
		c.Dir, c.Env = home, env
		if stdin != "" {
			c.Stdin = strings.NewReader(stdin)
		}
		return c
	}
	if usesList(args) {
		first, err := run(aSkillWasCalled, "hydrate").CombinedOutput()
		assert.NoError(t, err, "%s", first)
	}
	return run("", args...)
}

// assertWholeList checks that the list has the person's task and one whole workflow, and that
// nothing is left to recover.
func assertWholeList(t *testing.T, home, about string) {
	c := exec.Command(filepath.Join(home, "bin/fsmtx"), "recover")
	c.Dir, c.Env = home, []string{"HOME=" + home, raceOptions}
	out, err := c.CombinedOutput()
	assert.NoError(t, err, "%s: %s", about, out)
	files, err := filepath.Glob(filepath.Join(home, ".claude/tasks/s/*.json"))
	assert.NoError(t, err)
	var workflow int
	for _, path := range files {
		data, err := os.ReadFile(path)
		assert.NoError(t, err)
		if bytes.Contains(data, []byte(`"fsm"`)) {
			workflow++
		}
	}
	assert.Contains(t, files, filepath.Join(home, ".claude/tasks/s/1.json"), about)
	assert.Equal(t, 2, workflow, about)
}

func tempFile(t *testing.T, dir, text string) *os.File {
	path := filepath.Join(dir, "stdin")
	assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	f, err := os.Open(path)
	assert.NoError(t, err)
	return f
}

// pipe is a full pipe.
type pipe struct{ read, write *os.File }

func (p pipe) close() { p.read.Close(); p.write.Close() }

func fullPipe(t *testing.T) pipe {
	var fds [2]int
	require.NoError(t, unix.Pipe2(fds[:], unix.O_CLOEXEC))
	require.NoError(t, unix.SetNonblock(fds[1], true))
	for {
		if _, err := unix.Write(fds[1], make([]byte, 4096)); err != nil {
			break
		}
	}
	for {
		if _, err := unix.Write(fds[1], []byte{0}); err != nil {
			break
		}
	}
	require.NoError(t, unix.SetNonblock(fds[1], false))
	return pipe{os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe")}
}

// waitUntilStuck waits until a thread of the process is in this system call on one of the
// descriptors. It returns false if the process ends first or does not block in time.
func waitUntilStuck(pid int, call uintptr, fds []string, ended chan error) bool {
	deadline := time.After(untilBlocked)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case err := <-ended:
			ended <- err
			return false
		case <-deadline:
			return false
		}
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		for _, path := range threads {
			data, _ := os.ReadFile(path)
			words := strings.Fields(string(data))
			if len(words) < 2 || words[0] != strconv.Itoa(int(call)) {
				continue
			}
			for _, fd := range fds {
				if words[1] == fd {
					return true
				}
			}
		}
	}
}

// canSeeSystemCalls reports whether this process can see the current system call of a child.
func canSeeSystemCalls() bool {
	c := exec.Command("sleep", "60")
	if c.Start() != nil {
		return false
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", c.Process.Pid))
	return err == nil && len(data) > 0
}

// TestABlockedLogDoesNotBlockAHook: a hook answers and ends although its log is a FIFO without
// a reader, or a full one.
func TestABlockedLogDoesNotBlockAHook(t *testing.T) {
	home := t.TempDir()
	log := filepath.Join(home, "log")
	require.NoError(t, syscall.Mkfifo(log, 0o600))
	c := stuckProgram(t, home, "hydrate", "--log", log)
	c.Stdin = strings.NewReader(aSkillWasCalled)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "cannot log the decision: open "+log, "it has no reader")

	held, err := os.OpenFile(log, os.O_RDWR|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer held.Close()
	for err == nil {
		_, err = unix.Write(int(held.Fd()), make([]byte, 4096))
	}
	c = exec.Command(c.Path, c.Args[1:]...)
	c.Dir, c.Env, c.Stdin = home, []string{"HOME=" + home, raceOptions}, strings.NewReader(aSkillWasCalled)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	require.NoError(t, c.Run())
	assert.Equal(t, "{\"continue\": true}\n", stdout.String(), "the answer comes first")
	assert.Contains(t, stderr.String(), "cannot log the decision: write "+log+": i/o timeout")
	assertWholeList(t, home, "hydrate")
}

// TestWatchStopsAndGoesOn on ^Z in a shell with job control, which has its own screen and mode of the terminal meanwhile.
// Where no shell would continue it, ^Z changes nothing.
func TestWatchStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	p := newPiped(t)
	for _, c := range []struct {
		name, line string
		shell      bool
	}{
		{"in a shell", "fsmtx status --watch --list s; stty -a | grep -o .icanon; echo stopped; fg; echo ended", true},
		{"without a shell", "exec fsmtx status --watch --list s", false},
	} {
		cmd := exec.Command("sh", "-mc", c.line)
		cmd.Dir = filepath.Join(p.root, "project")
		cmd.Env = []string{"HOME=" + filepath.Join(p.root, "home"), "PATH=" + p.bin + ":/usr/bin:/bin", "TERM=xterm", "FSMTX_TEST_CALLER=person",
			raceOptions}
		terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
		require.NoError(t, err, c.name)
		tooLong := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		out := bufio.NewReader(terminal)
		see := func(text string) {
			t.Helper()
			for seen := ""; !strings.HasSuffix(seen, text); {
				b, err := out.ReadByte()
				require.NoError(t, err, "%s: want %q in %q", c.name, text, seen)
				seen += string(rune(b))
			}
		}
		press := func(key string) {
			t.Helper()
			_, err := terminal.WriteString(key)
			require.NoError(t, err, c.name)
		}
		const enter, leave, bottom = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "d shows all that is done"
		see(enter)
		see(bottom)
		press("\x1a")
		see(leave)
		if c.shell {
			see(" icanon")
			see("stopped")
		}
		see(enter)
		see(bottom)
		press("q")
		see(leave)
		if c.shell {
			see("ended")
		}
		require.NoError(t, cmd.Wait(), c.name)
		tooLong.Stop()
		require.NoError(t, terminal.Close())
	}
}
