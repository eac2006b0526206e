package tasklist

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/tasks"
)

// Roots returns the directories in which task lists are: those of Claude Code, and those of
// projects. Its errors are those of client.ConfigDir.
func Roots(lookup func(string) (string, bool)) ([]string, error) {
	of, err := tasks.Root(lookup)
	if err != nil {
		return nil, err
	}
	roots := []string{of}
	if own, err := rootDir(lookup); err == nil {
		roots = append(roots, own)
	}
	return roots, nil
}

// WithHistory returns the directories of all lists that a transaction ever touched.
//
// Errors: those of Roots, or the file system's.
func WithHistory(lookup func(string) (string, bool)) (dirs []string, err error) {
	roots, err := Roots(lookup)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		more, err := tasks.WithStateDir(root)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, more...)
	}
	return dirs, nil
}

// All returns the directories of all lists, whether or not a transaction touched them.
//
// Errors: those of Roots, or the file system's.
func All(lookup func(string) (string, bool)) (dirs []string, err error) {
	roots, err := Roots(lookup)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		entries, err := os.ReadDir(root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") && !e.Type().IsRegular() {
				dirs = append(dirs, filepath.Join(root, e.Name()))
			}
		}
	}
	return dirs, nil
}
