package tasklist

import (
	"context"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// recent is how long a list with open steps counts after it was last worked on.
const recent = 12 * time.Hour

// maxRivals limits the lists that are read for one text.
const maxRivals = 16

// Unnamed reports whether a person who names no list in the project of the list in dir means this
// one: it was hydrated last, and no other list of the project that was worked on in the last twelve
// hours has open steps. Only lists that changed since then are read. It is false if that cannot be
// found out.
func Unnamed(ctx context.Context, lookup func(string) (string, bool), dir string) bool {
	project, since := projectOf(dir)
	all, err := changed(lookup, dir, since)
	if project == "" || err != nil || len(all) > maxRivals {
		return false
	}
	for _, other := range all {
		if later, open := rival(ctx, other, project, since); later || open {
			return false
		}
	}
	return true
}

// Rivals returns the lists of the project, other than that in dir, because of which it is not
// unnamed, and which have what the person means.
//
// Errors: those of Roots, or the file system's.
func Rivals(ctx context.Context, lookup func(string) (string, bool), dir string, has func(*state.State) bool) (dirs []string, err error) {
	project, since := projectOf(dir)
	all, err := changed(lookup, dir, since)
	for _, other := range all {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if _, open := rival(ctx, other, project, since); !open {
			continue
		}
		if s, err := state.LoadNow(ctx, other); err == nil && has(s) {
			dirs = append(dirs, other)
		}
	}
	return dirs, err
}

// projectOf returns the directory of the last workflow of a list, and when the list was hydrated last.
func projectOf(dir string) (project string, last time.Time) {
	history, err := txn.ReadHistory(dir)
	if err != nil || len(history) == 0 {
		return "", last
	}
	for i := len(history) - 1; i >= 0 && project == ""; i-- {
		if w, err := workflow.ParseWorkflow(history[i].Record); err == nil {
			project = w.Dir
		}
	}
	return project, hydrated(history)
}

// changed returns the other lists whose state directory has changed lately: every change of a list's
// steps takes its lock, which does. A hydration after since is such a change.
func changed(lookup func(string) (string, bool), dir string, since time.Time) (all []string, err error) {
	if ago := time.Now().Add(-recent); since.After(ago) {
		since = ago
	}
	dirs, err := WithHistory(lookup)
	for _, other := range dirs {
		now, stateErr := txn.StateDir(other)
		if stateErr != nil || other == dir {
			continue
		}
		if info, statErr := os.Lstat(now); statErr == nil && !info.ModTime().Before(since.Add(-time.Second)) {
			all = append(all, other)
		}
	}
	return all, err
}

// rival reports whether a list of the project was hydrated after since, and whether it has open steps.
func rival(ctx context.Context, dir, project string, since time.Time) (later, open bool) {
	history, err := txn.ReadHistory(dir)
	if err != nil || lastOf(ctx, dir, history, project) == nil {
		return false, false
	}
	s, err := state.LoadNow(ctx, dir)
	return hydrated(history).After(since), err != nil || s.HasOpen()
}
