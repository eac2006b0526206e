package steps

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// setStatus changes only the status in a task's file.
func setStatus(ctx context.Context, dir *txn.Dir, id int64, status string) error {
	return rewriteTasks(ctx, dir, []int64{id}, func(_ int64, data []byte) ([]byte, error) {
		changed, err := withStatus(data, status)
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(dir.Path(), fileName(id)), err)
		}
		return changed, err
	})
}

// withStatus returns the text of the task with another status. Every other byte is kept.
func withStatus(data []byte, status string) ([]byte, error) {
	if jsontext.Value(data).Kind() != '{' {
		return nil, errors.New("not a task")
	}
	from, to := -1, -1
	for p, err := range jsonx.Parts(data) {
		if err != nil {
			return nil, jsonx.Explain(data, err)
		}
		if p.Name == "status" {
			from, to = p.Offset, p.Offset+len(p.Value)
		}
	}
	if from < 0 {
		return nil, errors.New("not a task: it has no status")
	}
	return slices.Concat(data[:from], []byte(strconv.Quote(status)), data[to:]), nil
}
