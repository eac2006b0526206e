package sessions

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Commands are what sessions call besides programs.
var Commands map[string]func(*testscript.TestScript, bool, []string)

func init() {
	Commands = map[string]func(*testscript.TestScript, bool, []string){"code": code, "expand": expand, "event": skillCalled,
		"cmptask": cmptask, "update": update, "does": does, "calls": calls, "call": useTool, "becomes": becomes, "interrupt": interrupt,
		"forge": forge, "runs": runs, "background": inBackground, "listing": listing,
		"ahead": ahead, "plant": plant, "asked": asked, "agrees": agrees, "nodurations": noDurations}
}

// code runs a program and compares its exit code: code 2 fsmtx install --check.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// expand replaces $VARIABLE in files: expand event.json.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: expand file...")
	}
	for _, file := range args {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(os.Expand(ts.ReadFile(file), ts.Getenv)), 0o644))
	}
}

// skillCalled writes event.json: what the client sends when the model has called a skill
// from the directory project: event my-skill.
func skillCalled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: event skill")
	}
	text := fmt.Sprintf(`{"session_id": "abc-123", "cwd": %q, "hook_event_name": "PostToolUse", "tool_name": "Skill",
"tool_input": {"skill": %[2]q}, "tool_response": {"success": true, "commandName": %[2]q}}`, ts.MkAbs("project"), args[0])
	ts.Check(os.WriteFile(ts.MkAbs("event.json"), []byte(text), 0o644))
}

// cmptask compares a task file with a file of the session. Only the latter ends with a line
// feed.
func cmptask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cmptask task golden")
	}
	if got, want := ts.ReadFile(args[0])+"\n", ts.ReadFile(args[1]); got != want {
		ts.Fatalf("%s: got\n%swant\n%s", args[0], got, want)
	}
}

// update writes update.json: what the client sends before it changes the status of a
// task: update 2 completed.
func update(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: update task status [outcome or metadata]")
	}
	metadata := ""
	if len(args) == 3 {
		metadata = fmt.Sprintf(`, "metadata": {"outcome": %q}`, args[2])
		if strings.HasPrefix(args[2], "{") {
			metadata = `, "metadata": ` + args[2]
		}
	}
	text := fmt.Sprintf(`{"session_id": "abc-123", "cwd": %q, "hook_event_name": "PreToolUse", "tool_name": "TaskUpdate",
"tool_input": {"taskId": %q, "status": %q%s}, "tool_use_id": "toolu_%d"}`, ts.MkAbs("project"), args[0], args[1], metadata, updates.Add(1))
	ts.Check(os.WriteFile(ts.MkAbs("update.json"), []byte(text), 0o644))
}

// useTool writes call.json, the event of a call of a tool: call Bash git push, or call Write a.go.
func useTool(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: call tool [word...]")
	}
	member, text := "command", strings.Join(args[1:], " ")
	if strings.HasSuffix(args[0], "Edit") || args[0] == "Write" {
		member = "file_path"
	}
	text = fmt.Sprintf(`{"session_id": "abc-123", "cwd": %q, "hook_event_name": "PreToolUse", "tool_name": %q,
"tool_input": {%q: %q}}`, ts.MkAbs("project"), args[0], member, text)
	ts.Check(os.WriteFile(ts.MkAbs("call.json"), []byte(text), 0o644))
}

// updates makes the id of each update unique.
var updates atomic.Int64

// becomes changes the status of a task as the client does: becomes 2 completed.
func becomes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: becomes task status")
	}
	path := ts.MkAbs("home/.claude/tasks/abc-123/" + args[0] + ".json")
	text, err := os.ReadFile(path)
	ts.Check(err)
	status := regexp.MustCompile(`"status": *"[a-z_]*"`)
	if !status.Match(text) {
		ts.Fatalf("%s has no status", path)
	}
	ts.Check(os.WriteFile(path, status.ReplaceAll(text, []byte(`"status": "`+args[1]+`"`)), 0o644))
}

// runs lets the agent run a line in its shell: the client's hook before it, the line, and the hook after it. The last line of evidence
// is printed. With ! the hook before it has to refuse: runs 'fsmtx complete 2'.
func runs(ts *testscript.TestScript, neg bool, args []string) { runLine(ts, neg, args, false) }

// inBackground is runs of a line that runs on after its call is over.
func inBackground(ts *testscript.TestScript, neg bool, args []string) { runLine(ts, neg, args, true) }

func runLine(ts *testscript.TestScript, neg bool, args []string, background bool) {
	if len(args) != 1 {
		ts.Fatalf("usage: runs line")
	}
	input, err := json.Marshal(map[string]any{"command": args[0], "run_in_background": background})
	ts.Check(err)
	hook := func(event string) error {
		if !isSelected(args[0]) {
			return nil
		}
		text := fmt.Sprintf(`{"session_id": "abc-123", "cwd": %q, "hook_event_name": %q, "tool_name": "Bash", "tool_use_id": "toolu_%d",
"tool_input": %s, "tool_response": {}}`, ts.MkAbs("project"), event, updates.Load(), input)
		ts.Check(os.WriteFile(ts.MkAbs("line.json"), []byte(text), 0o644))
		return ts.Exec("sh", "-c", "CLAUDECODE=1 AI_AGENT=claude-code_2_harness CLAUDE_PID=$PPID CLAUDE_CODE_SESSION_ID=abc-123 "+
			"fsmtx hook $HOOK_FLAGS < "+ts.MkAbs("line.json"))
	}
	updates.Add(1)
	if err := hook("PreToolUse"); neg != (err != nil) {
		ts.Fatalf("runs %v: %v", args, err)
	}
	if neg {
		return
	}
	if background {
		ts.Check(hook("PostToolUse"))
	}
	_ = ts.Exec("sh", "-c", "cd "+ts.MkAbs("project")+" && export CLAUDECODE=1 AI_AGENT=claude-code_2_agent CLAUDE_CODE_SESSION_ID=abc-123 "+
		"FSMTX_TEST_LINE="+shell.Quote(args[0])+" && eval "+shell.Quote(args[0]))
	if !background {
		ts.Check(hook("PostToolUse"))
	}
	ts.Check(ts.Exec("tail", "-n", "1", ts.MkAbs("home/.claude/tasks/.abc-123.fsmtx/steps.jsonl")))
}

// isSelected reports whether a hook of PreToolUse is registered for a line of the shell.
func isSelected(line string) bool {
	return slices.ContainsFunc(settings.Hooks(settings.Program, nil, settings.Duty{}), func(h settings.Hook) bool {
		rule, ok := strings.CutPrefix(h.If, "Bash(*")
		rule, closed := strings.CutSuffix(rule, "*)")
		return ok && closed && h.Event == client.PreToolUse && strings.Contains(line, rule)
	})
}

// does lets the agent update a task: the hook before it, with the flags in HOOK_FLAGS, the update, and the hook after it,
// whose output is left. With ! the hook before it has to refuse: does 2 completed.
func does(ts *testscript.TestScript, neg bool, args []string) {
	update(ts, false, args)
	if err := ts.Exec("sh", "-c", "fsmtx hook $HOOK_FLAGS < update.json"); neg != (err != nil) {
		ts.Fatalf("does %v: %v", args, err)
	}
	if neg {
		return
	}
	status := args[1]
	if strings.Contains(ts.ReadFile("stdout"), `"status":"pending"`) { // rewritten
		status = "pending"
	}
	becomes(ts, false, []string{args[0], status})
	text := strings.Replace(ts.ReadFile("update.json"), "PreToolUse", "PostToolUse", 1)
	ts.Check(os.WriteFile(ts.MkAbs("seen.json"), []byte(text), 0o644))
	ts.Check(ts.Exec("sh", "-c", "fsmtx hook $HOOK_FLAGS < seen.json"))
}

// ahead makes the evidence, and what the person was told of it, look as if the clock had been ten years ahead then.
func ahead(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: ahead")
	}
	dir, year := ts.MkAbs("home/.claude/tasks/.abc-123.fsmtx"), time.Now().UTC().Year()
	later := strings.NewReplacer(fmt.Sprintf(`"%d-`, year), fmt.Sprintf(`"%d-`, year+10))
	var all strings.Builder
	for line := range strings.Lines(ts.ReadFile(dir + "/steps.jsonl")) {
		_, object, _ := strings.Cut(strings.TrimRight(line, "\n"), `",`) // behind the sum
		object = "{" + later.Replace(object)
		fmt.Fprintf(&all, "{\"sum\":\"%08x\",%s\n", crc32.ChecksumIEEE([]byte(object)), object[1:])
	}
	ts.Check(os.WriteFile(dir+"/steps.jsonl", []byte(all.String()), 0o644))
	ts.Check(os.WriteFile(dir+"/session.json", []byte(later.Replace(ts.ReadFile(dir+"/session.json"))), 0o644))
}

// calls lets the agent call a skill; the reply of the hook is left. With ! it has to fail:
// calls notes.
func calls(ts *testscript.TestScript, neg bool, args []string) {
	skillCalled(ts, false, args[:1])
	if err := ts.Exec("sh", "-c", "fsmtx hydrate --announce "+strings.Join(args[1:], " ")+" < event.json"); neg != (err != nil) {
		ts.Fatalf("calls %v: %v", args, err)
	}
}

// asked writes the question of a hook to standard output: asked reply.json.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asked reply.json")
	}
	var reply struct {
		Specific struct {
			Decision string         `json:"permissionDecision"`
			Reason   string         `json:"permissionDecisionReason"`
			Input    jsontext.Value `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &reply))
	if got := reply.Specific; got.Decision != "ask" || got.Input != nil {
		ts.Fatalf("%s: the decision is %q, want ask; the call is changed: %s", args[0], got.Decision, got.Input)
	}
	fmt.Fprintln(ts.Stdout(), reply.Specific.Reason)
}

// agrees runs the call of the shell that an event is about, as the client does after a yes: agrees event.json. What it prints is left.
func agrees(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] agrees event.json")
	}
	var event struct {
		Input struct {
			Command string `json:"command"`
		} `json:"tool_input"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &event))
	if err := ts.Exec("sh", "-c", "true && eval "+shell.Join(event.Input.Command)+" && true"); neg != (err != nil) {
		ts.Fatalf("agrees %s: %v", args[0], err)
	}
}

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
		ts.Check(files.Mkfifo(path, 0o644))
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
