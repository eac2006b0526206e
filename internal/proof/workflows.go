package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/outline"
)

// steps compares the steps of a statement, and what was decided about them, with the workflows of the commit. Where these are others, or
// are not there, that is said elsewhere.
func (j judge) steps(ctx context.Context, s Statement) (problems, notes []string, err error) {
	var specs []*fsmspec.Spec
	for _, w := range s.Predicate.workflows() {
		if w.FSM.Path == "" {
			return nil, nil, nil
		}
		sum, err := j.in.digestOf(ctx, j.commit, w.FSM)
		if errors.Is(err, errLink) || err == nil && (sum == "" || sum != w.FSM.SHA256) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		data, err := j.in.read(ctx, j.commit, w.FSM.Path)
		if err != nil {
			return nil, nil, err
		}
		spec, note, err := s.Predicate.spec(w.FSM, data)
		if err != nil {
			return []string{fmt.Sprintf("the workflow in %s cannot be read: %v", w.FSM.Path, err)}, nil, nil
		}
		specs, notes = append(specs, spec), append(notes, note...)
	}
	return s.Predicate.agree(specs), notes, nil
}

// errNotThePlan is returned for a plan of which no whole section has the steps of a statement.
var errNotThePlan = errors.New("the steps of the statement are neither its boxes nor those of one of its sections")

// spec returns the workflow that a file is. Of a plan a run may have taken only some boxes: a note says so.
func (r Run) spec(f File, data []byte) (spec *fsmspec.Spec, notes []string, err error) {
	if !f.Plan {
		spec, err = fsmspec.Parse(data)
		return spec, nil, err
	}
	text := checklist.Unticked(string(data))
	list := checklist.Read(text)
	sections := [][]checklist.Box{list.Boxes}
	only := func(in func(checklist.Box) bool) {
		sections = append(sections, slices.DeleteFunc(slices.Clone(list.Boxes), func(b checklist.Box) bool { return !in(b) }))
	}
	for _, h := range list.Heads {
		only(func(b checklist.Box) bool {
			return slices.ContainsFunc(b.Above, func(above checklist.Head) bool { return above.Line == h.Line })
		})
	}
	for i, b := range list.Boxes {
		if i == 0 || !slices.Equal(b.Above, list.Boxes[i-1].Above) {
			only(func(other checklist.Box) bool { return slices.Equal(b.Above, other.Above) })
		}
	}
	own := slices.DeleteFunc(slices.Clone(r.Steps), func(s Step) bool { return s.Under != 0 })
	for _, boxes := range sections {
		if len(boxes) != len(own) || len(boxes) == 0 {
			continue
		}
		spec, err := fsmspec.Parse(outline.JSON(outline.Plan(text, list, boxes), nil))
		if err != nil || !slices.EqualFunc(spec.Tasks(), own, func(t fsmspec.Task, s Step) bool { return t.Subject == s.Subject }) {
			continue
		}
		if left := len(list.Boxes) - len(boxes); left > 0 {
			notes = append(notes, fmt.Sprintf("%s has %d boxes that the run did not take: it took only a section", f.Path, left))
		}
		for _, s := range own {
			if s.State == isDone && len(s.Decisions) == 0 {
				notes = append(notes, fmt.Sprintf("the box of step %q was ticked before the run began", s.Subject))
			}
		}
		return spec, notes, nil
	}
	return nil, nil, errNotThePlan
}
