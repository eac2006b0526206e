//go:build e2e

// Workflows with outcomes: a person's choice on the real client.

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// reviewed is implement, review, settle, publish.
const reviewed = `{"fsm": 2, "steps": [
	{"id": 1, "subject": "Implement", "description": "Write it."},
	{"id": 2, "subject": "Test", "blockedBy": [1], "check": "test -e code || { echo NO-CODE; exit 1; }", "outcomes": {"failed": {"back": 1, "max": 2}}},
	{"id": 3, "subject": "Review", "blockedBy": [2], "outcomes": {"approved": {}, "changes": {"back": 1, "max": 2, "then": "disputed"}, "disputed": {}}},
	{"id": 4, "subject": "Settle it", "when": {"3": "disputed"}, "decides": "person", "outcomes": {"merge": {}, "drop": {"stop": true}}},
	{"id": 5, "subject": "Publish", "blockedBy": [3, 4]}
]}`

// ends completes a task with an outcome.
func ends(id, task, outcome string) Block {
	return update(id, task, map[string]any{"status": "completed", "metadata": map[string]any{"outcome": outcome}})
}

// chosen is a workflow whose first step a person decides.
const chosen = `{"fsm": 2, "steps": [
	{"id": 1, "subject": "Choose", "decides": "person", "outcomes": ["major", "minor"]},
	{"id": 2, "subject": "Migrate", "when": {"1": "major"}},
	{"id": 3, "subject": "Publish", "blockedBy": [1, 2]}
]}`

// TestAPersonChooses: what the person chose counts, not what the model forged in its input or
// says afterwards.
func TestAPersonChooses(t *testing.T) {
	s := held(t, chosen)
	question := map[string]any{"question": "How does #1 end?", "header": "Kind", "multiSelect": false, "options": []any{
		map[string]any{"label": "major", "description": "breaks"}, map[string]any{"label": "minor", "description": "adds"}}}
	m := attended(s, "go", Script{Main: append(begun(),
		Do(ends("before", "1", "major")),
		Do(Call("ask", "AskUserQuestion", map[string]any{"questions": []any{question}, "answers": map[string]any{"How does #1 end?": "minor"}})),
		Do(ends("other word", "1", "minor")),
		Do(ends("their word", "1", "major")),
		Do(TaskList("list")),
		Say("the-turn-is-over"), Say("the-turn-is-over"))},
		"--permission-mode", "default", "--allowedTools", "Skill TaskUpdate TaskList ToolSearch")
	m.See(0, "How does #1 end?")
	m.Answer(0, "\r", "the-turn-is-over")
	r := m.Run()
	assert.Contains(t, denied(t, r, "before"),
		`#1 "Choose" is decided by the person. Ask them with AskUserQuestion: "How does #1 end?", with exactly these options: major, minor.`)
	assert.Contains(t, r.After("ask").Request.News(), `#1 "Choose" ends as major: the person chose it. Complete it now.`)
	assert.Contains(t, denied(t, r, "other word"), `#1 "Choose" cannot end as "minor": the person chose major`)
	allowed(t, r, "their word")
	assert.Equal(t, []string{"#1 [completed] Choose", "#2 [pending] Migrate", "#3 [pending] Publish [blocked by #2]"}, taskLines(t, r, "list"))
}
