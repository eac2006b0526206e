package guard

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
)

func TestAnAgentIsBlockedThreeTimesThenReleasedThenBlockedAgain(t *testing.T) {
	b := newBench(t, blocking)
	var codes []int
	for _, input := range []string{firstStop, nextStop, nextStop, nextStop, nextStop, firstStop, nextStop} {
		codes = append(codes, b.run(input).Exit)
	}
	assert.Equal(t, []int{2, 2, 2, 0, 0, 2, 2}, codes)
}

func TestAReleaseNotifiesTheUser(t *testing.T) {
	b := newBench(t, blocking)
	for range 3 {
		b.run(nextStop)
	}
	e := Explain(b.rule, strings.NewReader(nextStop), b.getenv)
	assert.Equal(t, "APPROVE+WARN", e.Word)
	assert.Equal(t, 1, e.Row, "the row that would have blocked")
	assert.Equal(t, client.Tell(b.rule.Event, "", "Hook T1_test: giving up after 3 blocks, check still failing: Not done"), b.run(nextStop))
}

func TestBlocksAreCountedForEachAgentAndRule(t *testing.T) {
	b := newBench(t, blocking)
	for _, agent := range []string{`"a"`, `"b"`, `null`} {
		for range 3 {
			assert.Equal(t, client.ExitBlock, b.run(`{"session_id":"s","stop_hook_active":true,"agent_id":`+agent+`}`).Exit, agent)
		}
	}
	assert.Equal(t, 3, b.count(t, b.session().Blocks(), "T1:a"))
	assert.Equal(t, 3, b.count(t, b.session().Blocks(), "T1:main"))
	b.rule.ID = "T2"
	assert.Equal(t, client.ExitBlock, b.run(nextStop).Exit)
}

func TestOnlyRulesOfStopEventsCountBlocks(t *testing.T) {
	b := newBench(t, blocking)
	b.rule.Event = client.PreToolUse
	for range 5 {
		assert.Equal(t, client.ExitBlock, b.run(nextStop).Exit)
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

// stop_hook_active can be true because another rule blocked the previous attempt.
func TestApprovalOfAnEarlierAttemptResetsTheCount(t *testing.T) {
	b := newBench(t, blocking)
	for _, input := range []string{firstStop, nextStop, nextStop, nextStop} {
		b.run(input)
	}
	b.rule.Decide = passing
	b.run(firstStop)
	b.rule.Decide = blocking
	assert.Equal(t, client.ExitBlock, b.run(nextStop).Exit)
}

func TestWithoutASessionAnAgentIsBlockedOnce(t *testing.T) {
	b := newBench(t, blocking)
	assert.Equal(t, client.ExitBlock, b.run(`{"stop_hook_active":false}`).Exit)
	a := b.run(`{"stop_hook_active":true}`)
	assert.Equal(t, client.ExitOK, a.Exit)
	assert.Contains(t, a.Output, "giving up after 1 blocks")
}

func TestAnUnusableCountFailsOpen(t *testing.T) {
	b := newBench(t, blocking)
	require.NoError(t, os.Symlink("/dev/null", b.session().Blocks()))
	a := b.run(firstStop)
	assert.Equal(t, client.ExitOK, a.Exit)
	assert.Contains(t, a.Output, "Failing open")
}

// workBench runs a rule that blocks with the block state that the test sets.
type workBench struct {
	*bench
	progress, asked string
	once, stalled   bool
}

func newWorkBench(t *testing.T) *workBench {
	w := &workBench{progress: "a"}
	w.bench = newBench(t, func(*Call) (Verdict, error) {
		v := Block(1, "Not done", "Do it.").WithProgress(w.progress, w.asked)
		if w.once {
			v = v.Once()
		}
		if w.stalled {
			v = v.Stalled()
		}
		return v, nil
	})
	return w
}

func (w *workBench) blocked(input string) bool { return w.run(input).Exit == client.ExitBlock }

func TestProgressRestartsTheCount(t *testing.T) {
	w := newWorkBench(t)
	assert.True(t, w.blocked(firstStop))
	for i := range 20 {
		w.progress = fmt.Sprint(i)
		assert.True(t, w.blocked(nextStop), "a workflow that advances is blocked without limit")
	}
	assert.True(t, w.blocked(nextStop))
	assert.True(t, w.blocked(nextStop))
	assert.Contains(t, w.run(nextStop).Output, "giving up after 3 blocks")
}

func TestAnAgentThatAsksTheUserMayEndWithoutProgress(t *testing.T) {
	w := newWorkBench(t)
	w.asked = "Which colour?"
	assert.True(t, w.blocked(firstStop), "it may have asked instead of working")
	assert.Empty(t, w.run(nextStop).Output, "no progress: the user answers")
	assert.Empty(t, w.run(firstStop).Output, "and the next question too")
	w.progress = "b"
	assert.True(t, w.blocked(nextStop), "there was progress since the last block")
	w.asked = ""
	a := w.run(nextStop)
	assert.Zero(t, a.Exit)
	assert.Contains(t, a.Output, "the agent has asked you: Which colour?", "it was in the message that was blocked")
	assert.True(t, w.blocked(nextStop), "the question is shown once")
}

func TestABlockIsNotRepeatedWhereAnotherHookSawNoProgress(t *testing.T) {
	w := newWorkBench(t)
	w.stalled = true
	assert.True(t, w.blocked(firstStop), "a new stop")
	w.progress = "b"
	assert.True(t, w.blocked(nextStop), "there was progress that the other hook does not see")
	assert.False(t, w.blocked(nextStop))
	w.stalled = false
	assert.True(t, w.blocked(nextStop), "there was progress that only the other hook sees")
}

func TestABlockThatIsNotRepeated(t *testing.T) {
	w := newWorkBench(t)
	w.once = true
	assert.True(t, w.blocked(firstStop))
	assert.Contains(t, w.run(nextStop).Output, "not repeated, check still failing: Not done")
	assert.Zero(t, w.run(firstStop).Exit, "not in the next turn either")
	w.progress = "b"
	assert.True(t, w.blocked(firstStop))
}

func TestAResetRemovesTheBlockState(t *testing.T) {
	w := newWorkBench(t)
	w.asked = "Which?"
	assert.True(t, w.blocked(firstStop))
	assert.Equal(t, []string{"consecutive blocks"}, must(ResetRule(w.session(), w.rule)))
	assert.True(t, w.blocked(firstStop))
}
