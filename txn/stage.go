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

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// parallel bounds the number of files that are synced at a time. Each takes a thread, and the file system syncs
// those of a usual workflow in one go.
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

// staging is a file that the transaction makes durable before it gives it a name.
type staging struct {
	op, name string                       // for errors; "" for the journal
	begin    func() (vfs.Unsynced, error) // writes a new file, and begins to write its bytes to the disk
	end      func(path string) error      // gives the file, which is durable at path, its name

	file vfs.Unsynced
}

// in returns err as one of the file.
func (f *staging) in(err error) error {
	if err == nil || f.name == "" {
		return err
	}
	return &FileError{f.op, f.name, err}
}

// stagings returns the staged files, the backup links and, last, the journal. The journal needs no wait of its
// own: D is changed only after both barriers, and until then there is nothing to roll back.
func (t *transaction) stagings(c Change, journal []byte) (all []*staging) {
	written := func(op, name, path string, data []byte, perm fs.FileMode, target string) {
		all = append(all, &staging{op: op, name: name,
			begin: func() (vfs.Unsynced, error) { return t.files.WritePending(path, data, perm) },
			end:   func(temp string) error { return t.files.Rename(temp, target) }})
	}
	for _, f := range c.Creates {
		path := t.path(stagedName, f.Name)
		written("create", f.Name, path, f.Data, f.Mode.Perm()&^t.umask, path)
	}
	for _, r := range c.Restores {
		all = append(all, &staging{op: "restore", name: r.Name,
			begin: func() (vfs.Unsynced, error) { return t.files.StartSync(t.txnPath(r.ID, backupName, r.Name)) },
			end:   func(backup string) error { return t.stageRestore(backup, r.Name) }})
	}
	for _, name := range c.Deletes {
		all = append(all, &staging{op: "delete", name: name,
			begin: func() (vfs.Unsynced, error) {
				f, err := t.files.StartSync(t.filePath(name))
				return f, changedIfMissing(err)
			},
			end: func(path string) error { return t.backUp(path, name) }})
	}
	if m := c.Mark; m != nil {
		written("create", m.Name, t.path(markName), m.Data, m.Mode.Perm()&^t.umask, t.path(markName))
	}
	written("", "", t.path(draftName), journal, 0o600, t.statePath(journalName))
	return all
}

// writeAll writes all files, then syncs all, then gives them their names. So the file system commits its own journal
// once for all of them: a file created while another is synced belongs to the next commit.
func (t *transaction) writeAll(ctx context.Context, c Change, journal []byte) error {
	all := t.stagings(c, journal)
	for some := range slices.Chunk(all, safefile.MostOpen()) {
		if err := makeDurable(ctx, some); err != nil {
			return err
		}
	}
	for _, f := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f.end(f.file.Path()); err != nil {
			return f.in(err)
		}
	}
	return nil
}

// makeDurable writes the files, waits until all are written, and then syncs and closes all, also after an error.
func makeDurable(ctx context.Context, files []*staging) error {
	writing, ctx := errgroup.WithContext(ctx)
	err := atOnce(writing, files, func(f *staging) (err error) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f.file, err = f.begin()
		return f.in(err)
	})
	for _, f := range files {
		if err == nil {
			err = f.in(f.file.Wait())
		}
	}
	if err != nil {
		for _, f := range files {
			if f.file != nil {
				_ = f.file.Close()
			}
		}
		return err
	}
	return atOnce(new(errgroup.Group), files, func(f *staging) error { return f.in(f.file.Sync()) })
}

// atOnce calls do for the files at the same time.
func atOnce(g *errgroup.Group, files []*staging, do func(*staging) error) error {
	g.SetLimit(parallel)
	for _, f := range files {
		g.Go(func() error { return do(f) })
	}
	return g.Wait()
}

// stageRestore links a backup into the directory of staged files. From there it is linked into
// D, and rolled back, like a file that is created. It was synced, because another program that
// still had it open may have written to it after it was deleted.
func (t *transaction) stageRestore(backup, name string) error {
	return t.linkError(t.files.Link(backup, t.path(stagedName, name)))
}

// backUp makes a backup link to a file to be deleted. A link has the same inode, so a
// rollback restores mode and times too. If the file system has no hard links, this fails
// before D is changed. The file was synced, because its writer may never have done that, and
// before it is linked: after the link a sync would have to wait for the file system's journal
// even if the bytes are on disk already.
func (t *transaction) backUp(path, name string) error {
	if err := t.files.Link(path, t.path(backupName, name)); err != nil {
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
