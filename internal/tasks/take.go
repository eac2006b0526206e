package tasks

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsmtx/fsmtx/txn"
)

// settleTime is how long after a take-over the lock may still be lost: a client that
// saw the stale lock just before the take-over removes our lock and creates its own
// (rmdir, then mkdir; fact 15, client 2.1.197).
const settleTime = 50 * time.Millisecond

// prepared is a lock that is still in scratch, at path.
type prepared struct {
	lock
	path string
}

// take takes the named locks in order. If another program holds one, take stops and
// returns its name as busy; the locks taken before it stay held.
func (l *clientLocks) take(names []string) (busy string, err error) {
	if len(names) == 0 {
		return "", nil
	}
	prepared, err := l.prepare(names)
	if err != nil {
		return "", err
	}
	tookOver := false
	for i, p := range prepared {
		stole, err := l.place(p)
		tookOver = tookOver || stole
		if err != nil {
			l.drop(prepared[i:])
			if errors.Is(err, fs.ErrExist) {
				return p.name, nil
			}
			return "", err
		}
		l.add(p.lock)
	}
	if tookOver {
		time.Sleep(settleTime)
		if l.Check() != nil {
			return names[0], nil
		}
	}
	return "", nil
}

func (l *clientLocks) add(h lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, h)
	if l.stop == nil {
		l.stop = l.keepFresh()
	}
}

// prepare creates the named locks in scratch and records them.
func (l *clientLocks) prepare(names []string) ([]prepared, error) {
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

// drop removes prepared locks that were not placed. Reap removes those that it cannot.
func (l *clientLocks) drop(rest []prepared) {
	for _, p := range rest {
		_ = l.files.Remove(p.path)
	}
}

// place moves a prepared lock into the list. It returns fs.ErrExist if the lock is
// held. stole reports whether a stale lock was taken over.
func (l *clientLocks) place(p prepared) (stole bool, err error) {
	path := filepath.Join(l.dir, p.name)
	for range 3 {
		err = l.rename(p, path)
		if errors.Is(err, fs.ErrNotExist) {
			// The client has removed the list's directory (fact 9, client 2.1.197).
			if err = l.files.Mkdir(l.dir, 0o755); err == nil || errors.Is(err, fs.ErrExist) {
				continue
			}
			return stole, err
		}
		if errors.Is(err, syscall.EXDEV) { // then hard links are not possible either
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

// rename moves the prepared directory into place. On a file system without a rename that
// fails if the target exists, it creates the lock in place and then replaces it. A
// process that dies between the two leaves a lock without a record, which others can
// only take over when it is stale.
func (l *clientLocks) rename(p prepared, path string) error {
	err := l.files.RenameNew(p.path, path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := l.files.Mkdir(path, 0o755); err != nil {
		return err
	}
	// rename(2) replaces an empty directory, so the lock has the recorded inode.
	return l.files.Rename(p.path, path)
}

// errnoOf returns the system's error without the paths around it.
func errnoOf(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

// takeOver removes a stale lock and reports whether the place is free. It first renames
// the lock into scratch: of several processes that found it stale only one succeeds, and
// that one can verify that the renamed lock is the stale one.
func (l *clientLocks) takeOver(path string) (gone bool, err error) {
	seen, err := l.files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !seen.IsDir() || time.Since(seen.ModTime()) <= stale {
		return false, err
	}
	away := filepath.Join(l.scratch, "stale-"+newBatch())
	err = l.files.Rename(path, away)
	if errors.Is(err, syscall.EXDEV) { // it is in the lower layer of an overlay; the client takes it over by rmdir, too
		if err = l.files.Remove(path); err == nil {
			return true, nil
		}
	}
	if err != nil {
		l.stuck = errnoOf(err)
		return errors.Is(err, fs.ErrNotExist), nil
	}
	got, err := l.files.Lstat(away)
	if err == nil && inodeOf(got) == inodeOf(seen) && got.ModTime().Equal(seen.ModTime()) {
		_ = l.files.Remove(away)
		return true, nil
	}
	// Another program took the lock in between: move it back, unless there is a new one.
	_ = l.files.RenameNew(away, path)
	_ = l.files.Remove(away) // if it could not be moved back
	return false, nil
}
