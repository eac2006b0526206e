// Package workflows reads the workflows that are visible from a directory, for commands that list
// them or look for mistakes in them.
package workflows

import (
	"errors"
	"fmt"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// Workflow is a workflow that is visible from a directory, with the state of its file.
type Workflow struct {
	locator.Workflow
	Steps   int    `json:"steps"`
	Valid   bool   `json:"valid"`
	Problem string `json:"problem"` // the first one, "" if it is valid

	Unedited int `json:"-"` // steps that are examples of fsmtx new
	more     int // problems
}

// Read reads and checks the file of a workflow.
func Read(files locator.FS, w locator.Workflow) Workflow {
	data, err := locator.ReadSpec(files, w.Path, fsmspec.MaxBytes)
	if err != nil {
		return Workflow{Workflow: w, Problem: err.Error()}
	}
	spec, err := fsmspec.Parse(data)
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](err); ok {
		return Workflow{Workflow: w, Problem: invalid.Problems[0].Error(), more: len(invalid.Problems) - 1}
	}
	if err != nil {
		return Workflow{Workflow: w, Problem: err.Error()}
	}
	return Workflow{Workflow: w, Steps: spec.Len(), Valid: true, Unedited: len(outline.Unedited(spec.Tasks()))}
}

// State returns the number of steps, or the first error of an invalid file.
func (v Workflow) State() string {
	switch {
	case v.more > 0:
		return fmt.Sprintf("not valid: %s … and %d more", v.Problem, v.more)
	case !v.Valid:
		return "not valid: " + v.Problem
	}
	return terminal.Count(v.Steps, "step")
}

// Reason returns the reason why the client does not run the workflow, empty if it does.
func (v Workflow) Reason() string {
	switch {
	case v.Off != "":
		return v.Off
	case v.ShadowedBy != "":
		return "shadowed by " + v.ShadowedBy
	case v.Unused:
		return "no name leads to it"
	}
	return ""
}
