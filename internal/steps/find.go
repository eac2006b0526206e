package steps

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// ErrNoList is returned when no task list with a workflow belongs to a project.
var ErrNoList = errors.New("no task list of this project has a workflow")

// Newest returns the directory of the list that was hydrated last of those with a
// workflow whose project is cwd or a directory above it, and the session that called the
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
		live, err := stepsOf(history)
		if err != nil || !live.belongTo(cwd) {
			continue
		}
		if at := history[len(history)-1].Time; at.After(newest) {
			dir, session, newest = list, live[len(live)-1].workflow.Session, at
		}
	}
	if dir == "" {
		return "", "", ErrNoList
	}
	return dir, session, nil
}

func (all steps) belongTo(cwd string) bool {
	for _, r := range all {
		rel, err := filepath.Rel(r.workflow.Dir, cwd)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return true
		}
	}
	return false
}
