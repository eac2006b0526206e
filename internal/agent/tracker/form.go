// Package tracker shows the steps of workflows in the task tracker of the Gemini CLI.
//
// The tracker belongs to a session, which neither a shell nor an MCP server knows, so it
// cannot be the list that is worked on: it is a copy of the project's list, which the hook
// brings up to date at each event. The facts were measured with Gemini CLI 0.61.0; see
// docs/agents.md.
package tracker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/projection"
	"github.com/fsmtx/fsmtx/txn"
)

// Form is the form of a task in the tracker.
type Form struct{}

var _ projection.Texts = Form{}

// maxID is the largest number of a task that can be shown: an id has six characters.
const maxID = 999_999

const suffix = ".json"

// Name returns "000003.json" for "3".
func (Form) Name(id string) string { return fmt.Sprintf("%06s%s", id, suffix) }

// ID returns "3" for "000003.json" and for "000003". It is "" if the id is not a number, as those
// that the tracker itself gives.
func (Form) ID(name string) string {
	digits := strings.TrimSuffix(name, suffix)
	n, err := strconv.ParseInt(digits, 10, 64)
	if len(digits) != 6 || err != nil || n < 1 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// task is a task's file. The tracker checks every field, and shows no task if one file is wrong.
type task struct {
	ID           string         `json:"id"`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	Type         string         `json:"type"`
	Status       string         `json:"status"`
	Dependencies []string       `json:"dependencies"`
	Metadata     jsontext.Value `json:"metadata,omitzero"`
}

// statuses are the tracker's words for the statuses of a step. A task that is "blocked" is
// pending, too.
var statuses = [...]string{fsmspec.Pending: "open", fsmspec.InProgress: "in_progress", fsmspec.Completed: "closed"}

// Status returns the status of a step for a word of the tracker, "" if there is none.
func Status(word string) string {
	switch word {
	case "open", "blocked":
		return fsmspec.Pending.String()
	case "in_progress":
		return fsmspec.InProgress.String()
	case "closed":
		return fsmspec.Completed.String()
	}
	return ""
}

// File returns the file as the tracker writes it.
func (f Form) File(c fsmspec.Creation) txn.File {
	id := strconv.FormatInt(c.ID, 10)
	t := task{strings.TrimSuffix(f.Name(id), suffix), c.Subject, c.Description, "task", statuses[c.Status], []string{},
		jsontext.Value(c.Metadata)}
	for _, b := range c.BlockedBy {
		t.Dependencies = append(t.Dependencies, strings.TrimSuffix(f.Name(strconv.FormatInt(b, 10)), suffix))
	}
	// There is no error: Metadata is an object, or empty.
	data, _ := json.Marshal(t, jsonx.Tolerant, jsontext.WithIndent("  "))
	return txn.File{Name: f.Name(id), Data: data, Mode: 0o666}
}

// Decode returns nil if data is not a task.
func (f Form) Decode(data []byte) *projection.Task {
	var t task
	if json.Unmarshal(data, &t, jsonx.Tolerant) != nil || t.ID == "" {
		return nil
	}
	got := &projection.Task{ID: f.ID(t.ID), Subject: t.Title, Description: t.Description, Status: Status(t.Status), Metadata: t.Metadata}
	for _, id := range t.Dependencies {
		got.BlockedBy = append(got.BlockedBy, f.ID(id))
	}
	return got
}
