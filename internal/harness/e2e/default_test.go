//go:build e2e

// What a person has with a default model, which has no task tools: the agent works by commands.

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	gates "github.com/fsmtx/fsmtx/internal/steps"
)

// withoutTaskTools returns a sandbox in which the client is as it is by default.
func withoutTaskTools(t *testing.T, fsm string) *realclient.Sandbox {
	t.Helper()
	s := held(t, fsm)
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	onPath(s)
	return s
}

// work returns a turn in which the agent runs a command of fsmtx.
func work(id, line string) Turn { return Do(Bash(id, "fsmtx "+line)) }

// A person is asked in the terminal whether a step may be completed: no leaves it open, and yes completes it.
func TestAQuestionReachesThePersonByACommand(t *testing.T) {
	s := withoutTaskTools(t, `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Publish", "blockedBy": [1], "approval": "Do you approve the release?"}]`)
	m := s.Attend(Script{Main: []Turn{Do(Skill("skill", "release")), work("start", "start 1"), work("early", "complete 2"),
		work("write", "complete 1"), work("no", "complete 2"), work("yes", "complete 2"), Say("the-turn-is-over")}},
		"--permission-mode", "default", "--allowedTools", "Skill")
	m.See(0, "❯")
	m.Enter("go")
	shown := m.See(0, "Do you approve the release?")
	t.Log(shown)
	m.See(0, "Do you want to proceed")
	m.Answer(0, "\x1b", "Interrupted")
	require.False(t, state(t, s).Step(2).Done())
	from := m.Here()
	m.Enter("continue")
	m.See(from, "Do you approve the release?")
	m.See(from, "Do you want to proceed")
	m.Answer(from, "\r", "the-turn-is-over")
	r := m.Run()
	t.Log(m.See(0, "the-turn-is-over"))
	denied(t, r, "early")
	allowed(t, r, "yes")
	last := state(t, s).Evidence
	assert.Equal(t, gates.By{Who: gates.ThePerson, How: gates.ByQuestion, Session: s.Session}, last[len(last)-1].By)
	assert.True(t, state(t, s).Step(2).Done())
}
