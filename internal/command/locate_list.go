package command

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/locator"
)

// listedWorkflow is a workflow that is visible from a directory, with the state of its file.
type listedWorkflow struct {
	locator.Workflow
	Steps   int    `json:"steps"`
	Valid   bool   `json:"valid"`
	Problem string `json:"problem"` // the first one, "" if it is valid
	more    int    // problems

	unedited int // steps that are examples of fsmtx new
}

func listWorkflows(s terminal.Streams, l *locator.Locator, cwd string, asJSON bool) error {
	found, complete := l.Workflows(cwd)
	workflows := []listedWorkflow{}
	for _, w := range found {
		workflows = append(workflows, readListed(l.FS, w))
	}
	misnamed, _ := l.Misnamed(cwd)
	if asJSON {
		return printJSON(s.Out, struct {
			Complete  bool               `json:"complete"`
			Workflows []listedWorkflow   `json:"workflows"`
			Misnamed  []locator.Misnamed `json:"misnamed"`
		}{complete, workflows, append([]locator.Misnamed{}, misnamed...)})
	}
	if len(workflows) == 0 {
		visible.Fprintf(s.Out, "no workflow is visible from %s\n", cwd)
	}
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, w := range workflows {
		visible.Fprintf(table, "%s\t%s\t%s%s\n", w.names(), w.state(), w.Path, w.unused())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, m := range misnamed {
		visible.Fprintf(s.Out, "%s is not read: %s\n", m.Path, m.Why)
	}
	if !complete {
		s.Hintf("not all directories were searched; fsmtx locate NAME searches for one skill")
	}
	return nil
}

// readListed reads and checks the file of a workflow.
func readListed(files locator.FS, w locator.Workflow) listedWorkflow {
	data, err := locator.ReadSpec(files, w.Path, fsmspec.MaxBytes)
	if err != nil {
		return listedWorkflow{Workflow: w, Problem: err.Error()}
	}
	spec, err := fsmspec.Parse(data)
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](err); ok {
		return listedWorkflow{Workflow: w, Problem: invalid.Problems[0].Error(), more: len(invalid.Problems) - 1}
	}
	if err != nil {
		return listedWorkflow{Workflow: w, Problem: err.Error()}
	}
	return listedWorkflow{Workflow: w, Steps: spec.Len(), Valid: true, unedited: len(outline.Unedited(spec.Tasks()))}
}

func (v listedWorkflow) names() string {
	if len(v.Others) == 0 {
		return v.Command
	}
	return fmt.Sprintf("%s (%s)", v.Command, strings.Join(v.Others, ", "))
}

// state returns the number of steps, or the first error of an invalid file.
func (v listedWorkflow) state() string {
	switch {
	case v.more > 0:
		return fmt.Sprintf("not valid: %s … and %d more", v.Problem, v.more)
	case !v.Valid:
		return "not valid: " + v.Problem
	}
	return terminal.Count(v.Steps, "step")
}

// unused returns the reason why the client does not run the workflow, empty if it does.
func (v listedWorkflow) unused() string {
	switch {
	case v.ShadowedBy != "":
		return "  (shadowed by " + v.ShadowedBy + ")"
	case v.Unused:
		return "  (no name leads to it)"
	}
	return ""
}
