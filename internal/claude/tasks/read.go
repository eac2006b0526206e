package tasks

import (
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
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// maxTaskBytes bounds a task file. The client shows one of a megabyte; anything
// beyond this was not made by it and is left alone unread.
const maxTaskBytes = 16 << 20

// Read returns what the list in dir holds: the largest number in its names, its
// high-water mark, and the tasks that a workflow made. torn names files that are
// not JSON: the client does not write them in one step, so that they have to be
// read again under their lock before they are believed to be nobody's.
//
// An absent dir is an empty list. Links, directories and pipes count for the
// numbering by their names, as they do for the client, and are never read. So does
// a name that is no UTF-8, under which the client finds no file.
//
// The names are read before the mark. The client deletes without a lock: it
// writes the mark, then removes the name. Whoever reads in the other order may
// see neither, and would give the id again.
func Read(ctx context.Context, files vfs.FS, dir string) (snap fsmspec.Snapshot, torn []string, err error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0) // a pipe would make it wait
	if errors.Is(err, fs.ErrNotExist) {
		return snap, nil, nil
	}
	if err != nil {
		return snap, nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return snap, nil, err
	}
	if snap.HighWater, err = readHighWater(files, dir); err != nil {
		return snap, nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !isTaskName(name) })
	for _, name := range names {
		snap.MaxID = max(snap.MaxID, number(name))
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !utf8.ValidString(name) })
	snap.Tasks, torn, err = classifyAll(ctx, d, names)
	return snap, torn, err
}

// classifyAll reads the named files, each processor a part of them. Ten thousand
// tasks are read on every call of a skill, so a reader keeps one buffer for all.
func classifyAll(ctx context.Context, d *os.File, names []string) (tagged []fsmspec.Existing, torn []string, err error) {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	for part := range parts(names, runtime.GOMAXPROCS(0)) {
		g.Go(func() error {
			var buf []byte
			for _, name := range part {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				task, kind, broken, err := classify(int(d.Fd()), name, &buf)
				if err != nil {
					return &fs.PathError{Op: "read", Path: filepath.Join(d.Name(), name), Err: err}
				}
				mu.Lock()
				if kind == fsmspec.Tagged {
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

// parts cuts names into at most n runs.
func parts(names []string, n int) func(yield func([]string) bool) {
	size := max((len(names)+n-1)/n, 64)
	return slices.Chunk(names, size)
}

// classify reads one file. A file that is gone, that is no regular file, that may
// not be read or that is too large to be a task is nobody's.
func classify(dirfd int, name string, buf *[]byte) (task fsmspec.Existing, kind fsmspec.Kind, broken bool, err error) {
	data, err := readAt(dirfd, name, buf)
	switch {
	case errors.Is(err, errNobodys), errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP),
		errors.Is(err, unix.ENXIO), errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return task, fsmspec.Foreign, false, nil
	case err != nil:
		return task, fsmspec.Foreign, false, err
	}
	task, kind, err = fsmspec.Classify(name, data)
	return task, kind, err != nil, nil
}

var errNobodys = errors.New("not a task file")

// readAt reads a regular file into *buf, which it grows if need be. It makes the
// system calls itself: four for a file, where os.ReadFile makes seven.
func readAt(dirfd int, name string, buf *[]byte) ([]byte, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(dirfd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > maxTaskBytes {
		return nil, errNobodys
	}
	if want := int(st.Size) + 1; cap(*buf) < want {
		*buf = make([]byte, max(want, 4096))
	}
	b := (*buf)[:cap(*buf)]
	for n := 0; ; {
		k, err := retry(func() (int, error) { return unix.Read(fd, b[n:]) })
		if err != nil {
			return nil, err
		}
		if n += k; k == 0 || n < len(b) {
			return b[:n], nil
		}
		b = append(b, make([]byte, len(b))...) // it grew since fstat
		*buf = b
	}
}

// retry calls again what a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// ReadAgain returns what the named files are now, those that are tagged. It is
// for a few files, whose locks are held.
func ReadAgain(ctx context.Context, dir string, names []string) (tagged []fsmspec.Existing, torn []string, err error) {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	return classifyAll(ctx, d, names)
}
