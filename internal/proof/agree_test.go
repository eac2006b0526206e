package proof

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// TestCopiesAndParts: a step that is done for lines has as many of each of its parts; those of an earlier round do not count.
func TestCopiesAndParts(t *testing.T) {
	spec, err := fsmspec.Parse([]byte(`{"fsm": 2, "steps": [
		{"id": 1, "subject": "Packages", "each": {"lines": "list.txt"}, "do": [
			{"id": 1, "subject": "Test", "check": {"run": "make test", "dir": "{item}"}},
			{"id": 2, "subject": "Tell", "blockedBy": [1], "do": [{"id": 1, "subject": "Write to {item}"}]}]},
		{"id": 2, "subject": "Publish", "blockedBy": [1], "do": [{"id": 4, "subject": "Push"}]}]}`))
	require.NoError(t, err)
	step := func(id, under int64, subject string) Step {
		d := Decision{Time: someTime, Round: 1, To: "completed", Decision: "allow", Outcome: "done", Who: "agent", How: "update"}
		if subject[:4] == "Test" {
			d.Check = &Check{Run: "make test"}
		}
		return Step{ID: id, Under: under, Subject: subject, State: isDone, Outcome: "done", Rounds: 1, Ended: someTime, Decisions: []Decision{d}}
	}
	run := func() Run {
		r := aRun()
		r.Steps = []Step{step(11, 0, "Packages"), step(12, 0, "Publish"), step(16, 12, "Push"),
			step(21, 11, "Test: a/b"), step(22, 11, "Tell: a/b"), step(23, 22, "Write to a/b"),
			step(24, 11, "Test: c"), step(25, 11, "Tell: c"), step(26, 25, "Write to c")}
		return r
	}
	require.Empty(t, run().agree([]*fsmspec.Spec{spec}))
	for name, change := range map[string]func(*Run){
		"a part less":              func(r *Run) { r.Steps = slices.Delete(r.Steps, 2, 3) },
		"a copy's step less":       func(r *Run) { r.Steps = slices.Delete(r.Steps, 6, 7) },
		"a copy's part less":       func(r *Run) { r.Steps = slices.Delete(r.Steps, 8, 9) },
		"a copy of another step":   func(r *Run) { r.Steps[6].Subject = "Look: c" },
		"a copy without its check": func(r *Run) { r.Steps[6].Decisions[0].Check = nil },
		"a copy of an earlier one": func(r *Run) { r.Steps[6].Earlier = true },
		"a part of another step":   func(r *Run) { r.Steps[2].Under = 11 },
		"a step twice":             func(r *Run) { r.Steps = append(r.Steps, r.Steps[0]) },
		"its number is another":    func(r *Run) { r.Steps[1].ID = 13 },
	} {
		r := run()
		change(&r)
		require.NotEmpty(t, r.agree([]*fsmspec.Spec{spec}), name)
	}
	none := run()
	none.Steps = none.Steps[:3]
	require.Empty(t, none.agree([]*fsmspec.Spec{spec}), "there were no lines")
}
