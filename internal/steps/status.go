package steps

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// setStatus changes only the status in a task's file.
func (f *Frame) setStatus(ctx context.Context, dir *txn.Dir, id int64, status string) error {
	waiting, cancel := f.List.Waiting(context.WithoutCancel(ctx))
	defer cancel()
	return rewriteTasks(waiting, dir, []int64{id}, func(id int64, data []byte) ([]byte, error) {
		changed, err := tasks.Form.SetStatus(data, status)
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(dir.Path(), tasks.Form.Name(itoa(id))), err)
		}
		return changed, err
	})
}
