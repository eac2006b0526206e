package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
)

// A workflow that goes on in another list is created there by one transaction and taken out here by another. Both have the id of the
// continuation in their labels, and neither can be undone. Which one counts is package state's business.

// mayContinue reports whether a label may be that of a continuation; most are not, and need not be parsed.
func mayContinue(label string) bool { return strings.Contains(label, `"with":"`) }

// Continuation returns the label of a change that creates a workflow which was in another list, or takes one out that goes on in
// another list.
func Continuation(label string) (l Label, ok bool) {
	if !mayContinue(label) || json.Unmarshal([]byte(label), &l, jsonx.Tolerant) != nil {
		return l, false
	}
	return l, l.With != ""
}

// Has reports whether a list with this history has carried out its part of the continuation with this id.
//
// Errors: that a change cannot be read, so that it is not known.
func Has(history []txn.Entry, with string) (yes bool, err error) {
	for _, e := range history {
		if l, ok := Continuation(e.Label); ok && l.With == with {
			return true, nil
		}
		if e.Err != nil {
			err = fmt.Errorf("which list the workflow is in cannot be found out: %w", e.Err)
		}
	}
	return false, err
}

// CreateIn creates tasks in a list whose state directory the caller has opened. make gets the largest number that the list has had,
// and returns the tasks, the record and the label of the change, and the largest number that they take. It is called once.
//
// Errors: those of make, and of txn.Dir.Lock and txn.Dir.Commit.
func (l List) CreateIn(ctx context.Context, dir *txn.Dir,
	make func(base int64) (all []fsmspec.Creation, record string, label Label, last int64, err error),
) error {
	waiting, cancel := l.Waiting(ctx)
	defer cancel()
	r := &replacement{files: dir.Files(), dir: dir}
	if _, err := dir.Lock(waiting); err != nil {
		return err
	}
	snap, err := r.snapshot(waiting)
	if err != nil {
		return err
	}
	all, record, label, last, err := make(max(snap.MaxID, snap.HighWater))
	if err != nil {
		return err
	}
	change := txn.Change{Record: record, Mark: Form.Mark(last)}
	for _, c := range all {
		change.Creates = append(change.Creates, Form.File(c))
	}
	return commit(ctx, dir, label, change)
}

// RemoveIn takes those of the label's steps that have tasks out of a list whose state directory the caller has opened.
//
// Errors: those of txn.Dir.Lock and txn.Dir.Commit except txn.ErrChanged.
func (l List) RemoveIn(ctx context.Context, dir *txn.Dir, label Label) error {
	waiting, cancel := l.Waiting(ctx)
	defer cancel()
	for {
		change := txn.Change{Mark: Form.Mark(slices.Max(label.Steps))}
		for _, id := range label.Steps {
			name := Form.Name(message.Itoa(id))
			if _, err := dir.Files().Lstat(filepath.Join(dir.Path(), name)); !errors.Is(err, fs.ErrNotExist) {
				change.Deletes = append(change.Deletes, name)
			}
		}
		if _, err := dir.Lock(waiting, change.Deletes...); err != nil {
			return err
		}
		err := commit(ctx, dir, label, change)
		if !errors.Is(err, txn.ErrChanged) || errors.Is(err, txn.ErrRecoveryRequired) || waiting.Err() != nil {
			return err
		}
	}
}
