package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// parallel bounds the number of files written and synced at a time. Each takes a thread, and
// the file system syncs those of a usual workflow in one go.
const parallel = 128

// stage writes to S, and makes durable there, all that apply and a rollback need.
func (t *transaction) stage(ctx context.Context, c Change) error {
	dirs := []string{t.path(), t.path(stagedName)} // the latter shows that the transaction was not tidied
	if len(c.Deletes) > 0 {
		dirs = append(dirs, t.path(backupName))
	}
	for _, dir := range dirs {
		if err := t.files.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	t.umask = vfs.Umask()
	j, err := t.describe(ctx, c)
	if err != nil {
		return err
	}
	journal, err := j.encode()
	if err != nil {
		return err
	}
	t.journal = j
	if err := t.writeAll(ctx, c, journal); err != nil { // barrier B1: the bytes
		return err
	}
	return t.syncDirs(slices.Concat(dirs, []string{t.s}, t.ancestors(t.first))) // barrier B2: the names
}

// describe returns the journal of the change.
func (t *transaction) describe(ctx context.Context, c Change) (*journal, error) {
	j := &journal{ID: t.id, Dir: t.fromState(), Time: time.Now().UTC(), Label: c.Label, Record: c.Record}
	for _, f := range c.Creates {
		j.Creates = append(j.Creates, newEntry(f.Name, f.Data, f.Mode&^t.umask))
	}
	for _, r := range c.Restores {
		e, _, err := t.readEntry(t.txnPath(r.ID, backupName, r.Name))
		if err != nil {
			return nil, &FileError{"restore", r.Name, err}
		}
		j.Creates = append(j.Creates, e)
	}
	t.seen = make(map[string]fs.FileInfo, len(c.Deletes))
	for _, name := range c.Deletes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, info, err := t.readEntry(t.filePath(name))
		if err != nil {
			return nil, &FileError{"delete", name, changedIfMissing(err)}
		}
		j.Deletes, t.seen[name] = append(j.Deletes, e), info
	}
	return j, nil
}

// readEntry reads a file to be deleted or restored.
func (t *transaction) readEntry(path string) (entry, fs.FileInfo, error) {
	info, err := t.files.Lstat(path)
	if err != nil {
		return entry{}, nil, err
	}
	data, err := t.files.ReadFile(path)
	return newEntry(filepath.Base(path), data, info.Mode()), info, err
}

// changedIfMissing wraps fs.ErrNotExist of a file to be deleted in ErrChanged: another program
// has deleted it.
func changedIfMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}

// writeAll writes and syncs the staged files, the backup links and the journal, all at the same
// time. The journal needs no wait of its own: D is changed only after both barriers, and until
// then there is nothing to roll back.
func (t *transaction) writeAll(ctx context.Context, c Change, journal []byte) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	do := func(op, name string, work func() error) {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err := work()
			if err != nil && name != "" {
				return &FileError{op, name, err}
			}
			return err
		})
	}
	for _, f := range c.Creates {
		do("create", f.Name, func() error { return t.stageFile(f, t.path(stagedName, f.Name)) })
	}
	for _, r := range c.Restores {
		do("restore", r.Name, func() error { return t.stageRestore(r) })
	}
	for _, name := range c.Deletes {
		do("delete", name, func() error { return t.backUp(name) })
	}
	if c.Mark != nil {
		do("create", c.Mark.Name, func() error { return t.stageFile(c.Mark.File, t.path(markName)) })
	}
	do("", "", func() error {
		if err := t.files.WriteNew(t.path(draftName), journal, 0o600); err != nil {
			return err
		}
		return t.files.Rename(t.path(draftName), t.statePath(journalName))
	})
	return g.Wait()
}

func (t *transaction) stageFile(f File, path string) error {
	return t.files.WriteNew(path, f.Data, f.Mode.Perm()&^t.umask)
}

// stageRestore links a backup into the directory of staged files. From there it is linked into
// D, and rolled back, like a file that is created. It is synced, because another program that
// still had it open may have written to it after it was deleted.
func (t *transaction) stageRestore(r Restore) error {
	backup := t.txnPath(r.ID, backupName, r.Name)
	if err := t.files.Sync(backup); err != nil {
		return err
	}
	return t.linkError(t.files.Link(backup, t.path(stagedName, r.Name)))
}

// backUp makes a backup link to a file to be deleted. A link has the same inode, so a
// rollback restores mode and times too. If the file system has no hard links, this fails
// before D is changed. The file is synced, because its writer may never have done that, and
// before it is linked: after the link a sync would have to wait for the file system's journal
// even if the bytes are on disk already.
func (t *transaction) backUp(name string) error {
	if err := t.files.Sync(t.filePath(name)); err != nil {
		return changedIfMissing(err)
	}
	if err := t.files.Link(t.filePath(name), t.path(backupName, name)); err != nil {
		return changedIfMissing(t.linkError(err))
	}
	info, err := t.files.Lstat(t.path(backupName, name))
	if err == nil && !vfs.SameFile(info, t.seen[name]) {
		err = ErrChanged
	}
	return err
}

// syncDirs syncs directories at the same time.
func (d *Dir) syncDirs(dirs []string) error {
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, dir := range dirs {
		g.Go(func() error { return d.syncDir(dir) })
	}
	return g.Wait()
}

func (d *Dir) syncDir(dir string) error { return vfs.SyncDir(d.files, dir) }

// levels is the number of directories above D that are synced: a program that
// created D may have created the two above it as well.
const levels = 3

// ancestors returns the directories above D and S that must be synced: their parent, those
// in which this Dir created a name and, for the first transaction, further ones up to
// levels that belong to this user. Later transactions need not sync the latter again.
func (d *Dir) ancestors(first bool) []string {
	parent := filepath.Dir(d.d)
	dirs := []string{parent}
	for _, dir := range d.unsynced {
		if dir != parent {
			dirs = append(dirs, dir)
		}
	}
	if !first {
		return dirs
	}
	above := parent
	if target, err := d.files.EvalSymlinks(parent); err == nil { // the parent may be a symbolic link
		above = target
	}
	for range levels - 1 {
		if above = filepath.Dir(above); !d.isOwn(above) {
			break
		}
		if !slices.Contains(dirs, above) {
			dirs = append(dirs, above)
		}
	}
	return dirs
}

// isOwn reports whether dir belongs to this user and can be opened. If that cannot be found out
// now, it is true: then the sync of dir fails, or shows that it can.
func (d *Dir) isOwn(dir string) bool {
	info, err := d.files.Lstat(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrPermission)
	}
	return ownerOf(info) == os.Geteuid() && info.Mode().Perm()&0o500 == 0o500
}
