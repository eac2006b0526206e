package tasks

import (
	"cmp"
	"errors"
	"io/fs"

	"github.com/fsmtx/fsmtx/txn"
)

// The history keeps runs. A run is the call of a skill with all that came of it: the copies for items in each round, the calls under
// its steps, and their undoing. It leaves the history as a whole, with the records and the files of its tasks.
//
// Kept are the runs that were changed last, as many as the list is to keep; those with a task in the list; and those of which a change of
// these has deleted a task: undoing that change brings the task back, and without its record nothing would be enforced about it.

// whole returns the runs that can be undone: those that were changed last, and those with a task in the list.
func (l List) whole(r lineage) map[int]bool {
	all := map[int]bool{}
	for i := len(r.history) - 1; i >= 0 && len(all) < cmp.Or(l.Keep, txn.DefaultHistory); i-- {
		all[r.root(i)] = true
	}
	inList, err := l.Files().ReadDir(l.Dir)
	for _, e := range inList {
		if i, known := r.creator[e.Name()]; known {
			all[r.root(i)] = true
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // what is in the list is not known
		for i := range r.history {
			all[r.root(i)] = true
		}
	}
	return all
}

// keep returns for txn.WithKeep the changes that are kept, with the copies of tasks that are not: those of runs that leave the history.
// Whoever brought them back would have no record of them.
func (l List) keep(history []txn.Entry) map[string][]string {
	r := lineageOf(history)
	whole, runs := l.whole(r), map[int]bool{}
	for i, e := range history {
		if !whole[r.root(i)] && !mayContinue(e.Label) { // the other list asks for that
			continue
		}
		runs[r.root(i)] = true
		for _, f := range e.Deleted {
			if c, known := r.creator[f.Name]; known {
				runs[r.root(c)] = true
			}
		}
	}
	kept := map[string][]string{}
	for i, e := range history {
		if !runs[r.root(i)] {
			continue
		}
		kept[e.ID] = nil
		for _, f := range e.Deleted {
			if c, known := r.creator[f.Name]; !whole[r.root(i)] && !(known && runs[r.root(c)]) {
				kept[e.ID] = append(kept[e.ID], f.Name)
			}
		}
	}
	return kept
}
