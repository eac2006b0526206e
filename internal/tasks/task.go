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
// lock, and skips files that are not a task at that moment. An absent dir has no tasks.
func Tasks(ctx context.Context, dir string) ([]Task, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, e := range entries {
		if Form.IsTask(e.Name()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	var tasks []Task
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
