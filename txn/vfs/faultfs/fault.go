package faultfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// ErrFrozen is returned by every step of a frozen file system.
var ErrFrozen = errors.New("the file system is frozen")

// Freeze returns a file system on which no step happens from the nth on, counted
// from 0. To the disk that is the death of the process, except that the process may
// go on. done, if not nil, is called with each step that does happen.
func Freeze(files vfs.FS, n int, done func(Step)) vfs.FS {
	return &Steps{FS: files, Before: func(s Step) error {
		if n--; n < 0 {
			return ErrFrozen
		}
		if done != nil {
			done(s)
		}
		return nil
	}}
}

// Fail returns a file system on which the nth step, counted from 0 and including
// steps that read, fails with a *fs.PathError of err. All other steps happen.
// failed, if not nil, is called with the step that fails.
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
	return KillWhen(files, func(Step) bool { n--; return n < 0 })
}

// KillWhen returns a file system that ends this process by SIGKILL ahead of the
// first step for which when returns true.
func KillWhen(files vfs.FS, when func(Step) bool) vfs.FS {
	return &Steps{FS: files, Before: func(s Step) error {
		if when(s) {
			die()
		}
		return nil
	}}
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal is delivered
}
