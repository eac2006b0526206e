package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// parallel bounds the number of files written and synced at a time: enough for the
// file system to sync many of them in one go.
const parallel = 32

// stage writes to S what apply and a rollback need, and makes it durable.
// The journal is written at the same time as the staged files, which saves a wait
// for the disk. That is safe: D is changed only after both barriers, and until then
// there is nothing to roll back.
func (t *transaction) stage(ctx context.Context, c Change) error {
	inode, err := t.mkdirs(c)
	if err != nil {
		return err
	}
	j := &journal{ID: t.id, Dir: t.fromState(), Inode: inode, Time: time.Now().UTC(), Label: c.Label, Record: c.Record}
	t.umask = vfs.Umask()
	for _, f := range c.Creates {
		j.Creates = append(j.Creates, newEntry(f.Name, f.Data, f.Mode&^t.umask))
	}
	for _, r := range c.Restores {
		e, err := t.stageRestore(r)
		if err != nil {
			return &FileError{"restore", r.Name, err}
		}
		j.Creates = append(j.Creates, e)
	}
	if j.Deletes, err = t.readDeletes(ctx, c.Deletes); err != nil {
		return err
	}
	data, err := j.encode()
	if err != nil {
		return err
	}
	t.journal = j
	if err := t.writeAll(ctx, c, data); err != nil { // barrier B1: the bytes
		return err
	}
	return t.syncDirs() // barrier B2: the names
}

// mkdirs creates the transaction's directory and those subdirectories that it needs, and
// returns the inode of the former.
func (t *transaction) mkdirs(c Change) (uint64, error) {
	t.dirs = []string{t.path()}
	if len(c.Creates)+len(c.Restores) > 0 {
		t.dirs = append(t.dirs, t.path(stagedName))
	}
	if len(c.Deletes) > 0 {
		t.dirs = append(t.dirs, t.path(backupName))
	}
	for _, dir := range t.dirs {
		if err := t.files.Mkdir(dir, 0o700); err != nil {
			return 0, err
		}
	}
	info, err := t.files.Lstat(t.path())
	if err != nil {
		return 0, err
	}
	return inodeOf(info), nil
}

// stageRestore links a backup into the directory of staged files. From there the file is
// linked into D, and rolled back, like one that is created. It is synced because another
// program that still had it open may have written to it after it was deleted.
func (t *transaction) stageRestore(r Restore) (entry, error) {
	backup, staged := t.txnPath(r.ID, backupName, r.Name), t.path(stagedName, r.Name)
	if err := t.files.Sync(backup); err != nil {
		return entry{}, err
	}
	if err := t.files.Link(backup, staged); err != nil {
		return entry{}, t.linkError(err)
	}
	info, err := t.files.Lstat(staged)
	if err != nil {
		return entry{}, err
	}
	data, err := t.files.ReadFile(staged)
	return newEntry(r.Name, data, info.Mode()), err
}

// readDeletes returns the journal entries of the files to be deleted.
func (t *transaction) readDeletes(ctx context.Context, names []string) ([]entry, error) {
	t.seen = make(map[string]fs.FileInfo, len(names))
	entries := make([]entry, 0, len(names))
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, err := t.readDelete(name)
		if err != nil {
			return nil, deleteError(name, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (t *transaction) readDelete(name string) (entry, error) {
	info, err := t.files.Lstat(t.filePath(name))
	if err != nil {
		return entry{}, err
	}
	data, err := t.files.ReadFile(t.filePath(name))
	if err != nil {
		return entry{}, err
	}
	t.seen[name] = info
	return newEntry(name, data, info.Mode()), nil
}

// deleteError returns a *FileError. It wraps ErrChanged if the file does not exist,
// because then another program has deleted it.
func deleteError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return &FileError{"delete", name, err}
}

// writeAll writes the staged files and the journal, and makes the backup links.
func (t *transaction) writeAll(ctx context.Context, c Change, journal []byte) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, f := range c.Creates {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := t.files.WriteFile(t.path(stagedName, f.Name), t.path(stagedName), f.Data, f.Mode.Perm()&^t.umask); err != nil {
				return &FileError{"create", f.Name, err}
			}
			return nil
		})
	}
	for _, name := range c.Deletes {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := t.backUp(name); err != nil {
				return deleteError(name, err)
			}
			return nil
		})
	}
	g.Go(func() error { return t.files.WriteFile(t.statePath(journalName), t.path(), journal, 0o600) })
	return g.Wait()
}

// backUp makes a backup link to a file to be deleted. A link has the same inode, so a
// rollback restores mode and times too. If the file system has no hard links, this fails
// before D is changed. The file is synced first: its writer may never have synced it,
// and after the link a sync would have to wait for the file system's journal even if the
// bytes are on disk already.
func (t *transaction) backUp(name string) error {
	if err := t.files.Sync(t.filePath(name)); err != nil {
		return err
	}
	if err := t.files.Link(t.filePath(name), t.path(backupName, name)); err != nil {
		return t.linkError(err)
	}
	info, err := t.files.Lstat(t.path(backupName, name))
	if err == nil && !os.SameFile(info, t.seen[name]) {
		err = ErrChanged
	}
	return err
}

// syncDirs makes the names in S durable, and the names of S, D and the directories above
// them, whose creator may not have synced them.
func (t *transaction) syncDirs() error {
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, dir := range slices.Concat(t.dirs, []string{t.s}, t.ancestors(t.first)) {
		g.Go(func() error { return t.files.Sync(dir) })
	}
	return g.Wait()
}

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
	if target, err := filepath.EvalSymlinks(parent); err == nil { // the parent may be a symbolic link
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

// isOwn reports whether dir belongs to this user and can be opened.
func (d *Dir) isOwn(dir string) bool {
	info, err := d.files.Lstat(dir)
	if err != nil {
		return false
	}
	return ownerOf(info) == os.Geteuid() && info.Mode().Perm()&0o500 == 0o500
}

func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
