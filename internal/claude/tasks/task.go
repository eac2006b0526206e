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
	"github.com/go-json-experiment/json/jsontext"
)

// Task is a task as a person wants to see it.
type Task struct {
	ID        string   `json:"id"`
	Subject   string   `json:"subject"`
	Status    string   `json:"status"`
	BlockedBy []string `json:"blockedBy"`
}

// Tasks returns the tasks in dir in the order of their numbers. It takes no lock:
// it is for showing, and what is not a task at this moment is left out. An absent
// dir has none.
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
			continue // it was there a moment ago
		}
		var t Task
		if json.Unmarshal(data, &t, jsontext.AllowDuplicateNames(true)) == nil && t.ID != "" {
			tasks = append(tasks, t)
		}
	}
	slices.SortStableFunc(tasks, func(a, b Task) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	return tasks, nil
}
