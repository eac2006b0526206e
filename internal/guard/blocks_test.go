package guard

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

func TestAnAgentIsBlockedThreeTimesThenReleasedThenBlockedAgain(t *testing.T) {
	b := newBench(t, blocking)
	var codes []int
	for _, input := range []string{firstStop, nextStop, nextStop, nextStop, nextStop, firstStop, nextStop} {
		codes = append(codes, b.run(input).Exit)
	}
	assert.Equal(t, []int{2, 2, 2, 0, 0, 2, 2}, codes)
}

func TestGivingUpTellsTheUser(t *testing.T) {
	b := newBench(t, blocking)
	for range 3 {
		b.run(nextStop)
	}
	e := Explain(b.rule, strings.NewReader(nextStop), b.getenv)
	assert.Equal(t, "APPROVE+WARN", e.Word)
	assert.Equal(t, 1, e.Row, "the row that would have blocked")
	assert.Equal(t, event.Tell(b.rule.Event, "", "Hook T1_test: giving up after 3 blocks, check still failing: Not done"), b.run(nextStop))
}

func TestBlocksAreCountedForEachAgentAndRule(t *testing.T) {
	b := newBench(t, blocking)
	for _, agent := range []string{`"a"`, `"b"`, `null`} {
		for range 3 {
			assert.Equal(t, event.ExitBlock, b.run(`{"session_id":"s","stop_hook_active":true,"agent_id":`+agent+`}`).Exit, agent)
		}
	}
	assert.Equal(t, 3, b.count(t, b.session().Blocks(), "T1:a"))
	assert.Equal(t, 3, b.count(t, b.session().Blocks(), "T1:main"))
	b.rule.ID = "T2"
	assert.Equal(t, event.ExitBlock, b.run(nextStop).Exit)
}

func TestOnlyRulesOfStopEventsCountBlocks(t *testing.T) {
	b := newBench(t, blocking)
	b.rule.Event = event.PreToolUse
	for range 5 {
		assert.Equal(t, event.ExitBlock, b.run(nextStop).Exit)
	}
	assert.NoFileExists(t, b.session().Blocks())
}

func TestApprovalResetsTheCount(t *testing.T) {
	b := newBench(t, blocking)
	b.run(nextStop)
	b.rule.Decide = passing
	b.run(nextStop)
	assert.Equal(t, 0, b.count(t, b.session().Blocks(), "T1:a"))
}

// stop_hook_active can be true because another rule blocked this end.
func TestApprovalOfAnEarlierEndResetsTheCount(t *testing.T) {
	b := newBench(t, blocking)
	for _, input := range []string{firstStop, nextStop, nextStop, nextStop} {
		b.run(input)
	}
	b.rule.Decide = passing
	b.run(firstStop)
	b.rule.Decide = blocking
	assert.Equal(t, event.ExitBlock, b.run(nextStop).Exit)
}

func TestWithoutASessionAnAgentIsBlockedOnce(t *testing.T) {
	b := newBench(t, blocking)
	assert.Equal(t, event.ExitBlock, b.run(`{"stop_hook_active":false}`).Exit)
	a := b.run(`{"stop_hook_active":true}`)
	assert.Equal(t, event.ExitOK, a.Exit)
	assert.Contains(t, a.Output, "giving up after 1 blocks")
}

func TestAnUnusableCountFailsOpen(t *testing.T) {
	b := newBench(t, blocking)
	require.NoError(t, os.Symlink("/dev/null", b.session().Blocks()))
	a := b.run(firstStop)
	assert.Equal(t, event.ExitOK, a.Exit)
	assert.Contains(t, a.Output, "Failing open")
}
