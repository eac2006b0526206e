package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// apply changes D: creates first, so that a reader sees old and new together
// rather than neither.
func (t *transaction) apply(ctx context.Context, c Change) error {
	if err := t.locker.Check(); err != nil {
		return err
	}
	if c.Prepare != nil {
		if err := c.Prepare(t.files, t.d, t.own()); err != nil {
			return err
		}
	}
	for _, f := range c.Creates {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.create(f.Name); err != nil {
			return &FileError{"create", f.Name, err}
		}
	}
	for _, name := range c.Deletes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.delete(name); err != nil {
			return &FileError{"delete", name, err}
		}
	}
	if err := t.files.Sync(t.d); err != nil { // barrier B3
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return t.locker.Check()
}

func (t *transaction) create(name string) error {
	t.linked[name] = true
	err := t.files.Link(t.own(newName, name), t.at(name))
	if err == nil {
		return nil
	}
	delete(t.linked, name)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", ErrExists, err)
	}
	return linkError(err)
}

func linkError(err error) error {
	if isNoLinks(err) {
		return fmt.Errorf("%w: %w", ErrNoLinks, err)
	}
	return err
}

// isNoLinks knows the ways in which file systems say that they make no links
// (link(2): EPERM, EXDEV, EMLINK; FUSE and network file systems: the others).
func isNoLinks(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EXDEV, syscall.EMLINK, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// delete unlinks a file if it is still the one that was kept. One that is gone
// was deleted by a writer that takes no lock, and that is what was wanted.
func (t *transaction) delete(name string) error {
	info, err := t.files.Lstat(t.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !os.SameFile(info, t.kept[name]) {
		return ErrChanged
	}
	err = t.files.Remove(t.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
