package tasks

import (
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

var errNoTask = errors.New("not a task")

// SetStatus returns the text of the task with another status. Every other byte is kept.
func (ClientForm) SetStatus(data []byte, status string) ([]byte, error) {
	if jsontext.Value(data).Kind() != '{' {
		return nil, errNoTask
	}
	from, to := -1, -1
	for p, err := range jsonx.Parts(data) {
		if err != nil {
			return nil, jsonx.Explain(data, err)
		}
		if p.Name == "status" {
			from, to = p.Offset, p.Offset+len(p.Value)
		}
	}
	if from < 0 {
		return nil, errors.New("not a task: it has no status")
	}
	return slices.Concat(data[:from], []byte(strconv.Quote(status)), data[to:]), nil
}

// Edit returns the text of a task after a change of what Decode returns, but for the id and the
// owner, as the client writes it (fact 6, client 2.1.197). What the change leaves as it is stays,
// and so does what Task has no field for.
func (f ClientForm) Edit(data []byte, change func(*Task) error) ([]byte, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members, jsonx.Tolerant); err != nil {
		return nil, err
	}
	t := f.Decode(data)
	if t == nil || members == nil {
		return nil, errNoTask
	}
	was := *t
	if err := change(t); err != nil {
		return nil, err
	}
	changed := map[string]any{}
	if t.Metadata != nil {
		changed["metadata"] = t.Metadata
	}
	for _, m := range []struct{ name, was, is string }{
		{"subject", was.Subject, t.Subject}, {"description", was.Description, t.Description},
		{"activeForm", was.ActiveForm, t.ActiveForm}, {"status", was.Status, t.Status},
	} {
		if m.was != m.is {
			changed[m.name] = m.is
		}
	}
	if members["blockedBy"] == nil || !slices.Equal(was.BlockedBy, t.BlockedBy) {
		changed["blockedBy"] = t.BlockedBy
	}
	for name, value := range changed {
		var err error
		if members[name], err = json.Marshal(value, jsonx.Tolerant, json.Deterministic(true)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(members, jsonx.Tolerant, json.Deterministic(true), jsontext.WithIndent("  "))
}
