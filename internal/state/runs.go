package state

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// Runs returns the state of each workflow that the history of the list has and that was not undone and does not go on
// elsewhere, with those under its steps, the oldest first; also of those that are not in the list any more, as they were when a
// change took them out. It takes no lock and creates nothing.
//
// Errors: that the list or S cannot be read, or nothing of what is on record. With no S there are none.
func (st *Store) Runs(ctx context.Context) (all []*State, err error) { return st.runs(ctx, false) }

// Runs is Store.Runs of the list in dir, of which nothing else is read.
func Runs(ctx context.Context, dir string) (all []*State, err error) {
	return (&Store{List: tasks.List{Dir: dir}}).Runs(ctx)
}

// EveryRun is Runs with the workflows that were undone, or went on elsewhere, as they were then.
func (st *Store) EveryRun(ctx context.Context) (all []*State, err error) { return st.runs(ctx, true) }

func (st *Store) runs(ctx context.Context, undone bool) (all []*State, err error) {
	src, err := txn.OpenReader(st.List.Dir, txn.WithFS(st.List.Files()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := st.recorded(src, true)
	of := map[*workflow.Workflow]RecordedSteps{}
	for _, x := range r.known {
		if w := r.rootOf(x.Workflow); undone || !w.Undone && !r.records[x.Workflow].Undone && !r.hasLeft(w) {
			of[w] = append(of[w], x)
		}
	}
	for w, own := range of {
		slices.SortFunc(own, func(a, b RecordedStep) int { return cmp.Compare(a.ID, b.ID) })
		s, err := st.withEarlier(ctx, st.List.Dir, own, src, true)
		if err != nil {
			return nil, err
		}
		s.Left, s.replaced = r.replaced[w], r.replaced
		s.reviveOver()
		if s.Run() == w { // else copies of its steps are not on record any more
			all = append(all, s)
		}
	}
	if len(all) == 0 && len(r.Broken) > 0 {
		return nil, r.Broken[0].err
	}
	slices.SortFunc(all, func(a, b *State) int { return cmp.Compare(a.Steps[0].ID, b.Steps[0].ID) })
	return all, nil
}

// reviveOver gives the steps that were replaced before their workflow came from another list the status that they had there.
func (s *State) reviveOver() {
	over := slices.DeleteFunc(s.Missing(), func(c *Current) bool { return c.Workflow.Over.IsZero() })
	for _, c := range over {
		c.Status = c.statusBefore()
	}
	if len(over) > 0 {
		s.Fold()
	}
}

// Run returns the first workflow that is under no step; nil if there is none.
func (s *State) Run() *workflow.Workflow {
	if i := slices.IndexFunc(s.Steps, func(c *Current) bool { return c.Workflow.Parent == 0 }); i >= 0 {
		return s.Steps[i].Workflow
	}
	return nil
}

// isReplaced reports whether a later change has deleted tasks of the workflow, or of one that it is in, of which some may have been gone.
func (r *OnRecord) isReplaced(w *workflow.Workflow) bool {
	for range r.known {
		above, ok := r.known[message.Itoa(w.Parent)]
		if r.replaced[w] || !ok {
			break
		}
		w = above.Workflow
	}
	return r.replaced[w]
}

// rootOf returns the workflow that a workflow is in, and that is under no step that is on record.
func (r *OnRecord) rootOf(w *workflow.Workflow) *workflow.Workflow {
	for range r.known {
		above, ok := r.known[message.Itoa(w.Parent)]
		if !ok {
			break
		}
		w = above.Workflow
	}
	return w
}
