//go:build e2e

// What a person has with a default model, which has no task tools: the agent works by commands.

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/state"
)

// withoutTaskTools returns a sandbox in which the client is as it is by default.
func withoutTaskTools(t *testing.T, fsm string, flags ...string) *realclient.Sandbox {
	t.Helper()
	s := held(t, fsm, append(flags, "--task-tools=false")...)
	onPath(s)
	return s
}

// work returns a turn in which the agent runs a command of fsmtx.
func work(id, line string) Turn { return Do(Bash(id, "fsmtx "+line)) }

// A person is asked in the terminal whether a step may be completed: no leaves it open, and yes completes it.
func TestAQuestionReachesThePersonByACommand(t *testing.T) {
	s := withoutTaskTools(t, `[{"id": 1, "subject": "Write"},
		{"id": 2, "subject": "Publish", "blockedBy": [1], "approval": "Do you approve the release?"}]`)
	m := attended(s, "go", Script{Main: []Turn{Do(Skill("skill", "release")), work("start", "start 1"), work("early", "complete 2"),
		work("write", "complete 1"), work("no", "complete 2"), work("yes", "complete 2"), Say("the-turn-is-over")}},
		"--permission-mode", "default", "--allowedTools", "Skill")
	m.See(0, "release: 1 of 2 done: #1")
	m.See(0, "Do you approve the release?")
	m.See(0, "Do you want to proceed")
	m.Answer(0, "\x1b", "What should")
	m.Clear()
	require.False(t, stateOf(t, s).Step(2).Done())
	from := m.Here()
	m.Enter("continue")
	m.See(from, "Do you approve the release?")
	m.See(from, "Do you want to proceed")
	m.Answer(from, "\r", "the-turn-is-over")
	m.See(from, "release: 2 of 2 done: #2")
	r := m.Run()
	assert.Contains(t, denied(t, r, "early"), `#1 "Write" must be done first`)
	allowed(t, r, "yes")
	by := state.By{Who: state.ThePerson, How: state.ByQuestion, Session: s.Session}
	answered := func(e state.Evidence) bool { return e.Step == 2 && e.Verdict == state.Allow && e.By == by }
	assert.True(t, slices.ContainsFunc(stateOf(t, s).Evidence, answered))
	assert.True(t, stateOf(t, s).Step(2).Done())
}

// Fact 191: what sends the agent back is on the screen once, and in its request once, without the line of the shell.
func TestStopReportsOnce(t *testing.T) {
	s := withoutTaskTools(t, `[{"id": 1, "subject": "Write"}]`, "--stop", "remind")
	m := attended(s, "go", Script{Main: []Turn{Do(Skill("skill", "release")), Say("first-end"), Say("second-end")}},
		"--permission-mode", "default", "--allowedTools", "Skill")
	m.See(0, `Stop hook says: release: 0 of 1 steps done. #1 "Write" is ready.`)
	m.See(0, "second-end")
	r := m.Run()
	for _, other := range []string{"problem", "sent back", "CLAUDE_CONFIG_DIR"} {
		assert.NotContains(t, m.Text(), other)
	}
	news := r.Exchanges(Main)[2].Request.News()
	assert.Equal(t, 1, strings.Count(news, "0 of 1 steps done"), news)
	assert.NotContains(t, news, "CLAUDE_CONFIG_DIR")
}
