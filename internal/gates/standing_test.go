package gates

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestStanding: which steps of the session are done with evidence, and which one is being worked on.
func TestStanding(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "a"}, workflow.Step{Subject: "b"}, workflow.Step{Subject: "c", BlockedBy: []int64{2}},
		workflow.Step{Subject: "d", Status: workflow.Completed})
	stands := func(want Standing) {
		t.Helper()
		got, err := l.Standing(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	step := func(subject string, done, current bool) Stood {
		return Stood{Command: "release", Subject: subject, Done: done, Current: current}
	}
	stands(Standing{Steps: []Stood{step("a", false, true), step("b", false, false), step("c", false, false), step("d", true, false)}})
	l.allows(2, workflow.InProgress)
	stands(Standing{Steps: []Stood{step("a", false, false), step("b", false, true), step("c", false, false), step("d", true, false)}})
	_, _, err := l.Stop(t.Context(), Stopping{Mode: Remind})
	require.NoError(t, err)
	stands(Standing{SentBack: true, Steps: []Stood{step("a", false, false), step("b", false, true), step("c", false, false),
		step("d", true, false)}})
	l.allows(2, workflow.Completed)
	stands(Standing{Steps: []Stood{step("a", false, true), step("b", true, false), step("c", false, false), step("d", true, false)}})
	l.allows(1, workflow.InProgress)
	l.set(1, workflow.Completed)
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(3))))
	stands(Standing{Steps: []Stood{step("a", false, false), step("b", true, false), step("c", false, false), step("d", true, false)}})
	l.Session = "another"
	stands(Standing{})
}

// TestStandingWaitsForTheStepsBefore: of the steps of a workflow the first that is ready counts.
func TestStandingWaitsForTheStepsBefore(t *testing.T) {
	l := hydrated(t, workflow.Step{BlockedBy: []int64{2}}, workflow.Step{})
	got, err := l.Standing(t.Context())
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, []bool{got.Steps[0].Current, got.Steps[1].Current})
	_, err = l.GoPast(t.Context(), Past{Step: 2, Because: "it was done before"}, state.By{})
	require.NoError(t, err)
	got, err = l.Standing(t.Context())
	require.NoError(t, err)
	require.True(t, got.Steps[1].Done, "a person said so")

	none, err := newFrame(t.TempDir()).Standing(t.Context())
	require.NoError(t, err)
	require.Zero(t, none)
}

// TestStandingOfStepsThatAreNotNeeded: what is on record shows it.
func TestStandingOfStepsThatAreNotNeeded(t *testing.T) {
	l := hydrated(t,
		workflow.Step{Decides: "command", Chooser: &workflow.Check{Run: "echo minor", Timeout: 9},
			Outcomes: []workflow.Outcome{{Name: "major"}, {Name: "minor"}}},
		workflow.Step{BlockedBy: []int64{1}, When: []workflow.Condition{{Step: 1, Outcomes: []string{"major"}}}},
		workflow.Step{BlockedBy: []int64{1}})
	l.allows(1, workflow.InProgress)
	l.allows(1, workflow.Completed)
	got, err := l.Standing(t.Context())
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, false}, []bool{got.Steps[0].Done, got.Steps[1].Done, got.Steps[2].Done})
}

// TestRefusalIsTheLatestThatIsNotPast: of updates and calls alike.
func TestRefusalIsTheLatestThatIsNotPast(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(1700000000+second), 0).UTC() }
	deny := func(second int, step int64) state.Evidence {
		return state.Evidence{Time: at(second), Step: step, From: workflow.Pending, To: workflow.InProgress, Verdict: state.Deny}
	}
	l := hydrated(t, workflow.Step{}, workflow.Step{}, workflow.Step{Status: workflow.Completed})
	for name, c := range map[string]struct {
		evidence, calls []state.Evidence
		want            int // its second, -1 if there is none
	}{
		"none":                      {nil, nil, -1},
		"one":                       {[]state.Evidence{deny(1, 1)}, nil, 1},
		"the later of two":          {[]state.Evidence{deny(1, 1), deny(2, 2)}, nil, 2},
		"a call":                    {[]state.Evidence{deny(1, 1)}, []state.Evidence{deny(3, 2)}, 3},
		"an earlier call":           {[]state.Evidence{deny(4, 1)}, []state.Evidence{deny(3, 2)}, 4},
		"of a step that is done":    {[]state.Evidence{deny(1, 3)}, nil, -1},
		"of a step that is unknown": {[]state.Evidence{deny(1, 7)}, nil, -1},
		"something was allowed since": {[]state.Evidence{deny(1, 1), {Time: at(2), Step: 2, To: workflow.InProgress, Verdict: state.Allow}},
			nil, -1},
		"something was allowed before": {[]state.Evidence{{Time: at(0), Step: 2, To: workflow.InProgress, Verdict: state.Allow}, deny(1, 1)},
			nil, 1},
	} {
		s := l.state()
		s.Evidence, s.Calls = c.evidence, c.calls
		e, ok := s.Refusal()
		require.Equal(t, c.want >= 0, ok, name)
		if ok {
			require.Equal(t, at(c.want), e.Time, name)
		}
	}
}
