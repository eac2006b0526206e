package tasks

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Task is a task as people see it.
type Task struct {
	ID          string   `json:"id"`
	Subject     string   `json:"subject"`
	Description string   `json:"description,omitzero"`
	ActiveForm  string   `json:"activeForm,omitzero"`
	Status      string   `json:"status"`
	Owner       string   `json:"owner,omitzero"`
	BlockedBy   []string `json:"blockedBy"`
}

// Tasks returns the tasks in dir, by number. It is for display: it takes no lock,
// and leaves out files that are not a task at that moment. An absent dir has none.
func Tasks(ctx context.Context, dir string) ([]Task, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !isTaskName(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // deleted since the directory was listed
		}
		var t Task
		if json.Unmarshal(data, &t, jsonx.Tolerant) == nil && t.ID != "" {
			tasks = append(tasks, t)
		}
	}
	slices.SortStableFunc(tasks, func(a, b Task) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	return tasks, nil
}
