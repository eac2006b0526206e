package hydrate

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDoneIn: the steps that stay done, and their parts, are done in the file from which the tasks are made; nothing else is.
func TestDoneIn(t *testing.T) {
	for before, want := range map[string]string{
		`[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B"}]`: `[{"id":1,"subject":"A","status":"completed"},{"id": 2, "subject": "B"}]`,
		`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "do": [{"id": 2, "subject": "B"}]}, {"id": 2, "subject": "C"}]}`: `{"fsm":2,` +
			`"steps":[{"id":1,"subject":"A","do":[{"id":2,"subject":"B","status":"completed"}],"status":"completed"},{"id":2,"subject":"C"}]}`,
	} {
		assert.JSONEq(t, want, string(doneIn([]byte(before), []int64{1})))
		assert.Equal(t, before, string(doneIn([]byte(before), nil)))
	}
}
