//go:build e2e

// A skill in prose gets a workflow: fsmtx init, and the skill that it leaves to an agent.

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// talking describes steps in sentences, in which no parser finds any.
const talking = `---
name: talk
description: Prepare a talk
---
Before anything else find out who will listen and what they know. With that, draft an outline;
the speaker has to like it before you make slides.md of it.
`

// talked is the workflow of talking, as a person approves it.
const talked = `[
  {"id": 1, "subject": "Find out who will listen"},
  {"id": 2, "subject": "Draft an outline", "blockedBy": [1], "approval": "Do you like the outline?"},
  {"id": 3, "subject": "Make the slides", "blockedBy": [2], "produces": ["slides.md"]}
]`

// TestAnAgentWritesAWorkflow: where a text is beyond parsing, an agent proposes steps. It writes
// nothing without the person's yes, and is done when the file that it was to write is valid.
func TestAnAgentWritesAWorkflow(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	onPath(s)
	s.Write(projectSkills+"/talk/SKILL.md", talking)
	begun := s.Command("", fsmtx, "init", "--yes", "talk")
	require.Zero(t, begun.Code, begun)
	require.Contains(t, begun.Stdout, "type /write-workflow talk;")

	const folder = ".claude/skills/talk"
	spec := s.Path("project/" + folder + "/fsm.json")
	drafts := func(id, text string) Turn {
		return Do(Call(id, "Write", map[string]any{"file_path": spec, "content": text}))
	}
	nobody := s.Prompt(Script{Main: []Turn{
		Do(Call("skill", "Skill", map[string]any{"skill": "write-workflow", "args": "talk"})), load,
		Do(TaskUpdate("propose unread", "2", "in_progress")),
		Do(Call("read", "Read", map[string]any{"file_path": s.Path("project/" + folder + "/SKILL.md")}), Bash("schema", "fsmtx schema")),
		Do(gives("not that folder", "1", map[string]any{"folder": ".claude/skills"})),
		Do(gives("has read", "1", map[string]any{"folder": folder})),
		Do(Text("Find out who will listen; then draft an outline, which you approve; then make slides.md."),
			TaskUpdate("proposed", "2", "completed")),
		Do(TaskUpdate("nobody's yes", "3", "completed")),
		Do(TaskUpdate("write unapproved", "4", "in_progress")),
		drafts("unapproved", talked),
		Do(TaskList("list")),
		Say("Do you agree with these steps?"),
	}}, "write a workflow for talk")

	assert.Contains(t, denied(t, nobody, "propose unread"), `#1 "Read the skill and the format" must be done first`)
	assert.Contains(t, denied(t, nobody, "not that folder"), "there is no SKILL.md in .claude/skills")
	allowed(t, nobody, "read", "schema", "has read", "proposed")
	assert.Contains(t, denied(t, nobody, "nobody's yes"), "Are these the steps and gates, and may each of the commands run?")
	assert.Contains(t, denied(t, nobody, "write unapproved"), `#3 "Have the proposal approved" must be done first`)
	assert.Contains(t, denied(t, nobody, "unapproved"), `belongs to #4 "Write the workflow and validate it", which waits for #3`)
	assert.NoFileExists(t, spec)
	assert.Equal(t, "#3 [pending] Have the proposal approved", taskLines(t, nobody, "list")[2])

	person := s.Prompt(Script{Main: []Turn{
		load,
		Do(TaskUpdate("approved", "3", "completed")),
		Do(TaskUpdate("write", "4", "in_progress")),
		Do(TaskUpdate("nothing written", "4", "completed")),
		drafts("invalid", `[{"id": 1, "subject": "Find out who will listen", "blockedBy": [7]}]`),
		Do(TaskUpdate("invalid written", "4", "completed")),
		drafts("valid", talked),
		Do(Bash("graph", "fsmtx graph "+folder)),
		Do(TaskUpdate("written", "4", "completed")),
		Say("done"),
	}}, "I agree", saysYes(t, s)...)

	allowed(t, person, "approved", "write", "invalid", "valid", "graph", "written")
	assert.Contains(t, denied(t, person, "nothing written"), folder+"/fsm.json")
	assert.Contains(t, denied(t, person, "invalid written"), "no task with id 7")
	valid := s.Command("", fsmtx, "validate", "--strict", folder)
	assert.Zero(t, valid.Code, valid)

	s.Session = realclient.NewSession()
	r := s.Prompt(Script{Main: []Turn{load, Do(TaskList("list")), Say("Shall I begin?")}}, "/talk")
	assert.Equal(t, []string{"#1 [pending] Find out who will listen", "#2 [pending] Draft an outline [blocked by #1]",
		"#3 [pending] Make the slides [blocked by #2]"}, taskLines(t, r, "list"))
}
