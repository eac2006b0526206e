//go:build e2e

// Skills within skills: where the steps of a skill come that is called in a step of another
// skill's workflow, and what the model reads of it.

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// releasing is build, write the notes (which demands the skill notes), publish.
const releasing = `{"fsm": 2, "steps": [
	{"id": 1, "subject": "Build"},
	{"id": 2, "subject": "Write the notes", "description": "For the users.", "blockedBy": [1], "do": "notes"},
	{"id": 3, "subject": "Publish", "blockedBy": [2]}
]}`

func TestASkillCalledWithinAStepComesUnderIt(t *testing.T) {
	s := held(t, releasing)
	skill(s, projectSkills, "notes", `[{"id": 1, "subject": "Collect"}, {"id": 2, "subject": "Draft", "blockedBy": [1]}]`)
	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("build", "1", "completed")),
		Do(TaskUpdate("start", "2", "in_progress")),
		Do(TaskUpdate("without the skill", "2", "completed")),
		Do(Skill("notes", "notes")),
		Do(TaskUpdate("too early", "2", "completed")),
		Do(TaskUpdate("collect", "4", "in_progress")),
		Do(Skill("within itself", "release")),
		Do(TaskUpdate("collected", "4", "completed")),
		Do(TaskUpdate("draft", "5", "completed")),
		Do(TaskList("list")),
		Do(TaskUpdate("written", "2", "completed")),
		Do(TaskUpdate("publish", "3", "completed")),
		Say("done"))}, "go")
	allowed(t, r, "build", "start", "collect", "collected", "draft", "written", "publish")
	assert.Contains(t, denied(t, r, "without the skill"), `#2 "Write the notes" cannot be completed: the skill notes has to be called first`)
	assert.Contains(t, r.After("notes").Request.News(), `This is part of the work of #2 "Write the notes" of release.`)
	assert.Contains(t, denied(t, r, "too early"),
		`under it is the workflow of notes, of which #4 "Collect" and #5 "Draft" are open. Ready now: #4 "Collect"`)
	assert.Contains(t, r.After("within itself").Request.News(),
		`"release": the skill is open already: #2 "Write the notes" of it has led to the workflow of notes`)
	assert.Contains(t, r.After("draft").Request.News(),
		`The workflow of notes is done. Go on with #2 "Write the notes" (the skill notes was called): For the users.`)
	assert.Equal(t, []string{"#1 [completed] Build", "#2 [in_progress] Write the notes", "#3 [pending] Publish [blocked by #2]",
		"#4 [completed] Collect", "#5 [completed] Draft"}, taskLines(t, r, "list"))
}
