package tasks

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// The client's locks are directories, made by the npm package proper-lockfile.
const (
	listLock   = ".lock"          // D/.lock.lock is held around the creation of a task
	lockSuffix = ".lock"          // D/N.json.lock is held around an update of task N
	stale      = 10 * time.Second // a lock this old was left by a dead process, says the client

	maxName = 255 // bytes of a file name, on every file system that is supported

	// The client calls a lock stale by its modification time, so one that is
	// held for long has to be touched.
	refreshEvery = 3 * time.Second
	// A client that looked at a stale lock just before it was taken over may
	// still remove and remake it: that shows within this time.
	settleTime = 50 * time.Millisecond
)

// ErrLockLost means that a lock that was taken is no longer held: someone took
// it for stale.
var ErrLockLost = errors.New("a lock on the task list was lost to another program")

// BusyError says which of the client's locks was held until the context ended.
type BusyError struct {
	Path  string
	Since time.Time // its last refresh; zero if it has just been released
	Cause error     // the context's
}

func (e *BusyError) Error() string {
	held := "was held by another program all the time"
	if !e.Since.IsZero() {
		held = "is held by another program since " + e.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("the task list is in use: %s %s: %v", e.Path, held, e.Cause)
}

func (e *BusyError) Unwrap() error { return e.Cause }

// Locks takes the client's locks on one task list; it is a txn.Locker.
//
// A lock is not made where it is wanted. Its directory is made in scratch, its
// inode and a mark in its modification time are recorded there, and then it is
// renamed into place, which fails if the place is taken. So whoever finds the
// record of a process that died knows which locks were its own, and may remove
// them at once instead of waiting until they are stale.
type Locks struct {
	files        vfs.FS
	dir, scratch string

	mu   sync.Mutex // the refresher touches held
	held []lock
	stop func()
}

var _ txn.Locker = (*Locks)(nil)

// lock is a lock directory of ours. What proves it is ours is its inode and the
// nanoseconds of its modification time, which every refresh keeps.
type lock struct {
	name  string // in D, such as "3.json.lock"
	inode uint64
	nanos int
}

// Bind tells which list is locked. See txn.Locker.
func (l *Locks) Bind(files vfs.FS, dir, scratch string) {
	l.files, l.dir, l.scratch = files, dir, scratch
}

// Lock takes the list's lock and those of the named files. If one is held by
// someone else it lets all go and begins again a little later: to hold some
// while waiting for others is how two programs wait for one another for ever.
func (l *Locks) Lock(ctx context.Context, names []string) (kept bool, err error) {
	kept = true
	all, heldAny := l.wanted(names), len(l.held) > 0
	missing := slices.DeleteFunc(slices.Clone(all), l.holds)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		busy, err := l.take(missing)
		if err == nil && busy == "" {
			return kept, nil
		}
		if err := errors.Join(err, l.Unlock()); err != nil {
			return false, err
		}
		kept = !heldAny
		if missing = all; ctx.Err() != nil {
			return false, l.busyError(ctx, busy)
		}
		select {
		case <-ctx.Done():
			return false, l.busyError(ctx, busy)
		case <-time.After(wait):
		}
	}
}

// wanted returns the names of the locks that are to be held, each once: the
// list's, those that are held, those of the named files. A file whose lock would
// have too long a name has none: nobody can take it.
func (l *Locks) wanted(names []string) []string {
	all := []string{listLock + lockSuffix}
	asked := map[string]bool{all[0]: true}
	for _, h := range l.held {
		if !asked[h.name] {
			asked[h.name] = true
			all = append(all, h.name)
		}
	}
	for _, name := range slices.SortedFunc(slices.Values(names), byNumber) {
		if len(name+lockSuffix) > maxName || asked[name+lockSuffix] {
			continue
		}
		asked[name+lockSuffix] = true
		all = append(all, name+lockSuffix)
	}
	return all
}

func byNumber(a, b string) int {
	if d := number(a) - number(b); d != 0 {
		return int(max(-1, min(1, d)))
	}
	return slices.Compare([]byte(a), []byte(b))
}

func (l *Locks) holds(name string) bool {
	return slices.ContainsFunc(l.held, func(h lock) bool { return h.name == name })
}

func (l *Locks) busyError(ctx context.Context, busy string) error {
	e := &BusyError{Path: filepath.Join(l.dir, busy), Cause: context.Cause(ctx)}
	info, err := l.files.Lstat(e.Path)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is no directory, so that neither this program nor the client can take that lock; remove it: %w", e.Path, e.Cause)
	}
	if err == nil {
		e.Since = info.ModTime()
	}
	return e
}

// take takes the named locks. busy is the one that someone else holds.
func (l *Locks) take(names []string) (busy string, err error) {
	if len(names) == 0 {
		return "", nil
	}
	prepared, err := l.prepare(names)
	if err != nil {
		return "", err
	}
	settle := false
	for i, p := range prepared {
		stole, err := l.place(p)
		settle = settle || stole
		if err != nil {
			l.drop(prepared[i:])
			if errors.Is(err, fs.ErrExist) {
				return p.name, nil
			}
			return "", err
		}
		l.add(p.lock)
	}
	if settle {
		time.Sleep(settleTime)
		if err := l.Check(); err != nil {
			return names[0], nil
		}
	}
	return "", nil
}

func (l *Locks) add(h lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, h)
	if l.stop == nil {
		l.stop = l.keepFresh()
	}
}

// prepared is a lock that is still in scratch, at path.
type prepared struct {
	lock
	path string
}

// prepare makes the directories of the named locks in scratch and records them.
func (l *Locks) prepare(names []string) ([]prepared, error) {
	if err := l.files.Mkdir(l.scratch, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	batch := newBatch()
	var all []prepared
	for i, name := range names {
		p := prepared{lock{name: name}, filepath.Join(l.scratch, fmt.Sprintf("%s-%d", batch, i))}
		if err := l.files.Mkdir(p.path, 0o755); err != nil {
			return nil, err
		}
		info, err := l.files.Lstat(p.path)
		if err != nil {
			return nil, err
		}
		p.inode, p.nanos = inodeOf(info), info.ModTime().Nanosecond()
		all = append(all, p)
	}
	return all, l.files.Overwrite(filepath.Join(l.scratch, recordPrefix+batch), encodeRecord(all))
}

func newBatch() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// drop removes prepared locks that did not come into place.
func (l *Locks) drop(rest []prepared) {
	for _, p := range rest {
		_ = l.files.Remove(p.path) // Reap removes what is left
	}
}

// place puts a prepared lock where it belongs; fs.ErrExist if it is held. stole
// tells that a stale one had to be taken over.
func (l *Locks) place(p prepared) (stole bool, err error) {
	path := filepath.Join(l.dir, p.name)
	for range 3 {
		err = l.rename(p, path)
		if errors.Is(err, fs.ErrNotExist) { // the client removes directories, too
			if err = l.files.Mkdir(l.dir, 0o755); err == nil || errors.Is(err, fs.ErrExist) {
				continue
			}
			return stole, err
		}
		if errors.Is(err, syscall.EXDEV) { // where this is not possible, links are not
			err = fmt.Errorf("%w: %w", txn.ErrNoLinks, err)
		}
		if !errors.Is(err, fs.ErrExist) {
			return stole, err
		}
		gone, err := l.takeOver(path)
		if err != nil {
			return stole, err
		}
		if !gone {
			break
		}
		stole = true
	}
	return stole, fs.ErrExist
}

// rename puts the directory into place. Where the file system cannot refuse to
// replace, the lock is made in place: only a process that dies right here leaves
// one that has to grow stale.
func (l *Locks) rename(p prepared, path string) error {
	err := l.files.RenameNew(p.path, path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := l.files.Mkdir(path, 0o755); err != nil {
		return err
	}
	// An empty directory replaces an empty directory, and with it comes the
	// recorded inode.
	return l.files.Rename(p.path, path)
}

// takeOver removes a stale lock. It is renamed first: of several who found it
// stale one gets it, and can see whether it is still the one that was stale.
func (l *Locks) takeOver(path string) (gone bool, err error) {
	seen, err := l.files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !seen.IsDir() || time.Since(seen.ModTime()) <= stale {
		return false, err
	}
	away := filepath.Join(l.scratch, "stale-"+newBatch())
	if err := l.files.Rename(path, away); err != nil {
		return errors.Is(err, fs.ErrNotExist), nil
	}
	got, err := l.files.Lstat(away)
	if err == nil && inodeOf(got) == inodeOf(seen) && got.ModTime().Equal(seen.ModTime()) {
		_ = l.files.Remove(away)
		return true, nil
	}
	// It was taken afresh in between: give it back.
	if err := l.files.RenameNew(away, path); err != nil {
		_ = l.files.Remove(away)
	}
	return false, nil
}

// Check reports ErrLockLost if a lock is no longer the one that was taken.
func (l *Locks) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		if ok, err := l.isOurs(h); err != nil || !ok {
			return errors.Join(fmt.Errorf("%w: %s", ErrLockLost, filepath.Join(l.dir, h.name)), err)
		}
	}
	return nil
}

func (l *Locks) isOurs(h lock) (bool, error) {
	info, err := l.files.Lstat(filepath.Join(l.dir, h.name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir() && inodeOf(info) == h.inode && info.ModTime().Nanosecond() == h.nanos, err
}

// Unlock releases every lock that is held, the list's last. The records of locks
// that could not be released stay, for whoever comes next to do it.
func (l *Locks) Unlock() error {
	l.mu.Lock()
	held, stop := l.held, l.stop
	l.held, l.stop = nil, nil
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
	var errs []error
	for _, h := range slices.Backward(held) {
		errs = append(errs, l.release(h))
	}
	if err := errors.Join(errs...); err != nil || len(held) == 0 {
		return err
	}
	return l.clear()
}

func (l *Locks) release(h lock) error {
	ours, err := l.isOurs(h)
	if err != nil || !ours {
		return err
	}
	err = l.files.Remove(filepath.Join(l.dir, h.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// keepFresh touches the held locks until it is stopped.
func (l *Locks) keepFresh() (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(refreshEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				l.refresh(now)
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// refresh gives each lock the current second and its own nanoseconds. One that
// cannot be touched is found by Check.
func (l *Locks) refresh(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		if ours, err := l.isOurs(h); err == nil && ours {
			_ = l.files.Chtimes(filepath.Join(l.dir, h.name), time.Unix(now.Unix(), int64(h.nanos)))
		}
	}
}

func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
