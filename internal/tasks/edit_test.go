package tasks

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSetStatus(t *testing.T) {
	for before, after := range map[string]string{
		`{"id":"1","status":"pending"}`: "{\"id\":\"1\",\"status\":\"completed\"}",
		"{\n  \"status\" :  \"x\",\r\n  \"status\": null , \"z\":1 }\n": "{\n  \"status\" :  \"x\",\r\n  \"status\": " +
			"\"completed\" , \"z\":1 }\n",
		`{"a":{"status":"pending"},"st\u0061tus":"pending","é":"\u00e9"}`: `{"a":{"status":"pending"},"st\u0061tus":"completed","é":"\u00e9"}`,
	} {
		got, err := ClientForm{}.SetStatus([]byte(before), "completed")
		require.NoError(t, err)
		require.Equal(t, after, string(got))
	}
	for _, text := range []string{"", "[]", "null", `{"status":"pending"`, `{"status":}`, `{"id":"1"}`, `{"status" "x"}`} {
		_, err := ClientForm{}.SetStatus([]byte(text), "completed")
		require.Error(t, err, text)
	}
}

// TestEdit: what the change leaves as it is stays, spelled as it is, and so does what is not known.
func TestEdit(t *testing.T) {
	const before = `{"id": 7, "z": 1.50, "subject": "a", "description": "d", "status": "pending", "blockedBy": ["1"], "owner": {}, ` +
		`"metadata": {"n": 1e400, "fsm": "s"}}`
	edited := func(text string, change func(*Task)) string {
		t.Helper()
		got, err := ClientForm{}.Edit([]byte(text), func(task *Task) error { change(task); return nil })
		require.NoError(t, err)
		return compact(got)
	}
	assert.Equal(t, `{"blockedBy":["1"],"description":"d","id":7,"metadata":{"n":1e400,"fsm":"s"},"owner":{},`+
		`"status":"pending","subject":"a","z":1.50}`,
		edited(before, func(*Task) {}))
	assert.Equal(t, `{"activeForm":"A","blockedBy":["1","2"],"description":"e","id":7,"metadata":{"x":1},"owner":{},`+
		`"status":"completed","subject":"b","z":1.50}`,
		edited(before, func(task *Task) {
			task.Subject, task.Description, task.ActiveForm, task.Status = "b", "e", "A", "completed"
			task.BlockedBy, task.Metadata = append(task.BlockedBy, "2"), jsontext.Value(`{"x":1}`)
		}))
	assert.Equal(t, `{"blockedBy":[],"status":"pending"}`, edited(`{"status": "pending"}`,
		func(task *Task) { task.BlockedBy = []string{} }))

	refused := errors.New("refused")
	_, err := ClientForm{}.Edit([]byte(before), func(*Task) error { return refused })
	require.ErrorIs(t, err, refused)
	for _, text := range []string{``, `[]`, `null`, `{"subject": 1}`} {
		_, err := ClientForm{}.Edit([]byte(text), func(*Task) error { return nil })
		require.Error(t, err, text)
	}
}
