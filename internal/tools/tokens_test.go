package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// long is a workflow of twelve steps with two loops; each step has a description of two
// sentences.
func long() string {
	var steps []string
	for id := 1; id <= 12; id++ {
		more := ""
		switch id {
		case 1:
		case 5:
			more = `, "blockedBy": [4], "check": "test -e code", "outcomes": {"failed": {"back": 3, "max": 3}}`
		case 9:
			more = `, "blockedBy": [8], "outcomes": {"approved": {}, "changes": {"back": 6, "max": 3}}`
		default:
			more = fmt.Sprintf(`, "blockedBy": [%d]`, id-1)
		}
		steps = append(steps, fmt.Sprintf(`{"id": %d, "subject": "Do part %[1]d of the work", "description": "Do what part %[1]d asks for, `+
			`with a test. Say in one sentence what you found."%s}`, id, more))
	}
	return `{"fsm": 2, "steps": [` + strings.Join(steps, ", ") + `]}`
}

// TestWhatAWorkflowSays counts what the model reads from the hooks while it works a workflow of
// twelve steps from first to last, with each of its two loops taken once and one refusal. The
// documentation has the figures.
func TestWhatAWorkflowSays(t *testing.T) {
	home := t.TempDir()
	skill := filepath.Join(home, ".claude/skills/long")
	require.NoError(t, os.MkdirAll(skill, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("Work.\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "fsm.json"), []byte(long()), 0o644))
	env := map[string]string{"HOME": home, "CLAUDE_PROJECT_DIR": home, "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1", "PATH": os.Getenv("PATH")}

	said := func(event map[string]any, args ...string) (text, status string) {
		event["session_id"], event["cwd"] = "s", home
		in, err := json.Marshal(event)
		require.NoError(t, err)
		var out, errs bytes.Buffer
		tools.Main(args, terminal.Streams{In: bytes.NewReader(in), Out: &out, Err: &errs, Caller: callers.Script,
			Getenv: func(name string) (string, bool) { value, set := env[name]; return value, set }})
		var answer struct {
			HookSpecificOutput struct {
				AdditionalContext string
				UpdatedInput      struct{ Status string }
			}
		}
		if out.Len() > 0 {
			require.NoError(t, json.Unmarshal(out.Bytes(), &answer))
		}
		return errs.String() + answer.HookSpecificOutput.AdditionalContext, answer.HookSpecificOutput.UpdatedInput.Status
	}
	total, words := 0, 0
	update := func(id int, status, outcome string) {
		input := map[string]any{"taskId": strconv.Itoa(id), "status": status}
		if outcome != "" {
			input["metadata"] = map[string]any{"outcome": outcome}
		}
		call := map[string]any{"hook_event_name": "PreToolUse", "tool_name": "TaskUpdate", "tool_use_id": fmt.Sprint("call", words),
			"tool_input": input}
		words++
		text, rewritten := said(call, "step")
		total += utf8.RuneCountInString(text)
		if strings.Contains(text, "cannot be") || rewritten != "" {
			return
		}
		path := filepath.Join(home, ".claude/tasks/s", strconv.Itoa(id)+".json")
		task, err := os.ReadFile(path)
		require.NoError(t, err)
		task = regexp.MustCompile(`"status": "\w+"`).ReplaceAll(task, []byte(`"status": "`+status+`"`))
		require.NoError(t, os.WriteFile(path, task, 0o644))
		call["hook_event_name"], call["tool_response"] = "PostToolUse", map[string]any{"success": true}
		text, _ = said(call, "step")
		total += utf8.RuneCountInString(text)
	}

	begin, _ := said(map[string]any{"hook_event_name": "PostToolUse", "tool_name": "Skill",
		"tool_response": map[string]any{"success": true, "commandName": "long"}}, "hydrate", "--announce")
	total = utf8.RuneCountInString(begin)
	update(12, "completed", "") // refused
	for _, id := range []int{1, 2, 3, 4, 5} {
		update(id, "in_progress", "")
		update(id, "completed", "") // the check of 5 fails
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "code"), []byte("x"), 0o644))
	for _, id := range []int{3, 4, 5, 6, 7, 8, 9, 6, 7, 8, 9, 10, 11, 12} {
		update(id, "in_progress", "")
		outcome := map[bool]string{true: "approved"}[id == 9]
		if id == 9 && !fileExists(filepath.Join(home, "reviewed")) {
			outcome = "changes"
			require.NoError(t, os.WriteFile(filepath.Join(home, "reviewed"), nil, 0o644))
		}
		update(id, "completed", outcome)
	}
	last, err := os.ReadFile(filepath.Join(home, ".claude/tasks/s/12.json"))
	require.NoError(t, err)
	require.Contains(t, string(last), `"status": "completed"`, "the workflow was worked to its end")

	figures := fmt.Sprintf("%d characters at the beginning and %d in all", utf8.RuneCountInString(begin), total)
	page, err := os.ReadFile("../../docs/write.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(page)), " "), figures)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
