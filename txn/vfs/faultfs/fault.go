package faultfs

import (
	"errors"
	"io/fs"
	"os"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// ErrFrozen is returned by every step that Freeze makes fail.
var ErrFrozen = errors.New("the file system is frozen")

// Freeze returns a file system on which the nth step, counted from 0, and all later ones
// fail with ErrFrozen and change nothing. The disk is left as if the process had been
// killed before that step, but the process can go on and look at it. done, if not nil,
// is called with each earlier step.
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
// steps that read, fails with a *fs.PathError that wraps err. All other steps succeed.
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

// Kill returns a file system that kills this process with SIGKILL before the nth step,
// counted from 0.
func Kill(files vfs.FS, n int) vfs.FS {
	return KillWhen(files, func(Step) bool { n--; return n < 0 })
}

// KillWhen returns a file system that kills this process with SIGKILL before the first
// step for which when returns true.
func KillWhen(files vfs.FS, when func(Step) bool) vfs.FS {
	return &Steps{FS: files, Before: func(s Step) error {
		if when(s) {
			die()
		}
		return nil
	}}
}

func die() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {} // until the signal is delivered
}
