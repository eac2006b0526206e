package steps

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// ErrNoList is returned when no task list has ever had a workflow of the project.
var ErrNoList = errors.New("no task list has had a workflow of this project")

// Newest returns the task list of a project that was hydrated last: its directory, and
// the session that called the skill. cwd is the project's directory or one below it.
// lookup is os.LookupEnv or a stand-in for it.
//
// Errors: ErrNoList, those of tasks.Root, or the file system's.
func Newest(ctx context.Context, lookup func(string) (string, bool), cwd string) (dir, session string, err error) {
	root, err := tasks.Root(lookup)
	if err != nil {
		return "", "", err
	}
	lists, err := tasks.WithStateDir(root)
	if err != nil {
		return "", "", err
	}
	var newest time.Time
	for _, list := range lists {
		history, err := txn.ReadHistory(list)
		if err != nil {
			continue // a list that cannot be read is not offered
		}
		if w := lastOf(history, cwd); w != nil && history[len(history)-1].Time.After(newest) {
			dir, session, newest = list, w.Session, history[len(history)-1].Time
		}
	}
	if dir == "" {
		return "", "", ErrNoList
	}
	return dir, session, nil
}

// lastOf returns the last workflow of a history that belongs to the project of cwd, or
// nil. The steps of the workflow may be gone from the list.
func lastOf(history []txn.Entry, cwd string) *Workflow {
	for _, e := range slices.Backward(history) {
		w, err := ParseWorkflow(e.Record)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(w.Dir, cwd)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return &w
		}
	}
	return nil
}
