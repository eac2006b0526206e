package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// readings counts how often each file of some directories is read and closed, and says which are written.
type readings struct {
	t  *testing.T
	fd int
}

func newReadings(t *testing.T, dirs ...string) *readings {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	for _, dir := range dirs {
		_, err := unix.InotifyAddWatch(fd, dir, unix.IN_ACCESS|unix.IN_CLOSE|unix.IN_MOVED_TO)
		require.NoError(t, err)
	}
	return &readings{t, fd}
}

// count returns the counts since the last call, by the names of the files.
func (r *readings) count() (read map[string]int, written map[string]bool) {
	read, written = map[string]int{}, map[string]bool{}
	accessed := map[string]bool{}
	for buf := make([]byte, 1<<16); ; {
		n, err := unix.Read(r.fd, buf)
		if err != nil {
			require.ErrorIs(r.t, err, unix.EAGAIN)
			return read, written
		}
		for at := 0; at < n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			require.Zero(r.t, e.Mask&unix.IN_Q_OVERFLOW)
			at += unix.SizeofInotifyEvent
			name := string(bytes.TrimRight(buf[at:at+int(e.Len)], "\x00"))
			at += int(e.Len)
			switch {
			case e.Mask&unix.IN_ACCESS != 0:
				accessed[name] = true
			case e.Mask&unix.IN_CLOSE_NOWRITE == 0:
				written[name], accessed[name] = true, false // what appends a line reads the last byte
			case accessed[name]: // else it was opened to be synced
				read[name]++
				accessed[name] = false
			}
		}
	}
}

// readWorld is a list in which everything that is read is counted.
type readWorld struct {
	worlds.Home
	t     *testing.T
	calls int
}

// run runs fsmtx as the person, as a command of the agent, or as a hook of the client.
func (w *readWorld) run(who caller.Kind, shell bool, stdin string, args ...string) string {
	var out, failed bytes.Buffer
	env := map[string]string{"HOME": w.Dir, "PATH": os.Getenv("PATH")}
	if shell {
		env["CLAUDECODE"], env["CLAUDE_CODE_SESSION_ID"] = "1", worlds.ListID
	}
	tools.Main(args, terminal.Streams{In: strings.NewReader(stdin), Out: &out, Err: &failed,
		Getenv: func(name string) (string, bool) { value, ok := env[name]; return value, ok }, Caller: func() caller.Caller {
			return caller.Caller{Kind: who, Program: map[bool]string{true: caller.Claude}[shell], Shell: shell, Terminal: "/dev/pts/7"}
		}})
	return out.String() + failed.String()
}

func (w *readWorld) hook(event string, members ...string) func() string {
	return func() string {
		w.calls++
		members := strings.ReplaceAll(strings.Join(members, ""), "USE", fmt.Sprintf("toolu_%d", w.calls))
		return w.run(caller.Script, false, fmt.Sprintf(
			`{"session_id": %q, "cwd": %q, "transcript_path": %q, "prompt_id": "p", `+
				`"hook_event_name": %q%s}`, worlds.ListID,
			w.Path("project"), w.Path(".claude/projects/p/"+worlds.ListID+".jsonl"), event, members), "hook")
	}
}

func (w *readWorld) update(event, task, status string) func() string {
	return w.hook(event, fmt.Sprintf(`, "tool_name": "TaskUpdate", "tool_use_id": "USE", "tool_input": {"taskId": %q, "status": %q}`,
		task, status))
}

// set does what the client does when an update is allowed.
func (w *readWorld) set(task, status string) {
	data, err := os.ReadFile(w.InList(task + ".json"))
	require.NoError(w.t, err)
	var members map[string]any
	require.NoError(w.t, json.Unmarshal(data, &members))
	members["status"] = status
	data, err = json.Marshal(members)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(w.InList(task+".json"), data, 0o644))
}

// TestOneReading: an event or a command reads the evidence and what is kept for sessions once, and each task that it does not write
// once, however often it has or takes the lock of the list: what nobody has changed since is not read again.
func TestOneReading(t *testing.T) {
	w := &readWorld{Home: worlds.New(t), t: t}
	w.Write(t, ".claude/skills/release/SKILL.md", "")
	w.Write(t, ".claude/skills/release/fsm.json", `{"fsm": 2, "steps": [{"id": 1, "subject": "One"},
{"id": 2, "subject": "Two", "blockedBy": [1], "check": "true"}, {"id": 3, "subject": "Three", "blockedBy": [2], "check": "exit 1"},
{"id": 4, "subject": "Four", "approval": "Good?"}, {"id": 5, "subject": "Five", "only": ["Bash(git push *)"]},
{"id": 6, "subject": "Six", "blockedBy": [4]}, {"id": 7, "subject": "Seven"}]}`)
	w.Write(t, "project/x", "")
	t.Chdir(w.Path("project"))
	w.Write(t, ".claude/projects/p/"+worlds.ListID+".jsonl",
		`{"type": "user", "promptId": "p", "message": {"role": "user", "content": "Begin."}}`+"\n")
	w.hook("PostToolUse", `, "tool_name": "Skill", "tool_use_id": "USE", "tool_input": {"skill": "release"}, `+
		`"tool_response": {"success": true, "commandName": "release"}`)()
	require.FileExists(t, w.InList("7.json"))
	w.update("PreToolUse", "7", "in_progress")() // so that there is evidence
	w.set("7", "in_progress")
	command := func(args ...string) func() string {
		return func() string { return w.run(caller.Agent, true, "", append(args, "--list", worlds.ListID)...) }
	}
	person := func(args ...string) func() string {
		return func() string { return w.run(caller.Person, false, "", append(args, "--list", worlds.ListID)...) }
	}
	w.AddTask(t, 8, `"status":"pending"`)
	all := newReadings(t, w.StateDir(), w.List())
	for _, c := range []struct {
		name string
		do   func() string
		want string // in what it prints
		then func()
	}{
		{"start", w.update("PreToolUse", "1", "in_progress"), "", func() { w.set("1", "in_progress") }},
		{"started", w.update("PostToolUse", "1", "in_progress"), "", nil},
		{"complete", w.update("PreToolUse", "1", "completed"), "", func() { w.set("1", "completed") }},
		{"completed", w.update("PostToolUse", "1", "completed"), "One", nil},
		{"blocked, after a wait", w.update("PreToolUse", "3", "in_progress"), "must be done first", nil},
		{"start of a step with a check", w.update("PreToolUse", "2", "in_progress"), "", func() { w.set("2", "in_progress") }},
		{"a check passes", w.update("PreToolUse", "2", "completed"), "", func() { w.set("2", "completed") }},
		{"a check has passed", w.update("PostToolUse", "2", "completed"), "Two", nil},
		{"a check fails", w.update("PreToolUse", "3", "completed"), "exit", nil},
		{"a question", w.update("PreToolUse", "4", "completed"), "Good?", nil},
		{"a call that belongs to a step", w.hook("PreToolUse", `, "tool_name": "Bash", "tool_use_id": "USE", `+
			`"tool_input": {"command": "git push o"}`), "belongs to #5", nil},
		{"another call", w.hook("PreToolUse", `, "tool_name": "Write", "tool_use_id": "USE", `+
			`"tool_input": {"file_path": "/x", "content": ""}`), "", nil},
		{"a prompt", w.hook("UserPromptSubmit", `, "prompt": "go on"`), "", nil},
		{"the end of a turn", w.hook("Stop"), "", nil},
		{"the end of a turn again", w.hook("Stop"), "", nil},
		{"a task is completed", w.hook("TaskCompleted", `, "task_id": "4", "task_subject": "Four"`), "", nil},
		{"compaction", w.hook("SessionStart", `, "source": "compact"`), "unfinished workflow", nil},
		{"status line", func() string {
			return w.run(caller.Script, false, fmt.Sprintf(`{"session_id": %q, "cwd": %q}`, worlds.ListID, w.Path("project")), "statusline")
		}, "", nil},
		{"next", command("next"), "", nil},
		{"a line that runs a command", w.hook("PreToolUse", `, "tool_name": "Bash", "tool_use_id": "USE", `+
			`"tool_input": {"command": "fsmtx start 5"}`), "", nil},
		{"an update beside it", w.update("PreToolUse", "7", "in_progress"), "", nil},
		{"start by a command", command("start", "5"), "in progress", nil},
		{"complete by a command", command("complete", "5"), "done", nil},
		{"complete what is blocked by a command", command("complete", "6"), "must be done first", nil},
		{"approve", person("step", "done", "4", "--because", "x"), "", nil},
		{"skip", person("step", "skip", "3", "--because", "x"), "skipped", nil},
		{"open again", person("step", "reopen", "3", "--because", "x"), "", nil},
		{"status", person("status"), "task 8", nil},
		{"log", person("log", "--decisions"), "Three", nil},
		{"graph", person("graph"), "Three", nil},
	} {
		long := time.Now().Add(-time.Hour) // what was written a moment ago may have been written to since
		for n := 1; n <= 8; n++ {
			require.NoError(t, os.Chtimes(w.InList(worlds.TaskName(n)), long, long))
		}
		_ = os.Chtimes(filepath.Join(w.StateDir(), "session.json"), long, long) // if it is there
		all.count()
		said := c.do()
		read, written := all.count()
		assert.Contains(t, said, c.want, c.name)
		assert.LessOrEqual(t, read["steps.jsonl"], 1, "%s: %s", c.name, said)
		if !written["session.json"] && c.name != "status" { // what was written is read again at the next taking of the lock
			assert.LessOrEqual(t, read["session.json"], 1, "%s: %s", c.name, said)
		}
		for name, n := range read {
			if strings.HasSuffix(name, ".json") && strings.Trim(filepath.Base(name), "0123456789.json") == "" && !written[name] {
				// what an undo would take is compared by its bytes
				most := map[bool]int{true: 1, false: 2}[c.name != "status" || name == "8.json"]
				assert.LessOrEqual(t, n, most, "%s: %s", c.name, name)
			}
		}
		if c.then != nil {
			c.then()
		}
	}
}

// TestOneReadingOfWhatChangesTheList: the same of what begins, takes back, moves and ends workflows, and of what tells of all of them.
func TestOneReadingOfWhatChangesTheList(t *testing.T) {
	w := &readWorld{Home: worlds.New(t), t: t}
	w.Write(t, ".claude/skills/release/SKILL.md", "")
	const release = `{"fsm": 2, "steps": [{"id": 1, "subject": "One"}, {"id": 2, "subject": "Two"}]}`
	w.Write(t, ".claude/skills/release/fsm.json", release)
	w.Write(t, ".claude/skills/notes/SKILL.md", "")
	w.Write(t, ".claude/skills/notes/fsm.json", `[{"id": 1, "subject": "Note"}]`)
	w.Write(t, "project/x", "")
	t.Chdir(w.Path("project"))
	for _, line := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "begin"}} {
		require.NoError(t, exec.Command("git", line...).Run())
	}
	w.Write(t, ".claude/projects/p/"+worlds.ListID+".jsonl",
		`{"type": "user", "promptId": "p", "message": {"role": "user", "content": "Begin."}}`+"\n")
	skill := func(name string) func() string {
		return w.hook("PostToolUse", fmt.Sprintf(`, "tool_name": "Skill", "tool_use_id": "USE", "tool_input": {"skill": %q}, `+
			`"tool_response": {"success": true, "commandName": %[1]q}`, name))
	}
	person := func(args ...string) func() string {
		return func() string { return w.run(caller.Person, false, "", append(args, "--list", worlds.ListID)...) }
	}
	skill("release")()
	w.update("PreToolUse", "1", "in_progress")() // so that there is evidence
	w.set("1", "in_progress")
	begins, _, _ := strings.Cut(mcpSession, `{"jsonrpc": "2.0", "id": 2,`)
	call := begins + `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "step_start", "arguments": ` +
		fmt.Sprintf(`{"step": 7, "session": %q}}}`, worlds.ListID) + "\n"
	// What compares the file before the lock and takes it under the lock, what looks for the workflow in every list, and what reads the
	// decisions and the runs, without the lock.
	twice := map[string]int{"reload": 2, "continue": 2, "mcp": 2, "report": 2}
	all := newReadings(t, w.StateDir(), w.List())
	for _, c := range []struct {
		name string
		do   func() string
		want string
	}{
		{"a skill", skill("notes"), "Note"},
		{"the same skill again", skill("notes"), "replaced #3"},
		{"undo", person("undo", "--force"), "undid"},
		{"undo more", person("undo", "--force", "2"), "undid"},
		{"reload", func() string {
			w.Write(t, ".claude/skills/release/fsm.json", strings.Replace(release, "Two", "Three", 1))
			return person("step", "reload", "release", "--because", "x")()
		}, "is taken"},
		{"continue", func() string {
			require.NoError(t, os.MkdirAll(filepath.Join(filepath.Dir(w.List()), "another"), 0o755))
			return w.run(caller.Person, false, "", "continue", "release", "--list", worlds.ListID, "--to", "another")
		}, "goes on"},
		{"begin", person("begin", "notes"), "Note"},
		{"mcp", func() string {
			return w.run(caller.Agent, true, call, "mcp")
		}, "in progress"},
		{"end", person("step", "end", "7", "--because", "x"), "ended"},
		{"status", person("status"), "Note"},
		{"log", person("log"), "created"},
		{"attest", person("attest", "--no-sign", "--print", "--open"), "statement"},
		{"report", func() string { return w.run(caller.Person, false, "", "report", "--all") }, "runs"},
	} {
		all.count()
		said := c.do()
		read, _ := all.count()
		assert.Contains(t, said, c.want, c.name)
		assert.LessOrEqual(t, read["steps.jsonl"], max(1, twice[c.name]), "%s: %s", c.name, said)
	}
}

// TestDeadHistoryIsNotRead: an event opens the record of the workflow in the list, once, and none of those that it has replaced.
func TestDeadHistoryIsNotRead(t *testing.T) {
	w := &readWorld{Home: worlds.New(t), t: t}
	w.Write(t, ".claude/skills/release/SKILL.md", "")
	w.Write(t, ".claude/skills/release/fsm.json", `{"fsm": 2, "steps": [{"id": 1, "subject": "One"},
{"id": 2, "subject": "Two", "only": ["Bash(git push *)"]}]}`)
	w.Write(t, "project/x", "")
	t.Chdir(w.Path("project"))
	const calls = 12
	for range calls {
		w.hook("PostToolUse", `, "tool_name": "Skill", "tool_use_id": "USE", "tool_input": {"skill": "release"}, `+
			`"tool_response": {"success": true, "commandName": "release"}`)()
	}
	first, last := "23", "24"
	require.FileExists(t, w.InList(last+".json"))
	dead, err := filepath.Glob(filepath.Join(w.StateDir(), "done-*"))
	require.NoError(t, err)
	require.Greater(t, len(dead), 9)
	all := newReadings(t, w.StateDir())
	person := func(args ...string) func() string {
		return func() string { return w.run(caller.Person, false, "", append(args, "--list", worlds.ListID)...) }
	}
	for _, c := range []struct {
		name string
		do   func() string
		want string
	}{
		{"start", w.update("PreToolUse", first, "in_progress"), ""},
		{"blocked", w.update("PreToolUse", "999", "completed"), ""},
		{"a call that belongs to a step", w.hook("PreToolUse", `, "tool_name": "Bash", "tool_use_id": "USE", `+
			`"tool_input": {"command": "git push o"}`), "belongs to #" + last},
		{"another call", w.hook("PreToolUse", `, "tool_name": "Write", "tool_use_id": "USE", `+
			`"tool_input": {"file_path": "/x", "content": ""}`), ""},
		{"a prompt", w.hook("UserPromptSubmit", `, "prompt": "go on"`), ""},
		{"the end of a turn", w.hook("Stop"), ""},
		{"compaction", w.hook("SessionStart", `, "source": "compact"`), "unfinished workflow"},
		{"next", person("next"), "One"},
		{"complete", person("step", "done", first, "--because", "x"), ""},
	} {
		all.count()
		said := c.do()
		read, _ := all.count()
		maps.DeleteFunc(read, func(name string, _ int) bool { return !strings.HasPrefix(name, "done-") })
		assert.Contains(t, said, c.want, c.name)
		assert.Equal(t, map[string]int{filepath.Base(dead[len(dead)-1]): 1}, read, "%s: %s", c.name, said)
	}
}

// TestListsOfOtherProjectsAreNotRead: whoever looks for the list of a project reads what is on record of the others, and neither their
// tasks nor what was decided.
func TestListsOfOtherProjectsAreNotRead(t *testing.T) {
	w := &readWorld{Home: worlds.New(t), t: t}
	w.Write(t, ".claude/skills/release/SKILL.md", "")
	w.Write(t, ".claude/skills/release/fsm.json", `[{"id": 1, "subject": "One"}]`)
	w.Write(t, "project/x", "")
	w.Write(t, "other/x", "")
	w.hook("PostToolUse", `, "tool_name": "Skill", "tool_use_id": "USE", "tool_input": {"skill": "release"}, `+
		`"tool_response": {"success": true, "commandName": "release"}`)()
	w.update("PreToolUse", "1", "in_progress")()
	all := newReadings(t, w.StateDir(), w.List())
	for _, c := range []struct {
		dir  string
		want []string
	}{{"project", []string{"1.json", "steps.jsonl"}}, {"other", nil}} {
		t.Chdir(w.Path(c.dir))
		all.count()
		said := w.run(caller.Person, false, "", "next")
		read, _ := all.count()
		delete(read, "")
		maps.DeleteFunc(read, func(name string, _ int) bool { return strings.HasPrefix(name, "done-") })
		assert.Equal(t, c.want, slices.Sorted(maps.Keys(read)), "%s: %s", c.dir, said)
	}
}

// TestOfAnotherProjectOneChangeIsRead: whoever looks for the list with open steps opens of the history of each other list what is needed
// of it, once, however often its skill was called.
func TestOfAnotherProjectOneChangeIsRead(t *testing.T) {
	w := &readWorld{Home: worlds.New(t), t: t}
	w.Write(t, ".claude/skills/release/SKILL.md", "")
	w.Write(t, ".claude/skills/release/fsm.json", `[{"id": 1, "subject": "One"}]`)
	w.Write(t, "project/x", "")
	w.Write(t, "other/x", "")
	call := func(list, dir string) {
		w.calls++
		w.run(caller.Script, false, fmt.Sprintf(`{"session_id": %q, "cwd": %q, "hook_event_name": "PostToolUse", "tool_name": "Skill",
"tool_use_id": "toolu_%d", "tool_input": {"skill": "release"}, "tool_response": {"success": true, "commandName": "release"}}`,
			list, w.Path(dir), w.calls), "hook")
	}
	call(worlds.ListID, "project")
	for range 4 {
		call("elsewhere", "other")
	}
	state := w.Path(".claude/tasks/.elsewhere.fsmtx")
	dead, err := filepath.Glob(filepath.Join(state, "done-*"))
	require.NoError(t, err)
	require.Len(t, dead, 4)
	t.Chdir(w.Path("project"))
	all := newReadings(t, state)
	assert.Contains(t, w.run(caller.Person, false, "", "next"), "One")
	read, _ := all.count()
	delete(read, "")
	assert.Equal(t, map[string]int{filepath.Base(dead[3]): 1}, read)
}
