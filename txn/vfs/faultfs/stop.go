package faultfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// ErrFrozen is what every step returns once a disk is frozen.
var ErrFrozen = errors.New("the disk is frozen")

// Freeze returns a file system on which no step from the nth on happens, counted
// from 0: to the disk that is the process's death, except that the process may go
// on. taken, if not nil, is called with each step that does happen.
func Freeze(files vfs.FS, n int, taken func(Step)) vfs.FS {
	return &Steps{FS: files, Before: func(s Step) error {
		if n--; n < 0 {
			return ErrFrozen
		}
		if taken != nil {
			taken(s)
		}
		return nil
	}}
}

// Fail returns a file system on which the nth step, counted from 0 and reading
// included, fails with err and all others are made. failed, if not nil, is told
// which one it was.
func Fail(files vfs.FS, n int, err error, failed func(Step)) vfs.FS {
	return &Steps{FS: files, Reads: true, Before: func(s Step) error {
		if n--; n != -1 {
			return nil
		}
		if failed != nil {
			failed(s)
		}
		return &fs.PathError{Op: s.Op, Path: s.Path, Err: err}
	}}
}

// Kill returns a file system that ends this process by SIGKILL ahead of the nth
// step, counted from 0.
func Kill(files vfs.FS, n int) vfs.FS {
	return &Steps{FS: files, Before: func(Step) error {
		if n--; n < 0 {
			die()
		}
		return nil
	}}
}

// KillWhen is Kill ahead of the first step that is chosen.
func KillWhen(files vfs.FS, chosen func(Step) bool) vfs.FS {
	return &Steps{FS: files, Before: func(s Step) error {
		if chosen(s) {
			die()
		}
		return nil
	}}
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}
