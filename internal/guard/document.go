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
	text, err := readText(path, maxDocument)
	c.fact(name, "present")
	return document{true, text}, err
}

// readText never waits for a pipe. A byte order mark, which some editors put
// before the first line, is no part of that line.
func readText(path string, max int64) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max))
	return strings.TrimPrefix(string(data), "\ufeff"), err
}

// maxDocuments bounds the files read of one directory tree.
const maxDocuments = 2000

// markdown returns the text of every *.md file below a directory, which may be
// a symlink, as the files may; directories below it may not, for they could
// lead anywhere. A missing directory has none. All together is bounded as one
// document is: the client waits for the answer, and a tree of giants must not
// outlast its patience.
func markdown(dir string) ([]string, error) {
	var texts []string
	left := int64(maxDocument)
	err := filepath.WalkDir(resolve(dir), func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".md") || !isFile(path) {
			return err
		}
		if len(texts) == maxDocuments || left == 0 {
			return fs.SkipAll
		}
		text, err := readText(path, left)
		texts, left = append(texts, text), left-int64(len(text))
		return err
	})
	return texts, err
}
