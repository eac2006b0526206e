package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// flows generates the steps of valid workflows with outcomes: references go to earlier steps.
var flows = rapid.Custom(func(t *rapid.T) []workflow.Step {
	all := make([]workflow.Step, rapid.IntRange(1, 5).Draw(t, "steps"))
	for i := range all {
		s := &all[i]
		s.ID, s.Subject = int64(i+1), fmt.Sprint("Step ", i+1)
		if i > 0 {
			s.BlockedBy = rapid.SliceOfNDistinct(rapid.Int64Range(1, int64(i)), 0, 2, rapid.ID[int64]).Draw(t, "blockedBy")
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID[string]).Draw(t, "outcomes") {
			o := workflow.Outcome{Name: name}
			switch rapid.IntRange(0, 3).Draw(t, "effect") {
			case 0:
				o.Back, o.Max = rapid.Int64Range(1, s.ID).Draw(t, "back"), rapid.IntRange(1, 2).Draw(t, "max")
			case 1:
				o.Stop = rapid.IntRange(0, 4).Draw(t, "stop") == 0
			}
			s.Outcomes = append(s.Outcomes, o)
		}
		if i > 0 && len(all[i-1].Outcomes) > 1 && rapid.Bool().Draw(t, "when") {
			s.When = []workflow.Condition{{Step: s.ID - 1, Outcomes: []string{all[i-1].Outcomes[0].Name}}}
			s.BlockedBy = append(slices.DeleteFunc(s.BlockedBy, func(id int64) bool { return id == s.ID-1 }), s.ID-1)
		}
	}
	return all
}).Filter(isFlow)

// isFlow reports whether the steps are a valid workflow, and one has outcomes.
func isFlow(all []workflow.Step) bool {
	w := workflow.Workflow{Version: workflow.Version, Dir: "/", Steps: slices.Clone(all)}
	for i := range w.Steps {
		w.Steps[i].Local, w.Steps[i].Status = w.Steps[i].ID, workflow.Pending
	}
	_, err := w.Encode()
	return err == nil && slices.ContainsFunc(all, func(s workflow.Step) bool { return len(s.Outcomes) > 0 })
}

// TestTheListFollowsTheMachine: whatever an agent asks for, what is on record is what the
// machine says of the updates that were allowed, and after each update the list shows it.
func TestTheListFollowsTheMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it makes many lists")
	}
	root := worlds.MemoryDir(t)
	rapid.Check(t, func(r *rapid.T) {
		all := flows.Draw(r, "steps")
		dir, err := os.MkdirTemp(root, "list")
		require.NoError(r, err)
		l := &list{Frame: newFrame(dir), t: t, project: dir}
		for i := range all {
			all[i].Status = workflow.Pending
		}
		hydrate(r, l.List.Dir, dir, all)
		model := l.state().Steps[0].Workflow.Machine.Start()
		for range rapid.IntRange(1, 12).Draw(r, "updates") {
			id := rapid.Int64Range(1, int64(len(all))).Draw(r, "step")
			if rapid.IntRange(0, 3).Draw(r, "start") == 0 {
				l.do(id, workflow.InProgress)
			} else {
				model = l.ends(r, model, id, rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(r, "outcome"))
			}
			l.agrees(r, all, model)
		}
	})
}

// ends completes a step as the client does. It returns the state of the machine after it.
func (l *list) ends(r *rapid.T, model machine.State, id int64, outcome string) machine.State {
	u := Update{Task: message.Itoa(id), Status: workflow.Completed, Metadata: jsontext.Value(`{"outcome":"` + outcome + `"}`)}
	v := l.Update(l.t.Context(), u)
	if !v.Allowed() {
		return model
	}
	done := model.Outcome(id) != ""
	e, _ := l.state().Last(id)
	switch {
	case v.Turn != nil:
		l.set(id, workflow.Pending)
	case rapid.IntRange(0, 5).Draw(r, "stopped") == 0 && !done:
		return model // another hook refused the call
	default:
		l.set(id, workflow.Completed)
	}
	l.seen()
	if done {
		return model
	}
	after, tr, err := model.Conclude(id, e.Outcome)
	require.NoError(r, err)
	require.Equal(r, v.Turn != nil, state.IsBack(tr))
	return after
}

// agrees fails unless the state and the list are what the machine says.
func (l *list) agrees(r *rapid.T, all []workflow.Step, model machine.State) {
	s := l.state()
	var ready []int64
	for _, c := range s.Ready() {
		ready = append(ready, c.ID)
	}
	require.Equal(r, model.Ready(), ready)
	for _, step := range all {
		c := s.Step(step.ID)
		require.Equal(r, model.Outcome(step.ID), c.Outcome, "step %d", step.ID)
		require.Equal(r, model.Round(step.ID), c.Round, "step %d", step.ID)
		data, err := os.ReadFile(filepath.Join(l.List.Dir, fileName(step.ID)))
		require.NoError(r, err)
		status, subject := jsonx.StringMember(data, "status"), jsonx.StringMember(data, "subject")
		require.Equal(r, c.Outcome != "", status == workflow.Completed, "step %d is %s in the list and ended as %q", step.ID, status, c.Outcome)
		require.Equal(r, c.ShownSubject(), subject)
		require.Equal(r, model.NotNeeded(step.ID), strings.Contains(subject, "not needed"))
	}
}
