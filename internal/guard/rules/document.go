package rules

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxDocument bounds what is read of a file that an agent has written, in bytes. The rest
// is ignored.
const maxDocument = 8 << 20

// document is a file of the feature directory.
type document struct {
	exists bool
	text   string
}

// document reads a file of the feature directory. Anything but a regular file is treated
// as missing. An error is returned when the file exists but cannot be read.
func (c *call) document(name string) (document, error) {
	path := c.place.path(name)
	if !safefile.IsFile(path) {
		c.Fact(name, "missing")
		return document{}, nil
	}
	text, err := readText(path, maxDocument)
	c.Fact(name, "present")
	return document{true, text}, err
}

// readText reads at most max bytes. It drops the byte order mark that some editors write,
// because it would hide a heading in the first line.
func readText(path string, max int64) (string, error) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max))
	return strings.TrimPrefix(string(data), "\ufeff"), err
}

// maxDocuments bounds the number of files that are read in one directory tree.
const maxDocuments = 2000

// markdown returns the text of every *.md file below a directory, and nothing for a missing
// directory. The directory and the files may be symbolic links. Links to directories below
// it are not followed, because they could lead anywhere. All files together are limited to
// maxDocument bytes, so that a huge tree cannot exceed the client's time limit.
func markdown(dir string) ([]string, error) {
	var texts []string
	left := int64(maxDocument)
	err := filepath.WalkDir(safefile.Resolve(dir), func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".md") || !safefile.IsFile(path) {
			return err
		}
		if len(texts) == maxDocuments {
			return fs.SkipAll
		}
		text, err := readText(path, left)
		texts, left = append(texts, text), left-int64(len(text))
		return err
	})
	return texts, err
}
