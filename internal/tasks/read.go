package tasks

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// maxTaskBytes is the limit on a task file; a larger file is not treated as a task. The
// client shows a task of a megabyte (fact 2, client 2.1.197).
const maxTaskBytes = 16 << 20

// Read returns the state of the list in dir: the largest number in its file names, its
// high-water mark, and the tasks of workflows. torn lists files that are not JSON: the
// client does not write atomically (fact 16, client 2.1.197), so the caller must read
// them again under their locks. An absent dir is an empty list.
//
// Symbolic links, directories and pipes are not read, but their names count for the
// largest number, as they do for the client (fact 5, client 2.1.197). The same holds for
// names that are not UTF-8, which the client cannot open.
//
// The names are read before the mark. The client deletes a task without a lock: it
// writes the mark, then unlinks the file (facts 7 and 13, client 2.1.197). If the mark
// were read first, both could be missed, and the id would be used again.
func (f ClientForm) Read(ctx context.Context, files vfs.FS, dir string) (snap fsmspec.Snapshot, torn []string, err error) {
	d, err := vfs.OpenDir(files, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return snap, nil, nil
	}
	if err != nil {
		return snap, nil, err
	}
	defer d.Close()
	names, err := namesIn(d)
	if err != nil {
		return snap, nil, err
	}
	if snap.HighWater, err = readHighWater(files, dir); err != nil {
		return snap, nil, err
	}
	if snap.HighWater > 0 {
		snap.MarkName = highWaterName
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !f.IsTask(name) })
	for _, name := range names {
		if n := f.Number(name); n > snap.MaxID {
			snap.MaxID, snap.MaxName = n, name
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !utf8.ValidString(name) })
	snap.Tasks, torn, err = classifyAll(ctx, d, names)
	return snap, torn, err
}

// namesIn returns the names in d. If d was removed after it was opened, there are none.
func namesIn(d *os.File) ([]string, error) {
	names, err := d.Readdirnames(-1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// classifyAll reads the named files, in parallel. Each goroutine reuses one buffer:
// every call of a skill reads the whole list, which may have ten thousand tasks.
func classifyAll(ctx context.Context, d *os.File, names []string) (tagged []fsmspec.Existing, torn []string, err error) {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for part := range slices.Chunk(names, filesPerReader) {
		g.Go(func() error {
			var buf bytes.Buffer
			for _, name := range part {
				if err := safefile.Ended(ctx, "reading the tasks in "+d.Name()); err != nil {
					return err
				}
				task, kind, broken, err := classify(d, name, &buf)
				if err != nil {
					return &fs.PathError{Op: "read", Path: filepath.Join(d.Name(), name), Err: err}
				}
				mu.Lock()
				if kind == Tagged {
					tagged = append(tagged, task)
				}
				if broken {
					torn = append(torn, name)
				}
				mu.Unlock()
			}
			return nil
		})
	}
	err = g.Wait()
	slices.Sort(torn)
	return tagged, torn, err
}

// filesPerReader is how many files one goroutine reads. Reading that many takes longer
// than starting the goroutine.
const filesPerReader = 128

// classify reads one file. A file that is gone, is not a regular file, may not be
// read, or is too large is foreign.
func classify(d *os.File, name string, buf *bytes.Buffer) (task fsmspec.Existing, kind Kind, broken bool, err error) {
	data, err := safefile.ReadInto(buf, d, name, maxTaskBytes)
	switch {
	case errors.Is(err, safefile.ErrNotRegular), errors.Is(err, safefile.ErrTooLarge),
		errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return task, Foreign, false, nil
	case err != nil:
		return task, Foreign, false, err
	}
	task, kind, err = Classify(name, data)
	return task, kind, err != nil, nil
}

// ReadNamed returns those of the named files that are tasks of a workflow.
func (ClientForm) ReadNamed(ctx context.Context, files vfs.FS, dir string, names []string) ([]fsmspec.Existing, error) {
	d, err := vfs.OpenDir(files, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	tagged, _, err := classifyAll(ctx, d, names)
	return tagged, err
}
