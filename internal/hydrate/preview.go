package hydrate

import (
	"context"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Preview is what Apply would do now.
type Preview struct {
	List     string // the task list's directory
	Spec     string // path of the fsm.json
	Snapshot fsmspec.Snapshot
	Plan     *fsmspec.Plan
	Steps    []workflow.Step   // the step of each of Plan.Creations, as it would be recorded
	PartOf   []int64           // the number of the step that each of Steps is a part of, or 0
	Warnings []fsmspec.Problem // about the fsm.json
	Parent   *state.Current    // the step that the workflow would come under; nil if it would come under none
	Torn     []string          // files that are not JSON; Apply reads them again under their locks
}

// Preview plans as Apply does, but takes no lock and changes nothing. Unless the list or
// the fsm.json changes in between, Apply does what Preview returns.
//
// Errors: state.ErrOpenAbove, *fsmspec.ActiveError, fsmspec.ErrIDTooLarge, or the file system's.
func (h *Hydration) Preview(ctx context.Context) (p Preview, err error) {
	p = Preview{List: h.list.Dir, Spec: h.result.Spec, Warnings: h.spec.Warnings()}
	if p.Snapshot, p.Torn, err = h.list.Read(ctx); err != nil {
		return p, err
	}
	if p.Plan, err = h.planner(ctx)(p.Snapshot); err == nil {
		p.Steps, p.PartOf = p.Plan.Tasks(), p.Plan.PartOf()
		p.Parent = h.place.Parent
	}
	return p, err
}

// Decisions returns lines that explain how the plan follows from the list and the file.
func (p Preview) Decisions(policy fsmspec.Policy) []string {
	lines := []string{
		fmt.Sprintf("the largest number in the list is %d%s, its high-water mark is %d: new tasks start at #%d",
			p.Snapshot.MaxID, in(p.Snapshot.MaxName), p.Snapshot.HighWater, p.first()),
		fmt.Sprintf("tasks with the tag of a workflow: %d; scope %s deletes %d", len(p.Snapshot.Tasks), policy.Scope, len(p.Plan.Deletions())),
	}
	if p.Parent != nil {
		lines[1] = fmt.Sprintf("tasks with the tag of a workflow: %d; work on another workflow has begun, so the steps come "+
			"under %s of %s; %d are deleted",
			len(p.Snapshot.Tasks), p.Parent.Name(), p.Parent.Workflow.Command, len(p.Plan.Deletions()))
	}
	if len(p.Torn) > 0 {
		lines = append(lines, "not JSON now, and read again under its lock: "+strings.Join(p.Torn, ", "))
	}
	for i, c := range p.Plan.Creations() {
		of := "the file"
		if i < len(p.PartOf) && p.PartOf[i] != 0 {
			of = fmt.Sprintf("the do of #%d", p.PartOf[i])
		}
		lines = append(lines, fmt.Sprintf("task %d of %s becomes #%d%s", p.Steps[i].Local, of, c.ID, after(p.Steps[i])))
	}
	if mark, raise := p.Plan.HighWater(); raise {
		lines = append(lines, fmt.Sprintf("the high-water mark is raised to %d, so that no number is given again", mark))
	}
	return lines
}

func in(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// first returns the number of the first new task.
func (p Preview) first() int64 {
	if all := p.Plan.Creations(); len(all) > 0 {
		return all[0].ID
	}
	return max(p.Snapshot.MaxID, p.Snapshot.HighWater) + 1
}

// after lists the steps that block the step.
func after(step workflow.Step) string {
	if len(step.BlockedBy) == 0 {
		return ""
	}
	var after []string
	for _, id := range step.BlockedBy {
		after = append(after, fmt.Sprintf("#%d", id))
	}
	return ", after " + strings.Join(after, ", ")
}
