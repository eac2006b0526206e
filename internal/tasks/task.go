package tasks

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Tasks returns the tasks in dir, ordered by number. It is for display: it takes no
// lock, and skips files that are not a task at that moment. An absent dir has no tasks. A task that known returns by its id, and not as
// nil, is not read; known may be nil.
func Tasks(ctx context.Context, dir string, known func(id string) *Task) ([]Task, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, tasks := []string{}, []Task(nil)
	for _, e := range entries {
		if !Form.IsTask(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		var t *Task
		if known != nil {
			t = known(Form.ID(e.Name()))
		}
		if t != nil {
			same := *t
			same.ID = Form.ID(e.Name())
			tasks = append(tasks, same)
		} else {
			names = append(names, e.Name())
		}
	}
	err = Form.Each(dir, names, func(_ int, data []byte) {
		if t := Form.Decode(data); ctx.Err() == nil && t != nil && t.ID != "" {
			tasks = append(tasks, *t)
		}
	})
	if err == nil {
		err = safefile.Ended(ctx, "reading the tasks in "+dir)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(tasks, func(a, b Task) int { return cmp.Compare(Form.Number(a.ID), Form.Number(b.ID)) })
	return tasks, nil
}
