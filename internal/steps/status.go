package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// stagedFile is the name in the state directory of a new version of a task's file, before it
// is renamed into the list.
const stagedFile = "task.json"

// setStatus changes only the status in a task's file, under the client's lock. The file is
// replaced by a rename, so a crash leaves the old one or the new one.
func setStatus(ctx context.Context, dir *txn.Dir, id int64, status string) error {
	name := fileName(id)
	if _, err := dir.Lock(ctx, name); err != nil {
		return err
	}
	files := vfs.OS{}
	path := filepath.Join(dir.Path(), name)
	info, err := files.Lstat(path)
	if err != nil {
		return err
	}
	data, err := files.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := withStatus(data, status)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s, err := txn.StateDir(dir.Path())
	if err != nil {
		return err
	}
	if err := files.WriteFile(filepath.Join(s, stagedFile), s, changed, info.Mode().Perm()); err != nil {
		return err
	}
	if err := files.Rename(filepath.Join(s, stagedFile), path); err != nil {
		return err
	}
	return files.Sync(dir.Path())
}

// withStatus returns the text of the task with another status. Every other byte is kept.
func withStatus(data []byte, status string) ([]byte, error) {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsonx.Tolerant)
	if d.PeekKind() != '{' {
		return nil, errors.New("not a task")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	from, to := -1, -1
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			return nil, jsonx.Explain(data, err)
		}
		isStatus := key.String() == "status"
		value, err := d.ReadValue()
		if err != nil {
			return nil, jsonx.Explain(data, err)
		}
		if isStatus {
			to = int(d.InputOffset())
			from = to - len(value)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, jsonx.Explain(data, err)
	}
	if from < 0 {
		return nil, errors.New("not a task: it has no status")
	}
	return slices.Concat(data[:from], []byte(strconv.Quote(status)), data[to:]), nil
}
