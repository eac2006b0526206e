package tasks

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
)

// Most of a history is dead: runs whose tasks later ones have replaced. Only an undo, or a reader of the whole history, needs them. So each
// change says in its label with which change begins what is needed after it, and nobody else reads what was before. It cannot be out of
// date: what is needed changes only with another change, and that has a label of its own. If the last change cannot be read, all is needed.

// NeededFrom returns the number of the oldest change that is needed, by the last one of the history.
func NeededFrom(last txn.Entry) int64 {
	var l Label
	if last.Err != nil || json.Unmarshal([]byte(last.Label), &l, jsonx.Tolerant) != nil {
		return 0
	}
	return l.From
}

// LastChange returns the last change of the list. It takes no lock.
//
// Errors: fs.ErrNotExist if there is none, and those of txn.OpenReader and of txn.Entry.Err.
func (l List) LastChange() (e txn.Entry, err error) {
	src, err := txn.OpenReader(l.Dir, txn.WithFS(l.Files()))
	if err != nil {
		return e, err
	}
	defer src.Close()
	history, err := src.HistoryFrom(func(last txn.Entry) int64 { return last.Number })
	if err != nil {
		return e, err
	}
	if len(history) == 0 {
		return e, fs.ErrNotExist
	}
	return history[0], history[0].Err
}

// commit commits a change with the label.
func commit(ctx context.Context, dir *txn.Dir, label Label, c txn.Change) error {
	history, err := dir.History()
	if err != nil {
		return err
	}
	label.From = neededWith(dir, history, label, c)
	c.Label = label.text()
	return dir.Commit(ctx, c)
}

// neededWith returns the number of the oldest change that is needed once c is committed.
func neededWith(dir *txn.Dir, history []txn.Entry, label Label, c txn.Change) int64 {
	next, created := txn.Entry{Number: 1, Label: label.text()}, map[string]bool{}
	if n := len(history); n > 0 {
		next.Number += history[n-1].Number
	}
	add := func(name string) { next.Created, created[name] = append(next.Created, txn.EntryFile{Name: name}), true }
	for _, f := range c.Creates {
		add(f.Name)
	}
	for _, f := range c.Restores {
		add(f.Name)
	}
	for _, name := range c.Deletes {
		next.Deleted = append(next.Deleted, txn.EntryFile{Name: name})
	}
	r := lineageOf(append(slices.Clip(history), next))
	i := r.oldestNeeded(func(name string) bool {
		if created[name] || slices.Contains(c.Deletes, name) {
			return created[name]
		}
		_, err := dir.Files().Lstat(filepath.Join(dir.Path(), name))
		return !errors.Is(err, fs.ErrNotExist)
	})
	return r.history[i].Number
}

// oldestNeeded returns the index of the oldest change that is needed: the last one; those that cannot be read; those that say where a
// workflow went, or what the person is told; and the runs of which the list has a task, by the history. Its tasks may all be gone, for the
// client removes those of a list once all are completed. Then it is over if its skill was called again: package state drops it.
func (r lineage) oldestNeeded(isThere func(name string) bool) int {
	oldest, here := len(r.history)-1, map[string]bool{} // skills with a task in the directory
	inList := r.tasksInList()
	for i, e := range slices.Backward(r.history) {
		l := r.labels[i]
		needed := e.Err != nil || l.To != "" || l.Tells
		if names := inList[i]; len(names) > 0 && !needed {
			needed = !here[l.Command] || l.Under != 0 || slices.ContainsFunc(names, isThere)
			here[l.Command] = here[l.Command] || slices.ContainsFunc(names, func(name string) bool { return r.creator[name] == i && isThere(name) })
		}
		if needed {
			oldest = i
		}
	}
	return oldest
}

// tasksInList returns the tasks in the list, by the history, of each run.
func (r lineage) tasksInList() map[int][]string {
	of := map[string]int{} // the run of each
	for i, e := range r.history {
		for _, f := range e.Deleted {
			delete(of, f.Name)
		}
		for _, f := range e.Created {
			call := i // of a task that an undo has brought back, and whose creation is not in the history any more
			if c, known := r.creator[f.Name]; known {
				call = c
			}
			of[f.Name] = r.root(call)
		}
		for _, step := range r.labels[i].Steps { // of a continuation, those without a task too
			if name := Form.Name(message.Itoa(step)); r.labels[i].To != "" {
				delete(of, name)
			} else if _, known := of[name]; !known {
				of[name] = r.root(i)
			}
		}
	}
	runs := map[int][]string{}
	for name, i := range of {
		runs[i] = append(runs[i], name)
	}
	return runs
}
