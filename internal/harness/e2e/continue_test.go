//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// TestTheWorkflowOfASessionAtWorkIsAskedFor in the client's own dialog: a no leaves it, a yes takes it, and without a person it is refused.
func TestTheWorkflowOfASessionAtWorkIsAskedFor(t *testing.T) {
	s := held(t, steps("Release"))
	onPath(s)
	atWork := attended(s, "go", Script{Main: append(begun(), Say("the-turn-is-over"), Say("the-second-turn-is-over"))},
		"--permission-mode", "default", "--allowedTools", "Skill")
	atWork.See(0, "the-turn-is-over")
	old := s.Session
	line := "fsmtx continue --list " + old
	const question = "The agent wants to take the workflow of release from a session that is at work on it"

	s.Session = realclient.NewSession()
	r := s.Prompt(Script{Main: []Turn{Do(Bash("alone", "fsmtx continue")), Do(Bash("named", line)), Say("done")}}, "go on")
	assert.Contains(t, r.Text("alone"), "which is at work on it")
	assert.Contains(t, denied(t, r, "named"), question+": "+line)
	assert.Contains(t, r.Text("named"), "cd "+s.Project+" && "+line+" --to "+s.Session[:4])

	s.Session = realclient.NewSession()
	m := attended(s, "go", Script{Main: []Turn{Do(Bash("no", line)), Do(Bash("yes", line)), Say("it-goes-on-here")}},
		"--permission-mode", "default")
	m.See(0, question)
	m.See(0, "Do you want to proceed")
	m.Answer(0, "\x1b", "Interrupted")
	m.Clear()
	require.NotEmpty(t, stateOf(t, sessionOf(s, old)).Steps)
	from := m.Here()
	m.Enter("continue")
	m.See(from, question)
	m.See(from, "Do you want to proceed")
	m.Answer(from, "\r", "it-goes-on-here")
	require.Empty(t, stateOf(t, sessionOf(s, old)).Steps)
	require.Len(t, stateOf(t, s).Steps, 3)

	from = atWork.Here()
	atWork.Enter("and here?")
	atWork.See(from, "the workflow of release goes on in the task list")
}

// sessionOf returns the sandbox with another session.
func sessionOf(s *realclient.Sandbox, session string) *realclient.Sandbox {
	other := *s
	other.Session = session
	return &other
}
