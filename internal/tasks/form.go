package tasks

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// ClientForm is the form of a task list: a directory with a file for each task. Files that are not tasks
// are the client's own and are left alone.
type ClientForm struct{}

// Task is a task as a list shows it. As JSON it has the form of `fsmtx status --json`.
type Task struct {
	ID          string         `json:"id"` // "" if the file does not tell it
	Subject     string         `json:"subject"`
	Description string         `json:"description,omitzero"`
	ActiveForm  string         `json:"activeForm,omitzero"`
	Status      string         `json:"status"` // as the file spells it; may not be a valid fsmspec.Status
	Owner       string         `json:"owner,omitzero"`
	BlockedBy   []string       `json:"blockedBy"`
	Metadata    jsontext.Value `json:"-"` // nil if there is none
}

// Hides returns the key of a task's metadata by which the client hides its own tasks from the list
// (fact 2, client 2.1.197).
func (ClientForm) Hides() string { return "_internal" }

// File returns the file of a task as the client itself would create it.
func (ClientForm) File(c fsmspec.Creation) txn.File {
	return txn.File{Name: ClientForm{}.Name(strconv.FormatInt(c.ID, 10)), Data: encode(&c), Mode: fileMode}
}

// encode returns the text of a task's file: every field of a task, in the client's order, indented
// by two spaces, strings in their shortest form, metadata spelled as it is (fact 2, client
// 2.1.197).
func encode(c *fsmspec.Creation) []byte {
	b := make([]byte, 0, 512)
	b = appendID(append(b, `{"id":`...), c.ID)
	for _, t := range []struct{ name, text string }{
		{`,"subject":`, c.Subject}, {`,"description":`, c.Description}, {`,"activeForm":`, c.ActiveForm},
		{`,"owner":`, c.Owner}, {`,"status":`, c.Status.String()},
	} {
		// An error is returned only for invalid UTF-8, which a plan has not.
		b, _ = jsontext.AppendQuote(append(b, t.name...), t.text)
	}
	b = appendIDs(append(b, `,"blocks":`...), c.Blocks)
	b = appendIDs(append(b, `,"blockedBy":`...), c.BlockedBy)
	b = append(append(append(b, `,"metadata":`...), c.Metadata...), '}')
	b, _ = jsontext.AppendFormat(nil, b, jsonx.Tolerant, jsontext.WithIndent("  ")) // it is valid
	return b
}

func appendID(b []byte, id int64) []byte {
	return append(strconv.AppendInt(append(b, '"'), id, 10), '"')
}

func appendIDs(b []byte, ids []int64) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendID(b, id)
	}
	return append(b, ']')
}

// file is a task's file (fact 2, client 2.1.197).
type file struct {
	ID          jsontext.Value `json:"id"`
	Subject     string         `json:"subject"`
	Description string         `json:"description"`
	ActiveForm  string         `json:"activeForm"`
	Status      string         `json:"status"`
	Owner       jsontext.Value `json:"owner"`
	BlockedBy   []string       `json:"blockedBy"`
	Metadata    jsontext.Value `json:"metadata"`
}

// Decode returns the task in the text of a file. It is nil if data is not an object, or what a step depends on has another type than
// the client writes.
func (ClientForm) Decode(data []byte) *Task {
	var f file
	if json.Unmarshal(data, &f, jsonx.Tolerant) != nil {
		return nil
	}
	return &Task{
		ID: unquoted(f.ID), Subject: f.Subject, Description: f.Description, ActiveForm: f.ActiveForm,
		Status: f.Status, Owner: unquoted(f.Owner), BlockedBy: f.BlockedBy, Metadata: f.Metadata,
	}
}
