//go:build e2e

// Workflows with outcomes: what the client makes of a rewritten update, and what the model
// and its list show of a loop, a branch and a choice.

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
	return Call(id, "TaskUpdate", map[string]any{"taskId": task, "status": "completed", "metadata": map[string]any{"outcome": outcome}})
}

func TestALoopAndABranch(t *testing.T) {
	s := held(t, reviewed)
	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("implement", "1", "completed")),
		Do(TaskUpdate("fail", "2", "completed")),
		Do(TaskList("after the failing check")),
		Do(Bash("write", "echo x > code")),
		Do(TaskUpdate("implement again", "1", "completed")),
		Do(TaskUpdate("test", "2", "completed")),
		Do(TaskUpdate("no word", "3", "completed")),
		Do(ends("wrong word", "3", "aproved")),
		Do(TaskUpdate("start the review", "3", "in_progress")),
		Do(ends("changes", "3", "changes")),
		Do(TaskList("after the changes")),
		Do(TaskUpdate("implement more", "1", "completed")),
		Do(TaskUpdate("test more", "2", "completed")),
		Do(ends("approve", "3", "approved")),
		Do(TaskList("after the approval")),
		Do(TaskUpdate("reopen", "2", "in_progress")),
		Do(TaskUpdate("publish", "5", "completed")),
		Say("done")), Agents: nil}, "go")
	allowed(t, r, "implement", "fail", "implement again", "test", "changes", "implement more", "test more", "approve", "publish")
	assert.Contains(t, r.After("fail").Request.News(),
		`Test: failed, time 1 of 2. #1 "Implement" and #2 "Test" are open again. Ready: #1 "Implement": Write it.`)
	assert.Contains(t, r.After("fail").Request.News(), "NO-CODE")
	assert.Equal(t, []string{"#1 [pending] Implement (round 2)", "#2 [pending] Test (round 2) [blocked by #1]",
		"#3 [pending] Review [blocked by #2]",
		"#4 [pending] Settle it [blocked by #3]", "#5 [pending] Publish [blocked by #3, #4]"}, taskLines(t, r, "after the failing check"))
	assert.Contains(t, denied(t, r, "no word"), `say how it ends. Complete it with metadata {"outcome": "approved"}, or with changes`)
	assert.Contains(t, denied(t, r, "wrong word"), `it cannot end as "aproved". Complete it with metadata {"outcome": "approved"}`)
	assert.Equal(t, []string{"#1 [pending] Implement (round 3)", "#2 [pending] Test (round 3) [blocked by #1]",
		"#3 [pending] Review (round 2 of 3) [blocked by #2]",
		"#4 [pending] Settle it [blocked by #3]", "#5 [pending] Publish [blocked by #3, #4]"}, taskLines(t, r, "after the changes"))
	assert.Contains(t, r.After("approve").Request.News(), `Not needed: #4 "Settle it". Ready: #5 "Publish"`)
	assert.Equal(t, []string{"#1 [completed] Implement (round 3)", "#2 [completed] Test (round 3)", "#3 [completed] Review (round 2 of 3)",
		"#4 [completed] Settle it (not needed: #3 ended as approved)", "#5 [pending] Publish"}, taskLines(t, r, "after the approval"))
	assert.Contains(t, denied(t, r, "reopen"), `#2 "Test" ended as done and is done`)
	assert.Equal(t, "done", stateOf(t, s).Step(5).Outcome)
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
	m := s.Attend(Script{Main: append(begun(),
		Do(ends("before", "1", "major")),
		Do(Call("ask", "AskUserQuestion", map[string]any{"questions": []any{question}, "answers": map[string]any{"How does #1 end?": "minor"}})),
		Do(ends("other word", "1", "minor")),
		Do(ends("their word", "1", "major")),
		Do(TaskList("list")),
		Say("the-turn-is-over"), Say("the-turn-is-over"))},
		"--permission-mode", "default", "--allowedTools", "Skill TaskUpdate TaskList ToolSearch")
	m.See(0, "❯")
	m.Enter("go")
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
