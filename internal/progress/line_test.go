package progress

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/steps"
)

func TestLine(t *testing.T) {
	w := recorded(t, "one")
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	step := func(id int64, status string, passed bool, after ...int64) *steps.Current {
		return &steps.Current{Step: steps.Step{ID: id, Subject: "S", BlockedBy: after}, Workflow: w, Status: status,
			Outcome: map[bool]string{true: "done"}[passed]}
	}
	denied := steps.Evidence{Time: at, Step: 3, To: "completed", Verdict: steps.Deny, Why: "order: #2 not done"}
	asked := steps.Evidence{Time: at, Step: 2, To: "completed", Verdict: steps.Ask}
	allowed := steps.Evidence{Time: at.Add(time.Second), Step: 2, To: "in_progress", Verdict: steps.Allow}
	working := []*steps.Current{step(1, "completed", true), step(2, "in_progress", false), step(3, "pending", false, 2)}
	two := append(working[:2:2], step(3, "in_progress", false))
	done := []*steps.Current{step(1, "completed", true)}
	for _, c := range []struct {
		steps    []*steps.Current
		evidence []steps.Evidence
		want     []Part
	}{
		{nil, nil, nil},
		{done, nil, []Part{{"● 1/1", Done}}},
		{working, nil, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}}},
		{two, nil, []Part{{"◐ 1/3", Busy}, {"#2 S +1", Plain}}},
		{working, []steps.Evidence{denied}, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}, {"refused #3: order: #2 not done", Bad}}},
		{working, []steps.Evidence{denied, allowed}, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}}},
		{working, []steps.Evidence{asked}, []Part{{"◐ 1/3", Busy}, {"waiting for you", Person}, {"#2 S", Plain}}},
		{[]*steps.Current{step(1, "", false)}, nil, []Part{{"✗ 0/1", Bad}}},
		{working[2:], nil, []Part{{"○ 0/1", Plain}, {"#3 S", Plain}}},
	} {
		assert.Equal(t, c.want, Line(&steps.State{Steps: c.steps, Evidence: c.evidence}))
	}
}
