//go:build unix

package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
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
	e, announced := hydratedExample(t, "long", long())
	// said counts an answer of a hook, and reports whether the update is carried out as it is.
	said := func(out, errs string) (count int, asItIs bool) {
		var answer struct {
			HookSpecificOutput struct {
				AdditionalContext string
				UpdatedInput      any
			}
		}
		if out != "" {
			require.NoError(t, json.Unmarshal([]byte(out), &answer))
		}
		of := answer.HookSpecificOutput
		return utf8.RuneCountInString(errs + of.AdditionalContext), errs == "" && of.UpdatedInput == nil
	}
	begin, _ := said(announced, "")
	total, calls := begin, 0
	update := func(step int, status, outcome string) {
		calls++
		input := map[string]any{"taskId": strconv.Itoa(step), "status": status}
		if outcome != "" {
			input["metadata"] = map[string]any{"outcome": outcome}
		}
		call := map[string]any{"hook_event_name": "PreToolUse", "tool_name": "TaskUpdate", "tool_use_id": fmt.Sprint("call", calls),
			"tool_input": input}
		out, errs, _ := e.run(call, "hook")
		count, asItIs := said(out, errs)
		total += count
		if !asItIs {
			return
		}
		e.carryOut(step, status)
		call["hook_event_name"], call["tool_response"] = "PostToolUse", map[string]any{"success": true}
		out, errs, _ = e.run(call, "hook")
		count, _ = said(out, errs)
		total += count
	}
	update(12, "completed", "") // refused
	for step := 1; step <= 5; step++ {
		update(step, "in_progress", "")
		update(step, "completed", "") // the check of 5 fails
	}
	e.write(map[string]string{"code": "x"})
	outcomes := []string{"changes", "approved"} // of 9
	for _, step := range []int{3, 4, 5, 6, 7, 8, 9, 6, 7, 8, 9, 10, 11, 12} {
		update(step, "in_progress", "")
		outcome := ""
		if step == 9 {
			outcome, outcomes = outcomes[0], outcomes[1:]
		}
		update(step, "completed", outcome)
	}
	last, err := os.ReadFile(filepath.Join(e.home, ".claude/tasks/example/12.json"))
	require.NoError(t, err)
	require.Contains(t, string(last), `"status": "completed"`, "the workflow was worked to its end")
	require.Contains(t, strings.Join(strings.Fields(text(t, "docs/write.md")), " "),
		fmt.Sprintf("%d characters at the beginning and %d in all", begin, total))
}
