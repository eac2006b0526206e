//go:build e2e

// What a step produces is new, and a cycle of an array holds up none of its steps.

package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

func TestAFileOfTheLastReleaseIsRefusedOnce(t *testing.T) {
	s := held(t, gated(`"produces": ["CHANGELOG.md"]`))
	s.Write("project/CHANGELOG.md", "of the last release")
	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("complete", "1", "completed")),
		Do(TaskUpdate("complete again", "1", "completed")),
		Do(TaskList("list")),
		Say("done"))}, "go")
	assert.Contains(t, denied(t, r, "complete"), `#1 "Write" cannot be completed: CHANGELOG.md is as it was before the step was worked on. `)
	allowed(t, r, "complete again")
	assert.Contains(t, fmt.Sprint(r.Ran("PreToolUse")),
		`"systemMessage": "fsmtx: #1 \"Write\" is completed, and CHANGELOG.md was not changed for it`)
	assert.Equal(t, []string{"#1 [completed] Write", "#2 [pending] Publish"}, taskLines(t, r, "list"))
}

func TestACycleHoldsUpNoneOfItsSteps(t *testing.T) {
	s := held(t, `[{"id": 1, "subject": "Build", "blockedBy": [2]}, {"id": 2, "subject": "Test", "blockedBy": [1]},
		{"id": 3, "subject": "Tell", "blockedBy": [1, 2]}]`)
	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("tell", "3", "completed")),
		Do(TaskUpdate("build", "1", "completed")),
		Do(TaskUpdate("test", "2", "completed")),
		Do(TaskUpdate("tell again", "3", "completed")),
		Do(TaskList("list")),
		Say("done"))}, "go")
	assert.Contains(t, r.Told("skill"), "cycle 1 -> 2 -> 1: each task blocks the next, so none of them holds up another")
	assert.Contains(t, fmt.Sprint(r.Ran("PostToolUse")), `"systemMessage": "release: 3 tasks #1–#3; warning: fsm.json:1:46: cycle 1 -> 2 -> 1`)
	denied(t, r, "tell")
	allowed(t, r, "build", "test", "tell again")
	assert.Equal(t, []string{"#1 [completed] Build", "#2 [completed] Test", "#3 [completed] Tell"}, taskLines(t, r, "list"))
}

func TestARenamedProjectIsSaidToBeGone(t *testing.T) {
	s := held(t, gated(`"produces": ["notes.md"], "check": "test -e notes.md"`))
	r := s.Prompt(Script{Main: append(begun(),
		Do(Bash("rename", "echo x > notes.md && mv ../project ../renamed")),
		Do(TaskUpdate("gone", "1", "completed")),
		Do(Bash("decoy", "mkdir "+s.Project+" && echo x > "+s.Project+"/notes.md")),
		Do(TaskUpdate("in the decoy", "1", "completed")),
		Do(Bash("move", "fsmtx step move "+s.Path("renamed")+" --because renamed")),
		Say("done"))}, "go")
	assert.Contains(t, denied(t, r, "gone"), "the directory of its workflow, "+s.Project+", is gone. "+
		`Tell the person, who can say where it is now: fsmtx step move DIR --because "..." --session=`+s.Session)
	assert.Contains(t, denied(t, r, "in the decoy"), s.Project+", is another directory than the one in which its skill was invoked")
	denied(t, r, "move")
	assert.Equal(t, "pending", stateOf(t, s).Step(1).Status)
}
