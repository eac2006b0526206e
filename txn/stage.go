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

// stage writes to S what apply and a rollback need, and makes durable what a power cut must
// not lose: of a small transaction the journal alone, which has the bytes of all files, of a
// large one each file.
func (t *transaction) stage(ctx context.Context, c Change) error {
	inode, err := t.mkdirs(c)
	if err != nil {
		return err
	}
	t.umask = vfs.Umask()
	j, err := t.describe(ctx, c)
	if err != nil {
		return err
	}
	j.Inode = inode
	data, err := t.encode(j)
	if err != nil {
		return err
	}
	if t.whole {
		return t.stageWhole(ctx, c, j, data)
	}
	t.journal = j
	if err := t.stageRestores(c.Restores); err != nil {
		return err
	}
	if err := t.writeAll(ctx, c, data); err != nil { // barrier B1: the bytes
		return err
	}
	return t.syncDirs() // barrier B2: the names
}

// stageWhole commits: once it has returned nil, the transaction has happened, and D is still
// as it was. Nothing that it stages is synced but the journal. The staged files are written
// first, so that their space is had before the commit.
func (t *transaction) stageWhole(ctx context.Context, c Change, j *journal, data []byte) error {
	if err := t.stageRestores(c.Restores); err != nil {
		return err
	}
	if err := t.stageAll(ctx, c); err != nil {
		return err
	}
	if c.Prepare != nil {
		if err := t.locker.Check(); err != nil {
			return err
		}
		if err := c.Prepare(t.files, t.d, t.path()); err != nil {
			return err
		}
		if err := t.syncAll(append(t.ancestors(t.first), t.d)); err != nil {
			return err
		}
	}
	if err := t.files.WriteNew(t.path(journalName), data, 0o600); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := t.locker.Check(); err != nil {
		return err
	}
	if err := t.commit(); err != nil {
		return err
	}
	t.journal = j
	return nil
}

// commit makes the record durable. It renames it first: a file system with a journal of its own
// then writes the record and all names at once, and the second barrier finds nothing left to
// write. Until the record has its last name, a power cut may have torn it, and D is as it was.
func (t *transaction) commit() error {
	record := t.statePath(committingName)
	if err := t.files.Rename(t.path(journalName), record); err != nil {
		return err
	}
	err := t.files.Sync(record) // barrier B1
	if err == nil {
		err = t.syncNames()
	}
	if err == nil {
		err = t.files.Rename(record, t.statePath(journalName))
	}
	if err == nil || errors.Is(err, ErrUnknown) {
		return err
	}
	return t.withdraw(err)
}

// withdraw removes the record because of cause, which it returns.
func (t *transaction) withdraw(cause error) error {
	if err := t.dropRecord(); err != nil {
		return fmt.Errorf("%w: %w; removing the record: %w", ErrUnknown, cause, err)
	}
	return cause
}

// syncNames makes durable the name of the record, and the names of S, D and the directories
// above them.
func (t *transaction) syncNames() error {
	var above error
	var g errgroup.Group
	g.Go(func() error { above = t.syncAll(t.ancestors(t.first)); return nil })
	err := t.files.Sync(t.s) // barrier B2: the commit point
	_ = g.Wait()
	if err != nil {
		return fmt.Errorf("%w: syncing %s: %w", ErrUnknown, t.s, err)
	}
	return above
}

// describe returns the journal of the change, with the bytes of its files if it is to be a
// whole record.
func (t *transaction) describe(ctx context.Context, c Change) (*journal, error) {
	j := &journal{ID: t.id, Dir: t.fromState(), Life: t.life(), Time: time.Now().UTC(), Label: c.Label, Record: c.Record}
	room := t.limit
	keep := func(e entry, data []byte) entry {
		if room -= len(data); room >= 0 {
			e.data = data
		}
		return e
	}
	for _, f := range c.Creates {
		j.Creates = append(j.Creates, keep(newEntry(f.Name, f.Data, f.Mode&^t.umask), f.Data))
	}
	for _, r := range c.Restores {
		e, data, err := t.readEntry(t.txnPath(r.ID, backupName, r.Name))
		if err != nil {
			return nil, &FileError{"restore", r.Name, err}
		}
		j.Creates = append(j.Creates, keep(e, data))
	}
	t.seen = make(map[string]fs.FileInfo, len(c.Deletes))
	for _, name := range c.Deletes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, data, err := t.readEntry(t.filePath(name))
		if err != nil {
			return nil, deleteError(name, err)
		}
		j.Deletes = append(j.Deletes, keep(e, data))
	}
	t.whole = room >= 0 && t.limit > 0 && j.Life != ""
	return j, nil
}

// readEntry reads a file to be deleted or restored.
func (t *transaction) readEntry(path string) (entry, []byte, error) {
	info, err := t.files.Lstat(path)
	if err != nil {
		return entry{}, nil, err
	}
	data, err := t.files.ReadFile(path)
	if err != nil {
		return entry{}, nil, err
	}
	e := newEntry(filepath.Base(path), data, info.Mode())
	if at := info.ModTime().UTC(); 0 <= at.Year() && at.Year() <= 9999 { // JSON has no others; the local time would need /etc/localtime
		e.ModTime = at
	}
	if t.seen != nil {
		t.seen[e.Name] = info
	}
	return e, data, nil
}

// encode encodes the journal as a whole record if t.whole is set and the record is small
// enough. Otherwise it clears t.whole.
func (t *transaction) encode(j *journal) ([]byte, error) {
	j.whole = t.whole
	if t.whole {
		data, err := j.encode()
		if err != nil || len(data) <= t.limit {
			return data, err
		}
		t.whole = false
	}
	j.whole, j.Life = false, ""
	for _, entries := range [][]entry{j.Creates, j.Deletes} {
		for i := range entries {
			entries[i].data, entries[i].ModTime = nil, time.Time{}
		}
	}
	return j.encode()
}

// mkdirs creates the transaction's directory and those subdirectories that it needs, and
// returns the inode of the former.
func (t *transaction) mkdirs(c Change) (uint64, error) {
	t.dirs = []string{t.path(), t.path(stagedName)} // the latter shows that the transaction was not tidied
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

// stageRestores links backups into the directory of staged files. From there they are linked
// into D, and rolled back, like files that are created. Without a whole record they are
// synced, because another program that still had one open may have written to it after it
// was deleted.
func (t *transaction) stageRestores(restores []Restore) error {
	for _, r := range restores {
		backup, err := t.txnPath(r.ID, backupName, r.Name), error(nil)
		if !t.whole {
			err = t.files.Sync(backup)
		}
		if err == nil {
			err = t.linkError(t.files.Link(backup, t.path(stagedName, r.Name)))
		}
		if err != nil {
			return &FileError{"restore", r.Name, err}
		}
	}
	return nil
}

// deleteError returns a *FileError. It wraps ErrChanged if the file does not exist,
// because then another program has deleted it.
func deleteError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return &FileError{"delete", name, err}
}

// stageAll writes the staged files and makes the backup links. Nothing is synced, so that to do one
// after the other takes less time than to wake other threads.
func (t *transaction) stageAll(ctx context.Context, c Change) error {
	for _, do := range t.staging(c) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// writeAll writes the staged files, makes the backup links, writes the journal and syncs all of
// them. The journal is written at the same time as the staged files, which saves a wait for
// the disk. That is safe: D is changed only after both barriers, and until then there is
// nothing to roll back.
func (t *transaction) writeAll(ctx context.Context, c Change, journal []byte) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, do := range append(t.staging(c), func() error { return t.writeJournal(journal) }) {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return do()
		})
	}
	return g.Wait()
}

// staging returns the work of stageAll. Its parts can be done in any order, or at once.
func (t *transaction) staging(c Change) (parts []func() error) {
	for _, f := range c.Creates {
		parts = append(parts, func() error {
			if err := t.stageFile(f); err != nil {
				return &FileError{"create", f.Name, err}
			}
			return nil
		})
	}
	for _, name := range c.Deletes {
		parts = append(parts, func() error {
			if err := t.backUp(name); err != nil {
				return deleteError(name, err)
			}
			return nil
		})
	}
	return parts
}

// writeJournal syncs S first: the name of the record before this journal, which the rename
// replaces, may not be durable under its new name yet.
func (t *transaction) writeJournal(data []byte) error {
	if !t.first {
		if err := t.files.Sync(t.s); err != nil {
			return err
		}
	}
	return t.files.WriteFile(t.statePath(journalName), t.path(), data, 0o600)
}

func (t *transaction) stageFile(f File) error {
	path, perm := t.path(stagedName, f.Name), f.Mode.Perm()&^t.umask
	if t.whole {
		return t.files.WriteNew(path, f.Data, perm)
	}
	return t.files.WriteFile(path, t.path(stagedName), f.Data, perm)
}

// backUp makes a backup link to a file to be deleted. A link has the same inode, so a
// rollback restores mode and times too. If the file system has no hard links, this fails
// before D is changed. Without a whole record the file is synced first: its writer may
// never have synced it, and after the link a sync would have to wait for the file system's
// journal even if the bytes are on disk already.
func (t *transaction) backUp(name string) error {
	if !t.whole {
		if err := t.syncFile(t.filePath(name)); err != nil {
			return err
		}
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
	return t.syncAll(slices.Concat(t.dirs, []string{t.s}, t.ancestors(t.first)))
}

// syncAll syncs directories at the same time.
func (d *Dir) syncAll(dirs []string) error {
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, dir := range dirs {
		g.Go(func() error { return d.files.Sync(dir) })
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

// isOwn reports whether dir belongs to this user and can be opened. If that cannot be found out
// now, it is true: then the sync of dir fails, or shows that it can.
func (d *Dir) isOwn(dir string) bool {
	info, err := d.files.Lstat(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrPermission)
	}
	return ownerOf(info) == os.Geteuid() && info.Mode().Perm()&0o500 == 0o500
}

func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
