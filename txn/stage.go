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

// parallel bounds the files that are written and synced at a time: enough for
// the file system to sync many in one go.
const parallel = 32

// stage puts everything into S that apply and undo need, and makes it durable.
// The journal is written beside the staged files, not after them: until D is
// changed, which is after both barriers, it has nothing to undo, and one wait for
// the disk is saved.
func (t *transaction) stage(ctx context.Context, c Change) error {
	inode, err := t.mkdirs(c)
	if err != nil {
		return err
	}
	j := &journal{ID: t.id, Dir: t.relative(), Inode: inode, Time: time.Now().UTC(), Label: c.Label}
	for _, f := range c.Creates {
		j.Creates = append(j.Creates, newEntry(f.Name, f.Data, f.Mode))
	}
	if j.Deletes, err = t.look(ctx, c.Deletes); err != nil {
		return err
	}
	data, err := j.encode()
	if err == nil && len(data) > vfs.MaxFileBytes { // recovery could not read it
		err = fmt.Errorf("the transaction's journal would have %d bytes: %w", len(data), vfs.ErrFileTooLarge)
	}
	if err != nil {
		return err
	}
	t.journal = j
	if err := t.writeAll(ctx, c, data); err != nil { // barrier B1: the bytes
		return err
	}
	return t.syncDirs(ctx) // barrier B2: the names
}

// mkdirs makes the transaction's directories, those that it needs, and returns the
// inode of the outermost.
func (t *transaction) mkdirs(c Change) (uint64, error) {
	t.dirs = []string{t.own()}
	if len(c.Creates) > 0 {
		t.dirs = append(t.dirs, t.own(newName))
	}
	if len(c.Deletes) > 0 {
		t.dirs = append(t.dirs, t.own(oldName))
	}
	for _, dir := range t.dirs {
		if err := t.files.Mkdir(dir, 0o700); err != nil {
			return 0, err
		}
	}
	info, err := t.files.Lstat(t.own())
	if err != nil {
		return 0, err
	}
	return inodeOf(info), nil
}

// own returns a path inside the transaction's directory.
func (t *transaction) own(elem ...string) string { return t.of(t.id, elem...) }

// of returns a path inside the directory of the transaction id.
func (d *Dir) of(id string, elem ...string) string {
	return filepath.Join(append([]string{d.s, txnPrefix + id}, elem...)...)
}

// look describes every file to be deleted as it is before anything is done.
func (t *transaction) look(ctx context.Context, names []string) ([]entry, error) {
	t.kept = make(map[string]fs.FileInfo, len(names))
	entries := make([]entry, 0, len(names))
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, err := t.lookAt(name)
		if err != nil {
			return nil, deleteError(name, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (t *transaction) lookAt(name string) (entry, error) {
	info, err := t.files.Lstat(t.at(name))
	if err != nil {
		return entry{}, err
	}
	if !info.Mode().IsRegular() {
		return entry{}, vfs.ErrNotRegular
	}
	data, err := t.files.ReadFile(t.at(name))
	if err != nil {
		return entry{}, err
	}
	t.kept[name] = info
	return newEntry(name, data, info.Mode()), nil
}

// deleteError says which file could not be deleted. One that is gone was deleted
// by someone else meanwhile.
func deleteError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return &FileError{"delete", name, err}
}

// writeAll writes the new files and the journal, and keeps the old ones.
func (t *transaction) writeAll(ctx context.Context, c Change, journal []byte) error {
	g, ctx := newGroup(ctx)
	for _, f := range c.Creates {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := t.files.WriteFile(t.own(newName, f.Name), t.own(newName), f.Data, f.Mode.Perm()); err != nil {
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
			if err := t.keep(name); err != nil {
				return deleteError(name, err)
			}
			return nil
		})
	}
	g.Go(func() error { return t.files.WriteFile(t.in(journalName), t.own(), journal, 0o600) })
	return g.Wait()
}

// keep links a file to be deleted into S: a link has the same inode, so that
// undoing brings back mode and times too. Here shows whether links can be made
// at all, before anything is changed. Whoever wrote the file may never have synced
// it. That is done first: once it has a new link, syncing it costs a wait for the
// file system's own journal even if its bytes are clean.
func (t *transaction) keep(name string) error {
	if err := t.files.Sync(t.at(name)); err != nil {
		return err
	}
	if err := t.files.Link(t.at(name), t.own(oldName, name)); err != nil {
		return linkError(err)
	}
	info, err := t.files.Lstat(t.own(oldName, name))
	if err == nil && !os.SameFile(info, t.kept[name]) {
		err = ErrChanged
	}
	return err
}

// syncDirs makes the names in S durable, and the names of S, of D and of what
// they are in: the client makes directories and syncs none of them.
func (t *transaction) syncDirs(ctx context.Context) error {
	dirs := append(append(t.dirs, t.s), t.ancestors()...)
	g, _ := newGroup(ctx)
	for _, dir := range dirs {
		g.Go(func() error { return t.files.Sync(dir) })
	}
	return g.Wait()
}

func newGroup(ctx context.Context) (*errgroup.Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	return g, ctx
}

// levels is how far up from D directories are synced: whoever made D may have made
// the two above it as well, as the client does on its first start.
const levels = 3

// ancestors returns the directories whose names D and S depend on: the one they
// are in, and those above it within levels that are this user's, unless an earlier
// transaction has synced them.
func (d *Dir) ancestors() []string {
	parent := filepath.Dir(d.d)
	dirs := []string{parent}
	for _, dir := range d.unsynced {
		if dir != parent {
			dirs = append(dirs, dir)
		}
	}
	if done, err := d.done(); err == nil && len(done) > 0 {
		return dirs
	}
	above := parent
	if real, err := filepath.EvalSymlinks(parent); err == nil { // people link ~/.claude to where they keep it
		above = real
	}
	for dir := filepath.Dir(above); len(dirs) < levels && d.isOwn(dir); dir = filepath.Dir(dir) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func (d *Dir) isOwn(dir string) bool {
	info, err := d.files.Lstat(dir)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o500 == 0o500
}

func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
