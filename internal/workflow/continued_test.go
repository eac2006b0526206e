package workflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestACopyNamesTheNewNumbers in what this program has written into a description, and leaves what its author has written.
func TestACopyNamesTheNewNumbers(t *testing.T) {
	const ends = "Ends as: again (back to #1, 2 times at most), or drop (ends the workflow)."
	w := Workflow{Dir: "/project", Steps: []Step{
		{ID: 1, Local: 1, Status: Pending, Description: "Before #2.", Circular: []int64{2}},
		{ID: 2, Local: 2, Status: Pending, BlockedBy: []int64{1}, When: []Condition{{Step: 1, Outcomes: []string{"done"}}},
			Outcomes:    []Outcome{{Name: "again", Back: 1, Max: 2}, {Name: "drop", Stop: true}},
			Description: ends + "\n" + ends + " Complete it with metadata {}."},
	}, Under: []Workflow{{Parent: 2, After: []int64{1}, Steps: []Step{{ID: 5, Local: 1, Status: Pending,
		Outcomes: []Outcome{{Name: "fine"}, {Name: "drop", Stop: true}}, Description: "Ends as: fine, or drop (ends the parts of #2)."}}}}}
	c, err := w.Copy(40)
	require.NoError(t, err)
	assert.Equal(t, "Before #2.", c.Steps[0].Description)
	assert.Equal(t, ends+"\nEnds as: again (back to #41, 2 times at most), or drop (ends the workflow). Complete it with metadata {}.",
		c.Steps[1].Description)
	assert.Equal(t, []int64{41}, c.Steps[1].BlockedBy)
	assert.Equal(t, []int64{42}, c.Steps[0].Circular)
	assert.Equal(t, int64(41), c.Steps[1].When[0].Step)
	assert.Equal(t, "Ends as: fine, or drop (ends the parts of #42).", c.Under[0].Steps[0].Description)
	assert.Equal(t, int64(42), c.Under[0].Parent)
	assert.Equal(t, []int64{41}, c.Under[0].After)
	assert.Equal(t, int64(1), w.Steps[0].ID, "the original has changed")
}

// TestAPartBeganWithItsWorkflow, and came from the same list.
func TestAPartBeganWithItsWorkflow(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := Workflow{Before: []From{{ID: "first"}, {ID: "second"}}, Under: []Workflow{{Parent: 1}}, Beside: []Workflow{{Under: []Workflow{{}}}}}
	for _, r := range w.Records() {
		r.Began = at
		for _, u := range r.All() {
			assert.Equal(t, at, u.Began)
			assert.Equal(t, "second", u.With)
		}
	}
}
