package tasks

import (
	"cmp"
	"errors"
	"io/fs"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
)

// The history keeps runs. A run is the call of a skill with all that came of it: the copies for items in each round, the calls under
// its steps, and their undoing. It leaves the history as a whole, with the records and the files of its tasks.
//
// Kept are the runs that were changed last, as many as the list is to keep; those with a task in the list; and those of which a change of
// these has deleted a task: undoing that change brings the task back, and without its record nothing would be enforced about it.

// runs tells for each change of a history to which run it belongs.
type runs struct {
	history []txn.Entry
	of      []int          // the index of the change that began the run, by the index of a change
	creator map[string]int // the index of the change that created a task first, by the name of its file
}

func runsOf(history []txn.Entry) runs {
	r := runs{history, make([]int, len(history)), map[string]int{}}
	changes := map[string]int{}
	for i, e := range history {
		var l Label
		_ = json.Unmarshal([]byte(e.Label), &l, jsonx.Tolerant) // a change of another program is a run of its own
		r.of[i], changes[e.ID] = i, i
		from, known := changes[l.Undo]
		if l.Undo == "" && max(l.Step, l.Under) != 0 {
			from, known = r.creator[Form.Name(message.Itoa(max(l.Step, l.Under)))]
		}
		if known {
			r.of[i] = r.of[from]
		}
		for _, f := range e.Created {
			if _, known := r.creator[f.Name]; !known && l.Undo == "" {
				r.creator[f.Name] = i
			}
		}
	}
	return r
}

// last returns the n runs that were changed last.
func (r runs) last(n int) map[int]bool {
	all := map[int]bool{}
	for i := len(r.of) - 1; i >= 0 && len(all) < n; i-- {
		all[r.of[i]] = true
	}
	return all
}

// whole returns the runs that can be undone: those that were changed last, and those with a task in the list.
func (l List) whole(r runs) map[int]bool {
	all := r.last(cmp.Or(l.Keep, txn.DefaultHistory))
	inList, err := l.Files().ReadDir(l.Dir)
	for _, e := range inList {
		if i, known := r.creator[e.Name()]; known {
			all[r.of[i]] = true
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // what is in the list is not known
		for _, i := range r.of {
			all[i] = true
		}
	}
	return all
}

// keep returns for txn.WithKeep the changes that are kept, with the copies of tasks that are not: those of runs that leave the history.
// Whoever brought them back would have no record of them.
func (l List) keep(history []txn.Entry) map[string][]string {
	r := runsOf(history)
	whole, runs := l.whole(r), map[int]bool{}
	for i, e := range history {
		if !whole[r.of[i]] && !mayContinue(e.Label) { // the other list asks for that
			continue
		}
		runs[r.of[i]] = true
		for _, f := range e.Deleted {
			if c, known := r.creator[f.Name]; known {
				runs[r.of[c]] = true
			}
		}
	}
	kept := map[string][]string{}
	for i, e := range history {
		if !runs[r.of[i]] {
			continue
		}
		kept[e.ID] = nil
		for _, f := range e.Deleted {
			if c, known := r.creator[f.Name]; !whole[r.of[i]] && !(known && runs[r.of[c]]) {
				kept[e.ID] = append(kept[e.ID], f.Name)
			}
		}
	}
	return kept
}
