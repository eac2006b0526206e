//go:build e2e

// Workflows with outcomes: a person's choice, other updates in the message of a transition, and an update that something else stops.

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/state"
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
		`#1 "Choose" is decided by the person. Ask them with AskUserQuestion: "How does the step #1 \"Choose\" of the workflow release end?", `+
			`with exactly these options: major, minor.`)
	assert.Contains(t, r.After("ask").Request.News(), `#1 "Choose" ends as major: the person chose it. Complete it now.`)
	assert.Contains(t, denied(t, r, "other word"), `#1 "Choose" cannot end as "minor": the person chose major`)
	allowed(t, r, "their word")
	assert.Equal(t, []string{"#1 [completed] Choose", "#2 [pending] Migrate", "#3 [pending] Publish [blocked by #2]"}, taskLines(t, r, "list"))
}

// Fact 157: a rewritten update keeps to itself; what else is in the message is carried out as it is. Of two
// completions that lead back one does, and the other is refused.
func TestALoopBesideOtherUpdatesOfItsMessage(t *testing.T) {
	s := held(t, reviewed)
	r := s.Prompt(Script{Main: append(begun(),
		Do(Bash("write", "echo x > code")),
		Do(TaskCreate("own", "mine")),
		Do(TaskUpdate("implement", "1", "completed")),
		Do(TaskUpdate("test", "2", "completed")),
		Do(TaskUpdate("mine", "6", "in_progress"), ends("changes", "3", "changes"),
			update("note", "5", map[string]any{"metadata": map[string]any{"note": "kept"}})),
		Do(TaskList("list")),
		Do(TaskUpdate("implement again", "1", "completed")),
		Do(TaskUpdate("test again", "2", "completed")),
		Do(ends("one", "3", "changes"), ends("two", "3", "changes")),
		Do(TaskList("after both")),
		Say("done"))}, "go")
	allowed(t, r, "implement", "test", "mine", "changes", "note", "implement again", "test again")
	assert.Equal(t, []string{"#1 [pending] Implement (round 2)", "#2 [pending] Test (round 2) [blocked by #1]",
		"#3 [pending] Review (round 2 of 3) [blocked by #2]",
		"#4 [pending] Settle it [blocked by #3]", "#5 [pending] Publish [blocked by #3, #4]", "#6 [in_progress] mine"}, taskLines(t, r, "list"))
	assert.Contains(t, read(t, s, "home/.claude/tasks/"+s.Session+"/5.json"), `"note": "kept"`)
	one, _ := refused(t, r, "one")
	two, _ := refused(t, r, "two")
	assert.NotEqual(t, one, two, "one of them is refused")
	assert.Equal(t, 3, stateOf(t, s).Step(3).Round)
	assert.Contains(t, taskLines(t, r, "after both"), "#3 [pending] Review (round 3 of 3) [blocked by #2]")
}

// A completion that another hook stops counts no more once its call is over, so the agent can end
// the step in another way.
func TestAStoppedUpdateLapses(t *testing.T) {
	s := held(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Review", "outcomes": ["approved", "changes"]}, {"id": 2, "subject": "Publish", `+
		`"when": {"1": "approved"}}]}`)
	installHooks(t, s, hook{"PreToolUse", "TaskUpdate", `if grep -q approved; then echo NOT-APPROVED >&2; exit 2; fi`})
	// A real model takes long enough for the client to write the transcript.
	written := Bash("wait", `until grep -rq 'NOT-APPRO[V]ED' "$HOME/.claude/projects"; do sleep 0.1; done`)
	r := s.Prompt(Script{Main: append(begun(),
		Do(ends("approved", "1", "approved")),
		Do(written),
		Do(ends("changes", "1", "changes")),
		Say("done"))}, "go")
	assert.Contains(t, denied(t, r, "approved"), "NOT-APPROVED")
	allowed(t, r, "changes")
	found := stateOf(t, s)
	assert.Equal(t, "changes", found.Step(1).Outcome)
	assert.True(t, found.Step(2).NotNeeded)
	lapsed := 0
	for _, e := range found.Evidence {
		if e.Verdict == state.Lapsed {
			lapsed++
		}
	}
	assert.Equal(t, 1, lapsed)
}
