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

// ErrNoList is returned when no task list ever had a workflow of a project.
var ErrNoList = errors.New("no task list has had a workflow of this project")

// Newest returns the directory of the list that was hydrated last of those that
// had a workflow of the project that cwd is or is in, and the session that called the
// skill. lookup is os.LookupEnv or a stand-in for it.
//
// Errors: ErrNoList, those of claude.ConfigDir, or the file system's.
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
			continue // what cannot be read has no workflow to go on with
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

// lastOf returns the last workflow of a history that belongs to the project of cwd, in the
// list still or not, or nil.
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
