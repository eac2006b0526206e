package workflow

import (
	"fmt"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
)

// Planned returns the workflow that a plan creates, as it is recorded. What is known about the call is left to the caller.
func Planned(spec *fsmspec.Spec, plan *fsmspec.Plan) Workflow {
	w := Workflow{FSM: spec.Text(), Base: plan.Base(), Values: spec.HasValues()}
	w.place(plan.Levels())
	return w
}

// read reads the steps of the workflow from its file.
func (w *Workflow) read() error {
	if w.Items == nil {
		spec, err := fsmspec.Read([]byte(w.FSM))
		if err != nil {
			return err
		}
		w.Values = spec.HasValues()
		w.place(spec.Levels(w.Base))
	} else {
		what := fsmspec.ItemPlan{Parent: w.Parent, InTurn: w.InTurn}
		for _, item := range w.Items {
			spec, err := fsmspec.ReadItem(w.FSM, item)
			if err != nil {
				return err
			}
			what.Copies = append(what.Copies, spec)
		}
		w.Values = true
		w.Under = under(what.Levels(w.Base), w.Parent)
		for i := range w.Under {
			w.Under[i].Round, w.Under[i].Item = w.Round, w.Items[i]
		}
	}
	for _, u := range w.All() {
		if err := u.Prove(); err != nil {
			return err
		}
	}
	return nil
}

// place gives the workflow the steps of its levels.
func (w *Workflow) place(levels []fsmspec.Level) {
	outer := under(levels, 0)
	w.Steps, w.Under = outer[0].Steps, outer[0].Under
}

// under returns the workflows of the levels whose parent is the step with that number, 0 for the outermost one, and under their steps
// what these consist of.
func under(levels []fsmspec.Level, parent int64) (all []Workflow) {
	for i, l := range levels {
		if l.Parent != parent {
			continue
		}
		w := Workflow{Parent: parent, After: l.InTurn, Steps: l.Tasks}
		for _, task := range l.Tasks {
			w.Under = append(w.Under, under(levels[i+1:], task.ID)...)
		}
		all = append(all, w)
	}
	return all
}

// Prove makes the machine of the workflow.
func (w *Workflow) Prove() error {
	all := make([]machine.Step, len(w.Steps))
	for i, s := range w.Steps {
		if all[i] = s.ForMachine(); s.ID < 1 || s.ID > fsmspec.MaxID {
			return fmt.Errorf("step #%d: the number is out of range", s.ID)
		}
	}
	m, faults := machine.New(all)
	if m == nil {
		return fmt.Errorf("step #%d: %s", w.Steps[faults[0].Step].ID, faults[0].Text)
	}
	w.Machine = m
	return nil
}
