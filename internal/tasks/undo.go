package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/startup"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Errors of Undo and PlanUndo. With each of them nothing is changed.
var (
	// ErrNoChange is returned when the history of the list has no such change.
	ErrNoChange = errors.New("no such change in the history of the list")
	// ErrUndone is returned when the change was undone before.
	ErrUndone = errors.New("undone already")
	// ErrReplaced is returned when a later change has deleted what the change created.
	ErrReplaced = errors.New("replaced by a later change")
	// ErrPart is returned for a change that came with a step: the call that the step came with can be undone.
	ErrPart = errors.New("it is a part of another change")
	// ErrContinued is returned for a change by which a workflow came from another list, or by which it went there, also for one whose
	// tasks that has taken out: the workflow would be in both lists, or in none.
	ErrContinued = errors.New("its workflow went on in another list")
	// ErrNotKept is returned when a task cannot be restored, because its copy is gone or another file has its name.
	ErrNotKept = errors.New("what it replaced cannot be restored")
)

// ReplacedError is an ErrReplaced.
type ReplacedError struct{ By string } // id of the later change

func (e *ReplacedError) Error() string { return ErrReplaced.Error() + ": " + e.By }

func (e *ReplacedError) Unwrap() error { return ErrReplaced }

// WorkedOnError is returned, without force, when tasks that would be removed were changed since, or are gone.
type WorkedOnError struct {
	Names []string // of their files
	Gone  bool     // none of the files is there any more
}

func (e *WorkedOnError) Error() string {
	return "worked on since: " + strings.Join(e.Names, ", ")
}

// Undoing is the effect of undoing a change of a list.
type Undoing struct {
	Removed  []string // files that are removed
	Restored []string // files that are restored: bytes, inode, mode and times
	Under    []string // ids of the changes that came of the change, and are undone with it

	Unreleased error // why locks could not be released; nil if they were, or if none was taken

	label    Label
	restores []txn.Restore // from which change each of Restored comes
}

// Undo takes back a committed change of the list with all that came of it, as one transaction: it removes the tasks that these
// created, and restores those that they had replaced, as they were. It undoes all of that or nothing. Tasks that were changed since
// are removed only with force. Undoing an undo brings everything back. As with any change, the history keeps the removed files.
//
// Errors: ErrNoChange, ErrUndone, ErrReplaced, ErrPart, ErrContinued, ErrNotKept, *WorkedOnError without force, errTimeout, *BusyError,
// that a lock was lost, and those of txn.Open and txn.Dir.Commit except txn.ErrChanged.
func (l List) Undo(ctx context.Context, id string, force bool) (Undoing, error) {
	return l.undo(ctx, undoRequest{id: id, force: force})
}

// Retract undoes a change that the invocation should not have made. It removes tasks of
// the change even if they were modified since, and records the invocation, so that
// Replace does not repeat it.
//
// Errors are those of Undo.
func (l List) Retract(ctx context.Context, id, invocation string) (Undoing, error) {
	return l.undo(ctx, undoRequest{id: id, invocation: invocation, force: true})
}

// undoRequest selects the change to undo, and how.
type undoRequest struct {
	id         string
	invocation string // recorded in the label of the undo
	force      bool   // remove tasks even if they were modified since
}

func (l List) undo(ctx context.Context, what undoRequest) (u Undoing, err error) {
	waiting, cancel := l.Waiting(ctx)
	defer cancel()
	dir, err := l.Open(waiting)
	if err != nil {
		return u, err
	}
	defer func() { u.Unreleased = dir.Close() }()
	history, err := dir.History()
	if err != nil {
		return u, err
	}
	for {
		if u, err = l.planLocked(waiting, dir, history, what); err != nil {
			return u, err
		}
		u.label.By = l.By
		startup.ManyProcessors()
		err = commit(ctx, dir, u.label, txn.Change{Deletes: u.Removed, Restores: u.restores, Mark: Form.Mark(lastCreated(history))})
		if !errors.Is(err, txn.ErrChanged) && !errors.Is(err, txn.ErrExists) || errors.Is(err, txn.ErrRecoveryRequired) {
			return u, err
		}
		if waiting.Err() != nil {
			return u, fmt.Errorf("%w; the last try: %v", context.Cause(waiting), err)
		}
	}
}

// lastCreated returns the largest number of a task that a change has created, which no task gets again: not after an undo, nor if somebody
// removes the list with its mark. The client does the same when it deletes a task (fact 7, client 2.1.197).
func lastCreated(history []txn.Entry) (last int64) {
	for _, e := range history {
		for _, f := range e.Created {
			last = max(last, Form.Number(f.Name))
		}
	}
	return last
}

// planLocked plans with the locks of the files to remove held. Which files these are is
// known only after planning, so it plans again until it holds the locks of all.
func (l List) planLocked(ctx context.Context, dir *txn.Dir, history []txn.Entry, what undoRequest) (Undoing, error) {
	var locked []string
	for {
		if _, err := dir.Lock(ctx, locked...); err != nil {
			return Undoing{}, err
		}
		u, err := l.planUndo(dir.Files(), dir.Path(), history, what)
		if err != nil || !slices.ContainsFunc(u.Removed, func(name string) bool { return !slices.Contains(locked, name) }) {
			return u, err
		}
		locked = u.Removed
	}
}

// PlanUndo returns what Undo would do to a list with this history. It takes no lock and changes nothing. Its errors
// are those of Undo about the change, those of txn.Entry.Err, or the file system's.
func (l List) PlanUndo(history []txn.Entry, id string, force bool) (Undoing, error) {
	return l.planUndo(l.Files(), l.Dir, history, undoRequest{id: id, force: force})
}

// HowToUndo returns the flags with which a person can undo a change now; ok is false if it cannot be undone.
func (l List) HowToUndo(history []txn.Entry, id string) (flags []string, ok bool) {
	_, err := l.PlanUndo(history, id, false)
	if _, worked := errors.AsType[*WorkedOnError](err); worked {
		flags = []string{"--force"}
		_, err = l.PlanUndo(history, id, true)
	}
	return flags, err == nil
}

func (l List) planUndo(files vfs.FS, dir string, history []txn.Entry, what undoRequest) (Undoing, error) {
	r := lineageOf(history)
	i := r.index(what.id)
	if i < 0 {
		return Undoing{}, ErrNoChange
	}
	undone := Undone(history)
	u := Undoing{label: r.labels[i]}
	u.label.Undo, u.label.Invocation, u.label.Under, u.label.Tells = what.id, what.invocation, 0, false
	for _, e := range history[i:] {
		if e.Err != nil {
			return u, e.Err
		}
	}
	calls := r.calls(i)
	switch label := r.labels[i]; {
	case undone[what.id] != "":
		return u, ErrUndone
	case label.Undo == "" && label.Step != 0:
		return u, ErrPart
	case label.With != "":
		return u, ErrContinued
	}
	inList, by := r.inList(i, calls)
	isElsewhere := len(inList) == 0 && by >= 0 && r.labels[by].With != ""
	switch {
	case isElsewhere && r.labels[i].Reloads: // what it replaced is the workflow that has gone
		return u, fmt.Errorf("%w: %s", ErrContinued, history[by].ID)
	case len(inList) == 0 && by >= 0 && !isElsewhere:
		return u, &ReplacedError{history[by].ID}
	}
	for j, e := range history {
		if j != i && r.labels[j].Undo == "" && undone[e.ID] == "" && r.cameOf(j, calls) && !slices.Contains(calls, j) {
			u.Under = append(u.Under, e.ID)
		}
	}
	worked, err := u.planRemovals(files, dir, inList)
	if err != nil {
		return u, err
	}
	untouched := func(name string) bool {
		worked, ours := l.Changed[name]
		return ours && slices.Contains(u.Removed, name) && !worked.After(history[i].Time)
	}
	worked = slices.DeleteFunc(worked, untouched)
	err = u.planRestores(files, dir, r, i, func(j int) bool {
		return r.labels[i].Undo == "" && r.labels[j].Undo == "" && undone[history[j].ID] == "" && r.cameOf(j, calls)
	})
	switch {
	case err != nil: // also with force
		return u, err
	case len(worked) > 0 && !what.force:
		return u, &WorkedOnError{worked, len(u.Removed) == 0}
	case isElsewhere && len(u.Restored) == 0:
		return u, fmt.Errorf("%w: %s", ErrContinued, history[by].ID)
	}
	return u, nil
}

// inList returns the tasks of the calls, and of all that came of them, that are in the list by its history: as they were created, or as
// the target has brought them back if that is an undo. by is the index of the last change that has taken one out, unless it came of the
// calls, -1 if there is none.
func (r lineage) inList(target int, calls []int) (all map[string]txn.EntryFile, by int) {
	all, by = map[string]txn.EntryFile{}, -1
	created := map[string]txn.EntryFile{}
	for i, e := range r.history {
		if i < target && r.labels[target].Undo != "" {
			continue // what was gone before was gone when the target brought back the others
		}
		for _, name := range r.out(i) {
			if _, there := all[name]; there && !r.cameOf(i, calls) {
				by = i
			}
			delete(all, name)
		}
		for _, f := range e.Created {
			if c, known := r.creator[f.Name]; i != target && !(known && r.cameOf(c, calls)) {
				continue
			}
			if _, was := created[f.Name]; !was || i == target {
				created[f.Name] = f
			}
			all[f.Name] = created[f.Name]
		}
	}
	for by >= 0 && r.labels[by].Undo != "" && r.labels[r.above[by]].Undo != "" { // the undo of an undo: what that had undone is there again
		by = r.above[r.above[by]]
	}
	return all, by
}

// planRemovals sets Removed to those of the tasks that exist, and returns those that were changed or are gone.
func (u *Undoing) planRemovals(files vfs.FS, dir string, inList map[string]txn.EntryFile) (changed []string, err error) {
	for name, f := range inList {
		same, err := isUnchanged(files, filepath.Join(dir, name), f)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			changed = append(changed, name)
		case errors.Is(err, vfs.ErrNotRegular):
			return nil, fmt.Errorf("%w: %s", err, filepath.Join(dir, name))
		case err != nil:
			return nil, err
		default:
			u.Removed = append(u.Removed, name)
			if !same {
				changed = append(changed, name)
			}
		}
	}
	sortNames(u.Removed)
	sortNames(changed)
	return changed, nil
}

// sortNames sorts names of tasks by their numbers.
func sortNames(names []string) {
	slices.SortFunc(names, func(a, b string) int { return int(Form.Number(a) - Form.Number(b)) })
}

// planRestores sets Restored to the tasks that change i has deleted, and those that others with it have; not to tasks that came with it.
func (u *Undoing) planRestores(files vfs.FS, dir string, r lineage, i int, with func(int) bool) error {
	for j, e := range r.history {
		if j != i && !with(j) {
			continue
		}
		for _, f := range e.Deleted {
			c, known := r.creator[f.Name]
			if known && with(c) {
				continue
			}
			if known && r.root(c) != c && r.hasLeft(r.root(c)) {
				return fmt.Errorf("%w: %s", ErrContinued, r.history[r.root(c)].ID)
			}
			if _, err := files.Lstat(filepath.Join(dir, f.Name)); err == nil {
				return fmt.Errorf("%w: another file has the name %s now", ErrNotKept, filepath.Join(dir, f.Name))
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			from := ""
			for _, x := range r.history[j:] { // a file that was restored and deleted again is kept by the last change that deleted it
				if _, err := files.Lstat(filepath.Join(x.Backups, f.Name)); err == nil {
					from = x.ID
				} else if !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			if from == "" {
				return fmt.Errorf("%w: the copy of %s is gone", ErrNotKept, f.Name)
			}
			u.Restored, u.restores = append(u.Restored, f.Name), append(u.restores, txn.Restore{ID: from, Name: f.Name})
		}
	}
	return nil
}

// isUnchanged reports whether the file has the content that it was created with.
func isUnchanged(files vfs.FS, path string, f txn.EntryFile) (bool, error) {
	data, err := files.ReadFile(path)
	if errors.Is(err, vfs.ErrFileTooLarge) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]) == f.SHA256, nil
}
