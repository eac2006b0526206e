package tasks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/startup"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Errors of Undo and PlanUndo.
var (
	// ErrNoChange is returned when the history of the list has no such change.
	ErrNoChange = errors.New("no such change in the history of the list")
	// ErrUndone is returned when the change was undone before.
	ErrUndone = errors.New("undone already")
	// ErrReplaced is returned when a later change has deleted what the change created.
	ErrReplaced = errors.New("replaced by a later change")
	// ErrContinued is returned for a change by which a workflow goes on in another list: both lists would have it, or none.
	ErrContinued = errors.New("it is half of a continuation, whose other half is in another list")
)

// Undoing is the effect of undoing a change of a list.
type Undoing struct {
	Removed  []string // files that the change created and that are removed
	Restored []string // files that the change deleted and that are restored: bytes, inode, mode and times
	Kept     []Kept   // files that are left as they are
	Gone     []string // files that the change created and that no longer exist

	Unreleased error // why locks could not be released; nil if they were, or if none was taken

	label    Label
	restores []txn.Restore // from which change each of Restored comes
}

// Empty reports whether nothing would change.
func (u Undoing) Empty() bool { return len(u.Removed)+len(u.Restored) == 0 }

// Kept is a file that undoing leaves as it is.
type Kept struct{ Name, Why string }

// Values of Kept.Why.
const (
	KeptChanged = "it was changed since"
	KeptTaken   = "another file has its name now"
	KeptLost    = "its copy is gone"
)

// Undo undoes a committed change of the list, as one transaction: it restores the files
// that the change deleted and removes those that it created. A created file that was
// modified since is removed only with force, which also removes what an earlier undo of the
// change has kept. Undoing an undo restores the change. As with any change, the history keeps the
// removed files.
//
// Errors: ErrNoChange, ErrUndone, ErrContinued, ErrReplaced without force, errTimeout, *BusyError,
// that a lock was lost, and those of txn.Open and txn.Dir.Commit except txn.ErrChanged.
func (l List) Undo(ctx context.Context, id string, force bool) (Undoing, error) {
	return l.undo(ctx, undoRequest{id: id, force: force, replaced: force})
}

// UndoBare is Undo, but restores nothing: the change belongs to another one that is undone
// next, and what it replaced did, too.
func (l List) UndoBare(ctx context.Context, id string, force bool) (Undoing, error) {
	return l.undo(ctx, undoRequest{id: id, force: force, replaced: force, bare: true})
}

// Retract undoes a change that the invocation should not have made. It removes tasks of
// the change even if they were modified since, and records the invocation, so that
// Replace does not repeat it.
//
// Errors are those of Undo, ErrReplaced included.
func (l List) Retract(ctx context.Context, id, invocation string) (Undoing, error) {
	return l.undo(ctx, undoRequest{id: id, invocation: invocation, force: true})
}

// undoRequest selects the change to undo, and how.
type undoRequest struct {
	id         string
	invocation string // recorded in the label of the undo
	force      bool   // remove created files even if they were modified since
	replaced   bool   // allow a change whose tasks a later change has deleted
	bare       bool   // restore nothing
	half       bool   // allow a half of a continuation
}

func (l List) undo(ctx context.Context, what undoRequest) (u Undoing, err error) {
	waiting, cancel := l.Waiting(ctx)
	defer cancel()
	dir, err := l.Open(waiting)
	if err != nil {
		return u, err
	}
	defer func() { u.Unreleased = dir.Close() }()
	return l.undoIn(ctx, waiting, dir, what)
}

func (l List) undoIn(ctx, waiting context.Context, dir *txn.Dir, what undoRequest) (u Undoing, err error) {
	history, err := dir.History()
	if err != nil {
		return u, err
	}
	for {
		if u, err = l.planLocked(waiting, dir, history, what); err != nil || u.Empty() && u.label.With == "" {
			return u, err
		}
		startup.ManyProcessors()
		err = dir.Commit(ctx, txn.Change{Label: u.label.text(), Deletes: u.Removed, Restores: u.restores, Mark: markOf(u.Removed)})
		if !errors.Is(err, txn.ErrChanged) && !errors.Is(err, txn.ErrExists) || errors.Is(err, txn.ErrRecoveryRequired) {
			return u, err
		}
		if waiting.Err() != nil {
			return u, fmt.Errorf("%w; the last try: %v", context.Cause(waiting), err)
		}
	}
}

// markOf returns the mark that keeps the numbers of the removed tasks from being used again. The
// client does the same when it deletes a task (fact 7, client 2.1.197).
func markOf(removed []string) *txn.Mark {
	mark := int64(0)
	for _, name := range removed {
		mark = max(mark, Form.Number(name))
	}
	return Form.Mark(mark)
}

// planLocked plans with the locks of the files to remove held. Which files these are is
// known only after planning, so it plans again until it holds the locks of all.
func (l List) planLocked(ctx context.Context, dir *txn.Dir, history []txn.Entry, what undoRequest) (Undoing, error) {
	var locked []string
	for {
		if _, err := dir.Lock(ctx, locked...); err != nil {
			return Undoing{}, err
		}
		u, err := planUndo(dir.Files(), dir.Path(), history, what)
		if err != nil || !slices.ContainsFunc(u.Removed, func(name string) bool { return !slices.Contains(locked, name) }) {
			return u, err
		}
		locked = u.Removed
	}
}

// PlanUndo returns what Undo would do. It takes no lock and changes nothing. Its errors
// are ErrNoChange, ErrUndone, ErrContinued, ErrReplaced, those of txn.ReadHistory and of txn.Entry.Err, or
// the file system's.
func (l List) PlanUndo(id string, force bool) (Undoing, error) {
	return l.planUndo(undoRequest{id: id, force: force, replaced: force})
}

// PlanUndoBare returns what UndoBare would do, as PlanUndo does.
func (l List) PlanUndoBare(id string, force bool) (Undoing, error) {
	return l.planUndo(undoRequest{id: id, force: force, replaced: force, bare: true})
}

func (l List) planUndo(what undoRequest) (Undoing, error) {
	history, err := txn.ReadHistory(l.Dir, txn.WithFS(l.Files()))
	if err != nil {
		return Undoing{}, err
	}
	return planUndo(l.Files(), l.Dir, history, what)
}

func planUndo(files vfs.FS, dir string, history []txn.Entry, what undoRequest) (Undoing, error) {
	var u Undoing
	i := slices.IndexFunc(history, func(e txn.Entry) bool { return e.ID == what.id })
	if i < 0 {
		return u, ErrNoChange
	}
	e, undone := history[i], Undone(history)
	if e.Err != nil {
		return u, e.Err
	}
	again := undone[what.id] != ""
	if again && !what.replaced {
		return u, ErrUndone
	}
	_ = json.Unmarshal([]byte(e.Label), &u.label, jsonx.Tolerant) // a label is only for display
	if u.label.With != "" && !what.half {
		return u, ErrContinued
	}
	u.label.Undo, u.label.Invocation = what.id, what.invocation
	if !what.replaced {
		for _, later := range history[i+1:] {
			if undone[later.ID] == "" && deletesFilesOf(later, e) {
				return u, fmt.Errorf("%w: %s", ErrReplaced, later.ID)
			}
		}
	}
	err := u.planRemovals(files, dir, e, what.force)
	switch {
	case err != nil:
		return u, err
	case again && u.Empty():
		return u, ErrUndone
	case again || what.bare:
		return u, nil
	}
	return u, u.planRestores(files, dir, e, history[i:])
}

// planRemovals sorts the files that the change e created into Removed, Kept and Gone.
func (u *Undoing) planRemovals(files vfs.FS, dir string, e txn.Entry, force bool) error {
	for _, f := range e.Created {
		same, err := isUnchanged(files, filepath.Join(dir, f.Name), f)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			u.Gone = append(u.Gone, f.Name)
		case errors.Is(err, vfs.ErrNotRegular):
			u.Kept = append(u.Kept, Kept{f.Name, KeptTaken})
		case err != nil:
			return err
		case same || force:
			u.Removed = append(u.Removed, f.Name)
		default:
			u.Kept = append(u.Kept, Kept{f.Name, KeptChanged})
		}
	}
	return nil
}

// planRestores sorts the files that the change e deleted into Restored and Kept. later is the
// history from e on: a file that was restored and deleted again is kept by the last change that
// deleted it.
func (u *Undoing) planRestores(files vfs.FS, dir string, e txn.Entry, later []txn.Entry) error {
	for _, f := range e.Deleted {
		_, inList := files.Lstat(filepath.Join(dir, f.Name))
		if inList == nil {
			u.Kept = append(u.Kept, Kept{f.Name, KeptTaken})
			continue
		}
		if !errors.Is(inList, fs.ErrNotExist) {
			return inList
		}
		from := ""
		for _, x := range later {
			if _, err := files.Lstat(filepath.Join(x.Backups, f.Name)); x.Backups != "" && !errors.Is(err, fs.ErrNotExist) {
				from = x.ID
			}
		}
		if from == "" {
			u.Kept = append(u.Kept, Kept{f.Name, KeptLost})
			continue
		}
		u.Restored, u.restores = append(u.Restored, f.Name), append(u.restores, txn.Restore{ID: from, Name: f.Name})
	}
	return nil
}

// deletesFilesOf reports whether the later change deleted a file that the earlier one
// created.
func deletesFilesOf(later, earlier txn.Entry) bool {
	return slices.ContainsFunc(later.Deleted, func(d txn.EntryFile) bool {
		return slices.ContainsFunc(earlier.Created, func(c txn.EntryFile) bool { return c.Name == d.Name })
	})
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

// Undone maps the id of each undone change to the id of the undo. An undo that was
// itself undone has no effect.
func Undone(history []txn.Entry) map[string]string {
	undone := map[string]string{}
	for _, e := range slices.Backward(history) {
		if undone[e.ID] != "" {
			continue
		}
		if id := Undoes(e.Label); id != "" {
			undone[id] = cmp.Or(undone[id], e.ID)
		}
	}
	return undone
}

// Undoes returns the id of the change that a change with this label undid, "" if it is
// not an undo.
func Undoes(label string) string { return jsonx.StringMember([]byte(label), "undo") }
