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
)

// Undoing is what taking back a change of a list does.
type Undoing struct {
	ID       string   // of the change
	Removed  []string // files that it created, which go
	Restored []string // files that it deleted, which come back: bytes, inode, mode and times
	Kept     []Kept   // files that stay as they are
	Gone     []string // files that it created and that are gone already

	Unreleased error // why locks could not be released, nil if they were or none was taken

	label Label
}

// Empty reports whether nothing would change.
func (u Undoing) Empty() bool { return len(u.Removed)+len(u.Restored) == 0 }

// Kept is a file that undoing leaves alone.
type Kept struct{ Name, Why string }

// The reasons.
const (
	KeptChanged = "it was changed since"
	KeptTaken   = "another file has its name now"
	KeptLost    = "its copy is gone"
)

// Undo takes back a committed change of the list, as a transaction: the files that it
// deleted come back, those that it created go if they are unchanged, or with force
// whatever they hold now. Undoing an undoing brings the change back. What is removed is
// kept by the history, as by any change.
//
// Errors: ErrNoChange, ErrUndone, ErrReplaced without force, ErrTimeout, *BusyError,
// ErrLockLost, and those of txn.Open and txn.Dir.Commit except txn.ErrChanged.
func (l List) Undo(ctx context.Context, id string, force bool) (Undoing, error) {
	return l.undo(ctx, undo{id: id, force: force, replaced: force})
}

// Retract takes back a change that the invocation should not have made, and records that
// the invocation is dealt with. Tasks of the change go whatever they hold now.
//
// Errors are those of Undo; ErrReplaced is one.
func (l List) Retract(ctx context.Context, id, invocation string) (Undoing, error) {
	return l.undo(ctx, undo{id: id, invocation: invocation, force: true})
}

// undo says which change is taken back, and how.
type undo struct {
	id         string
	invocation string // for the label of the undoing
	force      bool   // files that were changed since go too
	replaced   bool   // a change whose tasks a later one has deleted is taken back too
}

func (l List) undo(ctx context.Context, what undo) (u Undoing, err error) {
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
		if u, err = l.planLocked(waiting, dir, history, what); err != nil || u.Empty() {
			return u, err
		}
		change := txn.Change{Label: u.label.text(), Deletes: u.Removed, Prepare: u.raiseHighWater}
		for _, name := range u.Restored {
			change.Restores = append(change.Restores, txn.Restore{ID: what.id, Name: name})
		}
		err = dir.Commit(ctx, change)
		if !errors.Is(err, txn.ErrChanged) && !errors.Is(err, txn.ErrExists) || errors.Is(err, txn.ErrRecoveryRequired) {
			return u, err
		}
		if waiting.Err() != nil {
			return u, fmt.Errorf("%w; the last try: %v", context.Cause(waiting), err)
		}
	}
}

// raiseHighWater keeps the ids of the removed tasks from being given again: the client
// does the same when it deletes a task (fact 7, client 2.1.197).
func (u Undoing) raiseHighWater(files vfs.FS, dir, scratch string) error {
	mark := int64(0)
	for _, name := range u.Removed {
		mark = max(mark, number(name))
	}
	return raiseHighWater(files, dir, scratch, mark)
}

// planLocked plans under the locks of the files that are removed.
func (l List) planLocked(ctx context.Context, dir *txn.Dir, history []txn.Entry, what undo) (Undoing, error) {
	var locked []string
	for {
		if _, err := dir.Lock(ctx, locked...); err != nil {
			return Undoing{}, err
		}
		u, err := planUndo(l.files(), dir.Path(), history, what)
		if err != nil || !slices.ContainsFunc(u.Removed, func(name string) bool { return !slices.Contains(locked, name) }) {
			return u, err
		}
		locked = u.Removed
	}
}

// PlanUndo returns what Undo would do. It takes no lock and changes nothing. Its errors
// are ErrNoChange, ErrUndone, ErrReplaced, those of txn.ReadHistory, or the file system's.
func (l List) PlanUndo(id string, force bool) (Undoing, error) {
	history, err := txn.ReadHistory(l.Dir, txn.WithFS(l.files()))
	if err != nil {
		return Undoing{}, err
	}
	return planUndo(l.files(), l.Dir, history, undo{id: id, force: force, replaced: force})
}

func planUndo(files vfs.FS, dir string, history []txn.Entry, what undo) (Undoing, error) {
	u := Undoing{ID: what.id}
	i := slices.IndexFunc(history, func(e txn.Entry) bool { return e.ID == what.id })
	if i < 0 {
		return u, ErrNoChange
	}
	e, undone := history[i], Undone(history)
	if undone[what.id] != "" {
		return u, ErrUndone
	}
	_ = json.Unmarshal([]byte(e.Label), &u.label, jsonx.Tolerant) // for display only
	u.label.Undo, u.label.Invocation = what.id, what.invocation
	if !what.replaced {
		for _, later := range history[i+1:] {
			if undone[later.ID] == "" && deletesOf(later, e) {
				return u, fmt.Errorf("%w: %s", ErrReplaced, later.ID)
			}
		}
	}
	for _, f := range e.Created {
		same, err := isUnchanged(files, filepath.Join(dir, f.Name), f)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			u.Gone = append(u.Gone, f.Name)
		case errors.Is(err, vfs.ErrNotRegular):
			u.Kept = append(u.Kept, Kept{f.Name, KeptTaken})
		case err != nil:
			return u, err
		case same || what.force:
			u.Removed = append(u.Removed, f.Name)
		default:
			u.Kept = append(u.Kept, Kept{f.Name, KeptChanged})
		}
	}
	for _, f := range e.Deleted {
		_, taken := files.Lstat(filepath.Join(dir, f.Name))
		_, lost := files.Lstat(filepath.Join(e.Backups, f.Name))
		switch {
		case taken == nil:
			u.Kept = append(u.Kept, Kept{f.Name, KeptTaken})
		case !errors.Is(taken, fs.ErrNotExist):
			return u, taken
		case errors.Is(lost, fs.ErrNotExist):
			u.Kept = append(u.Kept, Kept{f.Name, KeptLost})
		default:
			u.Restored = append(u.Restored, f.Name)
		}
	}
	return u, nil
}

// deletesOf reports whether a change has deleted a file that an earlier one created.
func deletesOf(later, earlier txn.Entry) bool {
	return slices.ContainsFunc(later.Deleted, func(d txn.EntryFile) bool {
		return slices.ContainsFunc(earlier.Created, func(c txn.EntryFile) bool { return c.Name == d.Name })
	})
}

// isUnchanged reports whether the file holds what it held when it was created.
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

// Undone returns, by the ids of the changes that count for nothing because they were
// undone, the id of the undoing. An undoing that was undone itself counts for nothing.
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

// Undoes returns the id of the change that a change with this label took back, or
// nothing.
func Undoes(label string) string { return jsonx.StringMember([]byte(label), "undo") }
