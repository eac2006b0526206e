//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// twice is a workflow in which a person approves two steps.
const twice = `{"fsm": 2, "steps": [
	{"id": 1, "subject": "Write", "approval": "Is the text good?"},
	{"id": 2, "subject": "Print", "blockedBy": [1], "approval": "Is the print good?"}]}`

// Fact 156: in no mode of permissions does the client answer for the person: where nobody is there, the
// completion is refused.
func TestAnApprovalIsAPersonsInEveryMode(t *testing.T) {
	for _, mode := range []string{"auto", "acceptEdits", "dontAsk", "manual", "bypassPermissions"} {
		t.Run(mode, func(t *testing.T) {
			s := held(t, twice)
			s.Env["IS_SANDBOX"] = "1" // as root the client bypasses permissions only so
			r := s.Prompt(Script{Main: append(begun(), Do(TaskUpdate("complete", "1", "completed")), Say("done"))}, "go", "--permission-mode", mode)
			denied(t, r, "complete")
			assert.Empty(t, state(t, s).Step(1).Outcome)
		})
	}
}

// Fact 156: a yes is for one step, also one with which the person wants to be asked no more.
func TestAnApprovalIsAskedAgain(t *testing.T) {
	for _, mode := range []string{"auto", "manual"} {
		t.Run(mode, func(t *testing.T) {
			s := held(t, twice)
			m := s.Attend(Script{Main: append(begun(), Do(TaskUpdate("write", "1", "completed")), Do(TaskUpdate("print", "2", "completed")),
				Say("the-turn-is-over"), Say("the-turn-is-over"))},
				"--permission-mode", mode, "--allowedTools", "Skill TaskList ToolSearch TaskUpdate")
			m.See(0, "❯")
			m.Enter("go")
			m.See(0, "Is the text good?")
			from := m.Here()
			m.Answer(from, "2", "✔ Write") // Yes, and don't ask again for TaskUpdate
			m.Type("\x15")                 // the client asks nothing while the person types
			m.See(from, "Is the print good?")
			m.Answer(m.Here(), "1", "the-turn-is-over")
			r := m.Run()
			allowed(t, r, "write", "print")
			assert.Equal(t, "done", state(t, s).Step(2).Outcome)
		})
	}
}
