package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// apply changes D. Creates come first, so that a reader sees the old and the new
// files together rather than neither.
func (t *transaction) apply(ctx context.Context, c Change) error {
	if err := t.locker.Check(); err != nil {
		return err
	}
	if c.Mark != nil {
		if err := t.tryLink(c); err != nil {
			return err
		}
		if err := t.raise(c.Mark); err != nil {
			return &FileError{"create", c.Mark.Name, err}
		}
	}
	for i, e := range t.journal.Creates {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.link(e.Name); err != nil {
			op := "create"
			if i >= len(c.Creates) { // restored files come after the created ones
				op = "restore"
			}
			return &FileError{op, e.Name, err}
		}
	}
	for _, name := range c.Deletes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.unlink(name); err != nil {
			return &FileError{"delete", name, err}
		}
	}
	if err := t.syncDir(t.d); err != nil { // barrier B3
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return t.locker.Check()
}

// tryLink finds out whether links can be made, before anything is changed, if no backup link has
// shown it.
func (t *transaction) tryLink(c Change) error {
	if len(c.Creates) == 0 || len(c.Deletes)+len(c.Restores) > 0 {
		return nil
	}
	name := c.Creates[0].Name
	if err := t.files.Link(t.path(stagedName, name), t.path(probeName)); err != nil {
		return &FileError{"create", name, t.linkError(err)}
	}
	return t.files.Remove(t.path(probeName))
}

// raise replaces the mark unless it is reached already, or a directory is in its place.
func (t *transaction) raise(m *Mark) error {
	path := t.filePath(m.Name)
	info, err := t.files.Lstat(path)
	if ignoreNotExist(err) != nil || err == nil && info.IsDir() {
		return ignoreNotExist(err)
	}
	now, err := t.files.ReadFile(path)
	if ignoreNotExist(err) != nil && !errors.Is(err, vfs.ErrNotRegular) && !errors.Is(err, vfs.ErrFileTooLarge) {
		return err
	}
	if m.Reached(now) {
		return nil
	}
	return t.files.Rename(t.path(markName), path)
}

// link links a staged file into D.
func (t *transaction) link(name string) error {
	err := t.files.Link(t.path(stagedName, name), t.filePath(name))
	if err == nil {
		t.linked = append(t.linked, name)
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", ErrExists, err)
	}
	return t.linkError(err)
}

// unlink deletes a file of D if it is still the file that has a backup link. If the file
// does not exist, a writer without a lock has deleted it, which has the same result.
func (t *transaction) unlink(name string) error {
	info, err := t.files.Lstat(t.filePath(name))
	if err == nil && !vfs.SameFile(info, t.seen[name]) {
		return ErrChanged
	}
	if err == nil {
		t.unlinked[name] = true // set first: the file may be gone even if Remove fails
		err = t.files.Remove(t.filePath(name))
	}
	return ignoreNotExist(err)
}

// linkError wraps an error of link(2) in ErrNoLinks if it means that: EPERM, EXDEV and EMLINK as
// its manual says, the others from FUSE and network file systems. EPERM also means that one file
// is protected.
func (t *transaction) linkError(err error) error {
	if errors.Is(err, syscall.EPERM) && t.canLink() {
		return fmt.Errorf("%w: %w", ErrProtected, err)
	}
	errnos := []error{syscall.EPERM, syscall.EXDEV, syscall.EMLINK, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS}
	if slices.ContainsFunc(errnos, func(errno error) bool { return errors.Is(err, errno) }) {
		return fmt.Errorf("%w: %w", ErrNoLinks, err)
	}
	return err
}

// canLink reports whether the file system of S lets this process link a file of its own. It
// tries once. The rollback removes the files with the transaction's directory.
func (t *transaction) canLink() bool {
	t.probed.Do(func() {
		file := t.path(probeName)
		err := t.files.WriteNew(file, nil, 0o600)
		t.links = err == nil && t.files.Link(file, t.path(probeName+"-link")) == nil
	})
	return t.links
}
