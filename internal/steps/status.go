package steps

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/projection"
	"github.com/fsmtx/fsmtx/txn"
)

// setStatus changes only the status in a task's file.
func setStatus(ctx context.Context, dir *txn.Dir, id int64, status string) error {
	return rewriteTasks(ctx, dir, []int64{id}, func(form projection.Form, id int64, data []byte) ([]byte, error) {
		changed, err := form.SetStatus(data, status)
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(dir.Path(), form.Name(itoa(id))), err)
		}
		return changed, err
	})
}
