package tasks

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Task holds the fields of a task (fact 2, client 2.1.197) that are shown to people.
type Task struct {
	ID          string   `json:"id"`
	Subject     string   `json:"subject"`
	Description string   `json:"description,omitzero"`
	ActiveForm  string   `json:"activeForm,omitzero"`
	Status      string   `json:"status"`
	Owner       string   `json:"owner,omitzero"`
	BlockedBy   []string `json:"blockedBy"`
}

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
	var names []string
	for _, e := range entries {
		if isTaskName(e.Name()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	var tasks []Task
	err = Each(dir, names, func(_ int, data []byte) {
		var t Task
		if ctx.Err() == nil && json.Unmarshal(data, &t, jsonx.Tolerant) == nil && t.ID != "" {
			tasks = append(tasks, t)
		}
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(tasks, func(a, b Task) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	return tasks, nil
}
