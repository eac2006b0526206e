package tasks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/txn"
)

// WithSibling returns the directories of the task lists below root that have a
// sibling, sorted: those that a transaction ever touched. A list whose directory
// is a symbolic link has its sibling elsewhere. An absent root has none.
func WithSibling(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if id, ok := txn.ParseStateDir(e.Name()); ok {
			dirs = append(dirs, filepath.Join(root, id))
		} else if e.Type()&fs.ModeSymlink != 0 {
			dirs = append(dirs, linked(filepath.Join(root, e.Name()))...)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

func linked(dir string) []string {
	s, err := txn.StateDir(dir)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(s); err != nil {
		return nil
	}
	return []string{dir}
}
