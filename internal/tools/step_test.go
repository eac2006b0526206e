package tools_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

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

// does lets the agent update a task: the hook before it, the update, and the hook after it,
// whose output is left. With ! the hook before it has to refuse: does 2 completed.
func does(ts *testscript.TestScript, neg bool, args []string) {
	update(ts, false, args)
	if err := ts.Exec("sh", "-c", "fsmtx step < update.json"); neg != (err != nil) {
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
	ts.Check(ts.Exec("sh", "-c", "fsmtx step < seen.json"))
}

// calls lets the agent call a skill; the reply of the hook is left. With ! it has to fail:
// calls notes.
func calls(ts *testscript.TestScript, neg bool, args []string) {
	skillCalled(ts, false, args[:1])
	if err := ts.Exec("sh", "-c", "fsmtx hydrate --announce "+strings.Join(args[1:], " ")+" < event.json"); neg != (err != nil) {
		ts.Fatalf("calls %v: %v", args, err)
	}
}
