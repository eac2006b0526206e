package progress

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

func TestLine(t *testing.T) {
	w := recorded(t, "one")
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	step := func(id int64, status string, passed bool, after ...int64) *state.Current {
		return &state.Current{Step: workflow.Step{ID: id, Subject: "S", BlockedBy: after}, Workflow: w, Status: status,
			Outcome: map[bool]string{true: "done"}[passed]}
	}
	denied := state.Evidence{Time: at, Step: 3, To: "completed", Verdict: state.Deny, Why: "order: #2 not done"}
	asked := state.Evidence{Time: at, Step: 2, To: "completed", Verdict: state.Ask}
	allowed := state.Evidence{Time: at.Add(time.Second), Step: 2, To: "in_progress", Verdict: state.Allow}
	working := []*state.Current{step(1, "completed", true), step(2, "in_progress", false), step(3, "pending", false, 2)}
	two := append(working[:2:2], step(3, "in_progress", false))
	done := []*state.Current{step(1, "completed", true)}
	for _, c := range []struct {
		steps    []*state.Current
		evidence []state.Evidence
		want     []Part
	}{
		{nil, nil, nil},
		{done, nil, []Part{{"● 1/1", Done}}},
		{working, nil, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}}},
		{two, nil, []Part{{"◐ 1/3", Busy}, {"#2 S +1", Plain}}},
		{working, []state.Evidence{denied}, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}, {"refused #3: order: #2 not done", Bad}}},
		{working, []state.Evidence{denied, allowed}, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}}},
		{working, []state.Evidence{asked}, []Part{{"◐ 1/3", Busy}, {"waiting for you", Person}, {"#2 S", Plain}}},
		{[]*state.Current{step(1, "", false)}, nil, []Part{{"✗ 0/1", Bad}}},
		{working[2:], nil, []Part{{"○ 0/1", Plain}, {"#3 S", Plain}}},
	} {
		assert.Equal(t, c.want, Line(&state.State{Steps: c.steps, Evidence: c.evidence}))
	}
}
