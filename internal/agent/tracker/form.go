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
)

// maxID is the largest number of a task that can be shown: an id has six characters.
const maxID = 999_999

const suffix = ".json"

// idOf returns the tracker's id of a step: "000003" for 3.
func idOf(n int64) string { return fmt.Sprintf("%06d", n) }

// ID returns "3" for "000003.json" and for "000003". It is "" if the id is not a number, as those
// that the tracker itself gives.
func ID(name string) string {
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

// text returns the file of a step as the tracker writes it.
func text(c fsmspec.Creation) []byte {
	t := task{idOf(c.ID), c.Subject, c.Description, "task", statuses[c.Status], []string{}, jsontext.Value(c.Metadata)}
	for _, b := range c.BlockedBy {
		t.Dependencies = append(t.Dependencies, idOf(b))
	}
	// There is no error: Metadata is an object, or empty.
	data, _ := json.Marshal(t, jsonx.Tolerant, jsontext.WithIndent("  "))
	return data
}

// isStepFile reports whether a file of the tracker shows a step.
func isStepFile(data []byte) bool {
	var t task
	return json.Unmarshal(data, &t, jsonx.Tolerant) == nil && ID(t.ID) != "" && jsonx.Member(t.Metadata, fsmspec.Tag) != nil
}
