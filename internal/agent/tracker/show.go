package tracker

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// maxBytes limits the size of a file that is read.
const maxBytes = 16 << 20

// Show makes the tracker in dir show those of the tasks that are steps: it writes the files that
// say something else, and removes those of steps that are gone. Tasks of the tracker's own are
// left alone. A directory is created only if there is a step. Errors are the file system's; what
// can be shown is shown nevertheless.
func Show(dir string, all []tasks.Task) error {
	wanted := files(all)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(wanted) > 0 {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		want, isStep := wanted[e.Name()]
		data, err := safefile.ReadFile(path, maxBytes, 0)
		ours := err == nil && isStepFile(data)
		switch {
		case isStep && (!ours || bytes.Equal(data, want)):
			delete(wanted, e.Name()) // another task has that id, or it says so already
		case !isStep && ours:
			errs = append(errs, os.Remove(path))
		}
	}
	for name, data := range wanted {
		errs = append(errs, put(filepath.Join(dir, name), data))
	}
	return errors.Join(errs...)
}

// put replaces a file. What is not whole yet is beside the tracker's directory: the tracker would
// take a temporary file, or what is left of one, for a task, and show none.
func put(path string, data []byte) error {
	beside, err := safefile.OpenDir(filepath.Dir(filepath.Dir(path)))
	if err != nil {
		return err
	}
	defer beside.Close()
	return safefile.Unheld.Replace(path, data, safefile.LessUmask(0o666), beside, ".")
}

// files returns the files of the steps by their names. A step waits only for those that are shown, too: the
// tracker refuses to close a task whose dependency it does not have.
func files(all []tasks.Task) map[string][]byte {
	var steps []fsmspec.Creation
	shown := map[int64]bool{}
	for _, t := range all {
		c, ok := creation(t)
		if ok {
			steps, shown[c.ID] = append(steps, c), true
		}
	}
	texts := make(map[string][]byte, len(steps))
	for _, c := range steps {
		c.BlockedBy = slices.DeleteFunc(c.BlockedBy, func(id int64) bool { return !shown[id] })
		texts[idOf(c.ID)+suffix] = text(c)
	}
	return texts
}

// creation returns the task as one to create. ok is false if it is not a step or cannot be shown.
func creation(t tasks.Task) (c fsmspec.Creation, ok bool) {
	n, err := strconv.ParseInt(t.ID, 10, 64)
	if err != nil || n < 1 || n > maxID || jsonx.Member(t.Metadata, fsmspec.Tag) == nil {
		return c, false
	}
	c = fsmspec.Creation{ID: n, Subject: t.Subject, Description: t.Description, Metadata: string(t.Metadata)}
	if c.Status.UnmarshalText([]byte(t.Status)) != nil {
		return c, false
	}
	for _, id := range t.BlockedBy {
		if b, err := strconv.ParseInt(id, 10, 64); err == nil {
			c.BlockedBy = append(c.BlockedBy, b)
		}
	}
	return c, true
}
