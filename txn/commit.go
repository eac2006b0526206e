package txn

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Change is what a transaction does to D. A name may be in it once.
type Change struct {
	Creates []File
	Deletes []string // names of regular files in D
	Label   string   // kept with the transaction for History; any text

	// BeforeApply, if not nil, runs under all locks once the journal is durable
	// and before D is changed. Its error rolls the transaction back.
	BeforeApply func() error
}

// File is a file to be created in D, where its name must be free.
type File struct {
	Name string
	Data []byte
	Mode fs.FileMode // permissions, whatever the umask
}

// parallel bounds the files that are written and synced at a time: enough for
// the file system to sync many in one go.
const parallel = 32

// Commit carries the change out: all of it and durably, or none of it. Once it
// has returned, the locks taken by Lock are released. Ending ctx stops it at
// once while it stages and rolls it back while it applies.
//
// Errors: ErrName, ErrTooMany, ErrChanged, ErrExists, ErrNoLinks,
// ErrRecoveryRequired, ErrUnknown, context.Cause(ctx), the Locker's, or the file
// system's. One that concerns a single file is a *FileError.
func (d *Dir) Commit(ctx context.Context, c Change) error {
	defer d.locker.Unlock()
	if err := c.check(); err != nil {
		return err
	}
	changed, err := mkdirAll(d.files, d.d, 0o755)
	d.unsynced = append(d.unsynced, changed...)
	if err != nil {
		return err
	}
	t := &transaction{Dir: d, id: newID(time.Now()), linked: map[string]bool{}}
	if err := t.run(ctx, c); err != nil {
		return err
	}
	_ = d.locker.Unlock()
	t.tidy()
	return nil
}

func (c *Change) check() error {
	if len(c.Creates)+len(c.Deletes) > MaxEntries {
		return ErrTooMany
	}
	seen := make(map[string]bool)
	check := func(op, name string) error {
		if !isPlain(name) {
			return &FileError{op, name, ErrName}
		}
		if seen[name] {
			return &FileError{op, name, fmt.Errorf("%w: named twice", ErrName)}
		}
		seen[name] = true
		return nil
	}
	for _, f := range c.Creates {
		if err := check("create", f.Name); err != nil {
			return err
		}
		if len(f.Data) > MaxFileBytes {
			return &FileError{"create", f.Name, ErrFileTooLarge}
		}
	}
	for _, name := range c.Deletes {
		if err := check("delete", name); err != nil {
			return err
		}
	}
	return nil
}

// transaction is a Change on its way.
type transaction struct {
	*Dir
	id      string
	journal *journal
	dirs    []string               // its directories in S
	kept    map[string]fs.FileInfo // what each file to be deleted was when it was looked at
	linked  map[string]bool        // files that apply has linked into D
}

func (t *transaction) run(ctx context.Context, c Change) error {
	if err := t.stage(ctx, c); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.apply(ctx, c); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.files.Rename(t.in(journalName), t.in(donePrefix+t.id)); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.files.SyncDir(t.s); err != nil {
		return fmt.Errorf("%w: syncing %s: %w", ErrUnknown, t.s, err)
	}
	return nil
}

// abort undoes what run did. Its error is the cause, and ErrRecoveryRequired
// beside it if undoing failed.
func (t *transaction) abort(ctx context.Context, cause error) error {
	if t.journal == nil {
		t.discard(t.id)
		return cause
	}
	t.keepWritersOut(ctx)
	ours := func(e entry) (bool, error) { return t.linked[e.Name], nil }
	if _, err := t.undo(t.journal, ours); err != nil {
		return fmt.Errorf("%w; %w: rolling back failed: %w", cause, ErrRecoveryRequired, err)
	}
	return cause
}

// rollbackWait bounds the wait for writers that have begun to write to a file
// that is about to be taken out again. They need milliseconds; whoever ends a
// process by a signal may kill it a second later.
const rollbackWait = 500 * time.Millisecond

// keepWritersOut takes the locks of the files that were created. A writer that has
// read one and not yet written it would make it anew after it was taken out. If
// the locks cannot be had, undoing without them is still better than not undoing.
func (t *transaction) keepWritersOut(ctx context.Context) {
	if len(t.linked) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWait)
	defer cancel()
	_ = t.locker.Lock(ctx, slices.Collect(maps.Keys(t.linked)))
}

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
	if err == nil && len(data) > MaxFileBytes { // nobody would read it
		err = fmt.Errorf("the journal would be %w", ErrFileTooLarge)
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
		return entry{}, ErrNotRegular
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
	if err := t.files.SyncFile(t.at(name)); err != nil {
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
		g.Go(func() error { return t.files.SyncDir(dir) })
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

// apply changes D: creates first, so that a reader sees old and new together
// rather than neither.
func (t *transaction) apply(ctx context.Context, c Change) error {
	if err := t.locker.Check(); err != nil {
		return err
	}
	if c.BeforeApply != nil {
		if err := c.BeforeApply(); err != nil {
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
	if err := t.files.SyncDir(t.d); err != nil { // barrier B3
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

// newID returns an id that sorts by time and that no other transaction has.
func newID(now time.Time) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:])
	return now.UTC().Format("20060102t150405") + fmt.Sprintf("-%09d-", now.Nanosecond()) + hex.EncodeToString(tail[:])
}

func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
