package gates

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// wide is a workflow of forty steps in two loops, one inside the other, with subjects that are
// as long as they may be: every outcome leads as far as it can.
func wide() *state.State {
	long := strings.Repeat("A subject that goes on and on, ", 12)
	all := make([]workflow.Step, 40)
	for i := range all {
		all[i].Subject, all[i].Description = long, strings.Repeat("D", 100)
		if i > 0 && i < 39 {
			all[i].BlockedBy = []int64{1}
		}
	}
	for id := int64(1); id <= 39; id++ {
		all[39].BlockedBy = append(all[39].BlockedBy, id)
	}
	all[0].Outcomes = []workflow.Outcome{{Name: "done"}, {Name: "a-name-of-thirty-one-characters", Back: 1, Max: 100}}
	all[1].When = []workflow.Condition{{Step: 1, Outcomes: []string{"done"}}}
	all[38].BlockedBy, all[38].When = []int64{1}, nil
	all[39].Outcomes = []workflow.Outcome{{Name: "approved"}, {Name: "changes", Back: 1, Max: 3}, {Name: "over", Stop: true},
		{Name: "failed", Back: 2, Max: 3}}
	all[39].Check = &workflow.Check{Run: "make test", Timeout: 9}
	return flowState(all)
}

// TestWhatTheAgentReadsAtATransition: every transition of every step, at most 600 characters
// beside the description of what is ready and the output of a check.
func TestWhatTheAgentReadsAtATransition(t *testing.T) {
	texts := map[string]string{}
	add := func(name string, s *state.State, id int64, outcome string) {
		c := s.Step(id)
		after, tr, err := s.Flows[c.Workflow].Conclude(id, outcome)
		require.NoError(t, err)
		if state.IsBack(tr) {
			texts[name+", back"] = s.Turned(c, tr, "", s.Numbered(after.Ready()), &state.Result{Output: "THE-OUTPUT"})
		}
		s.Evidence = append(s.Evidence, state.Evidence{Step: id, Verdict: state.SeenDone, To: workflow.Completed, Outcome: outcome,
			NotNeeded: tr.NotNeeded,
			Reopens:   tr.Reopens})
		s.Fold()
		texts[name+", seen"] = s.SeenText(s.Evidence[len(s.Evidence)-1:], true)
	}
	for _, outcome := range []string{"approved", "changes", "over", "failed"} {
		s := wide()
		for id := int64(1); id < 40; id++ {
			s.Evidence = append(s.Evidence, state.Evidence{Step: id, Verdict: state.SeenDone, To: workflow.Completed, Outcome: machine.Done})
		}
		s.Fold()
		add("the last step ends as "+outcome, s, 40, outcome)
	}
	for _, outcome := range []string{"done", "a-name-of-thirty-one-characters"} {
		add("the first step ends as "+outcome, wide(), 1, outcome)
	}
	s := wide()
	c := s.Step(1)
	many := s.Numbered([]int64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})
	s.Evidence = []state.Evidence{{Step: 40, Verdict: state.Override, Why: state.EndWord + "x"}}
	texts["not needed, with much that is ready"] = s.SeenText([]state.Evidence{{Step: 1,
		NotNeeded: []int64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}}}, true)
	texts["a loop, with much that is ready"] = s.Turned(c, machine.Transition{Outcome: "changes", Times: 100,
		Max: 100, Reopens: []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, "a-name-of-thirty-one-characters", many, nil)
	longest := 0
	for name, text := range texts {
		text = strings.Replace(text, strings.Repeat("D", 100), "", 1)
		if at := strings.Index(text, "\nThe check failed ("); at >= 0 {
			text = text[:at]
		}
		n := utf8.RuneCountInString(text)
		longest = max(longest, n)
		assert.LessOrEqual(t, n, 600, "%s: %s", name, text)
	}
	assert.Greater(t, longest, 300, "the cases are not the long ones")
	assert.Contains(t, texts["a loop, with much that is ready"], "and 2 more are open again. Ready: #2")
}

// TestStopAndResumeSpeakOfRounds: an agent that has lost its context, or is sent back, reads
// what is open again, and in which round.
func TestStopAndResumeSpeakOfRounds(t *testing.T) {
	s := flowState([]workflow.Step{{Subject: "Implement"}, {Subject: "Review", BlockedBy: []int64{1},
		Outcomes: []workflow.Outcome{{Name: "approved"}, {Name: "changes", Back: 1, Max: 2}}}})
	agent, _ := sentBack(s, s.Ready(), Stopping{Mode: Remind}, "")
	assert.NotContains(t, agent+resumed(s), "round")
	s.Evidence = []state.Evidence{{Step: 1, Verdict: state.SeenDone, To: workflow.Completed, Outcome: "done"},
		{Step: 2, Verdict: state.Allow, To: workflow.Pending, Outcome: "changes", Reopens: []int64{1, 2}}}
	s.Fold()
	agent, told := sentBack(s, s.Ready(), Stopping{Mode: Remind}, "")
	assert.Contains(t, agent, `#1 "Implement" (round 2 of 3) is in progress.`)
	assert.Contains(t, told, `#1 "Implement" (round 2 of 3)`)
	assert.Contains(t, resumed(s), "Open again: #1 \"Implement\" (round 2 of 3) and #2 \"Review\" (round 2 of 3)\n")
}

// TestASpentWordRunsNothing: the word is judged before the step's check runs.
func TestASpentWordRunsNothing(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: &workflow.Check{Run: "echo ran >> ran; exit 1", Timeout: 20},
		Outcomes: []workflow.Outcome{{Name: "fine"}, {Name: "again", Back: 1, Max: 1}, {Name: "failed", Back: 1, Max: 1}}})
	again := Update{Task: "1", Status: workflow.Completed, Metadata: []byte(`{"outcome":"again"}`)}
	require.NotNil(t, l.Update(t.Context(), again).Turn)
	v := l.Update(t.Context(), again)
	assert.Equal(t, state.Deny, v.Decision)
	assert.Contains(t, v.Reason, "cannot end as \"again\" any more")
	assert.NoFileExists(t, l.project+"/ran")
}
