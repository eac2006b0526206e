package tasklist

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// Roots returns the directories in which task lists are: those of Claude Code, and those of
// projects. Its errors are those of client.ConfigDir.
func Roots(lookup func(string) (string, bool)) ([]string, error) {
	of, err := tasks.Root(lookup)
	if err != nil {
		return nil, err
	}
	roots := []string{of}
	if own, err := rootDir(lookup); err == nil {
		roots = append(roots, own)
	}
	return roots, nil
}

// WithHistory returns the directories of all lists that a transaction ever touched.
//
// Errors: those of Roots, or the file system's.
func WithHistory(lookup func(string) (string, bool)) (dirs []string, err error) {
	roots, err := Roots(lookup)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		more, err := tasks.WithStateDir(root)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, more...)
	}
	return dirs, nil
}

// All returns the directories of all lists, whether or not a transaction touched them.
//
// Errors: those of Roots, or the file system's.
func All(lookup func(string) (string, bool)) (dirs []string, err error) {
	roots, err := Roots(lookup)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		entries, err := os.ReadDir(root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") && !e.Type().IsRegular() {
				dirs = append(dirs, filepath.Join(root, e.Name()))
			}
		}
	}
	return dirs, nil
}

// newest returns the list of the project that was hydrated last.
func (q Query) newest(ctx context.Context) (found Found, err error) {
	dirs, err := WithHistory(q.Lookup)
	if err != nil {
		return Found{}, err
	}
	own, _ := rootDir(q.Lookup)
	var newest time.Time
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return Found{}, context.Cause(ctx)
		}
		history, err := txn.ReadHistory(dir)
		if err != nil {
			continue // a list that cannot be read is not offered
		}
		w, last := lastOf(ctx, dir, history, q.Dir), hydrated(history)
		if w == nil || !last.After(newest) {
			continue
		}
		found, newest = Found{Dir: dir, Session: w.Session, Newest: true}, last
		if filepath.Dir(dir) == own {
			found.Project = w.Dir
		}
	}
	if found.Dir == "" {
		return Found{}, ErrNoList
	}
	return found, nil
}

// hydrated returns when a history last had a change, other than one by which a workflow has left the list.
func hydrated(history []txn.Entry) time.Time {
	for _, e := range slices.Backward(history) {
		if l, ok := tasks.Continuation(e.Label); !ok || l.Adds() {
			return e.Time
		}
	}
	return time.Time{}
}

// lastOf returns the last workflow of a list with this history that belongs to the project of dir, or nil.
// The steps of the workflow may be gone from the list, or a person has said that it is in dir now.
func lastOf(ctx context.Context, list string, history []txn.Entry, dir string) *workflow.Workflow {
	isHere := func(w *workflow.Workflow) bool {
		rel, err := filepath.Rel(w.Dir, dir)
		return err == nil && filepath.IsLocal(rel)
	}
	for _, e := range slices.Backward(history) {
		if w, err := workflow.ParseWorkflow(e.Record); err == nil && isHere(&w) {
			return &w
		}
	}
	if s, err := state.LoadNow(ctx, list); err == nil {
		all := s.Workflows()
		if i := slices.IndexFunc(all, isHere); i >= 0 {
			return all[i]
		}
	}
	return nil
}
