package workflow

import (
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// Planned returns the workflows that a plan creates, as they are recorded: those whose parent is
// the step with that number, 0 for the outermost one, and under their steps what these consist
// of. What is known about the skill is left to the caller.
func Planned(levels []fsmspec.Level, parent int64) (all []Workflow) {
	for _, l := range levels {
		if l.Parent != parent {
			continue
		}
		w := Workflow{Parent: parent, After: l.InTurn}
		for _, task := range l.Tasks {
			w.Steps = append(w.Steps, stepOf(task, l.Base))
			w.Under = append(w.Under, Planned(levels, l.Base+task.ID)...)
		}
		all = append(all, w)
	}
	return all
}

// PlannedSteps returns the steps that a plan creates, one for each of its creations, as the list
// shows them: BlockedBy has the steps of other levels that come before, too. partOf has the
// number of the step that each is a part of, or 0.
func PlannedSteps(p *fsmspec.Plan) (all []Step, partOf []int64) {
	flat := p.Flat()
	for _, l := range p.Levels() {
		for _, task := range l.Tasks {
			s := stepOf(task, l.Base)
			s.BlockedBy = nil
			for _, id := range flat[len(all)].BlockedBy {
				if !slices.Contains(task.Circular, id) {
					s.BlockedBy = append(s.BlockedBy, p.Levels()[0].Base+id)
				}
			}
			all = append(all, s)
		}
	}
	return all, p.PartOf()
}

// ForEachLine returns the steps that are done for each line of a step, with the parts of those that have some, and
// with anyLine in the place of the line. Their numbers, and so their order, are those of the file.
func (e *Each) ForEachLine() []Step {
	spec, err := fsmspec.ForItem(e.Workflow, AnyLine)
	if err != nil {
		return nil // it was parsed before, for another line
	}
	p, err := spec.Plan("", fsmspec.Snapshot{}, fsmspec.Policy{})
	if err != nil {
		return nil
	}
	all, _ := PlannedSteps(p)
	for i, c := range p.Creations() {
		all[i].Subject = c.Subject
	}
	return all
}

// AnyLine stands for a line.
const AnyLine = "ITEM"

// stepOf returns a task as a step, with numbers of the list.
func stepOf(task fsmspec.Task, base int64) Step {
	s := Step{
		ID:      base + task.ID,
		Local:   task.ID,
		Subject: task.Subject,
		Status:  task.Status.String(),
		Only:    task.Flow.Only,

		Do: task.Skill,

		Description: task.Shown(base),
	}
	for _, id := range task.BlockedBy {
		if slices.Contains(task.Circular, id) {
			s.Circular = append(s.Circular, base+id)
		} else {
			s.BlockedBy = append(s.BlockedBy, base+id)
		}
	}
	s.addFlow(task.Flow, base)
	if len(fsmspec.Named(task.ActiveForm)) > 0 {
		s.ActiveForm = task.ActiveForm
	}
	s.declareGates(task.Gates)
	if e := task.Each; e != nil {
		s.Each = &Each{Lines: e.Lines, Run: checkOf(e.Run), InTurn: e.InTurn, Workflow: e.Workflow}
	}
	return s
}

func checkOf(c *fsmspec.Check) *Check {
	if c == nil {
		return nil
	}
	return &Check{Run: c.Run, Shell: c.Shell, Timeout: c.Timeout.Seconds(), Dir: c.Dir, Env: c.Env, Watch: c.Watch}
}

// addFlow adds the outcomes of a step, its conditions and who decides, with numbers of the
// list.
func (s *Step) addFlow(f fsmspec.Flow, base int64) {
	for _, o := range f.Outcomes {
		r := Outcome{Name: o.Name, Max: o.Max, Then: o.Then, Stop: o.Stop}
		r.declareGates(o.Gates)
		if o.Back != 0 {
			r.Back = base + o.Back
		}
		s.Outcomes = append(s.Outcomes, r)
	}
	for _, c := range f.When {
		s.When = append(s.When, Condition{Step: base + c.Task, Outcomes: c.Outcomes})
	}
	if f.Decides != fsmspec.ByAgent {
		s.Decides = f.Decides.String()
	}
	s.Chooser = checkOf(f.Chooser)
	for _, v := range f.Set {
		s.Set = append(s.Set, Value{Name: v.Name, Pattern: v.Pattern, OneOf: v.OneOf, Command: checkOf(v.Command)})
	}
	s.Within = f.Within.Seconds()
}
