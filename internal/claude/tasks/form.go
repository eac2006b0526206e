package tasks

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/projection"
	"github.com/fsmtx/fsmtx/txn"
)

// Form is the form of the client's task lists. The lists of projects, which other agents
// work on, have it too.
type Form struct{}

var _ projection.Form = Form{}

// Locker returns the client's locks.
func (Form) Locker() txn.Locker { return new(Locks) }

// File returns the file as the client itself would create it.
func (Form) File(c fsmspec.Creation) txn.File {
	return txn.File{Name: c.Name, Data: []byte(c.Content), Mode: fileMode}
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

// Decode returns nil if data is not an object, or what a step depends on has another type than
// the client writes.
func (Form) Decode(data []byte) *projection.Task {
	var f file
	if json.Unmarshal(data, &f, jsonx.Tolerant) != nil {
		return nil
	}
	return &projection.Task{
		ID: text(f.ID), Subject: f.Subject, Description: f.Description, ActiveForm: f.ActiveForm,
		Status: f.Status, Owner: text(f.Owner), BlockedBy: f.BlockedBy, Metadata: f.Metadata,
	}
}

// text returns a JSON string decoded, and "" for any other value.
func text(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	decoded, _ := jsontext.AppendUnquote(nil, value) // it is valid
	return string(decoded)
}
