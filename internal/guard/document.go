package guard

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxDocument bounds what is read of one file that an agent has written. What
// lies beyond is as good as missing.
const maxDocument = 8 << 20

// document is a file of the feature directory.
type document struct {
	exists bool
	text   string
}

// document reads a file of the feature directory. What is no regular file is
// missing; an error means that it is there and cannot be read.
func (c *call) document(name string) (document, error) {
	path := c.place.in(name)
	if !isFile(path) {
		c.fact(name, "missing")
		return document{}, nil
	}
	text, err := readText(path)
	c.fact(name, "present")
	return document{true, text}, err
}

// readText never waits for a pipe.
func readText(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDocument))
	return string(data), err
}

// maxDocuments bounds the files read of one directory tree.
const maxDocuments = 2000

// markdown returns the text of every *.md file below a directory, symlinks
// left out. A missing directory has none.
func markdown(dir string) ([]string, error) {
	var texts []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() || !strings.EqualFold(filepath.Ext(path), ".md") {
			return err
		}
		if len(texts) == maxDocuments {
			return fs.SkipAll
		}
		text, err := readText(path)
		texts = append(texts, text)
		return err
	})
	return texts, err
}
