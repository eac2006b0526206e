package txn

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Entry is a committed transaction in the history.
type Entry struct {
	ID      string
	Number  int64       // from 1, in the order of commits; 0 if an earlier version made it
	Time    time.Time   // when the transaction began, by the system clock
	Label   string      // as given in Change
	Record  string      // as given in Change
	Created []EntryFile // in D; restored files too
	Deleted []EntryFile // in D
	Backups string      // the directory that holds the deleted files, under their names in D

	// Err wraps ErrJournalVersion if another version of this program made the
	// transaction. Then the only other fields that are set are ID and Number.
	Err error
}

// EntryFile describes a file at the time when a transaction created, restored or deleted
// it.
type EntryFile struct {
	Name   string
	Size   int64       // in bytes
	SHA256 string      // of the bytes, 64 lower-case hexadecimal digits
	Mode   fs.FileMode // permissions
}

// History returns the kept transactions in the order of their commits. It omits those
// whose journal cannot be read, but not those of another version: see Entry.Err.
//
// Errors: ErrClosed or the file system's.
func (d *Dir) History() ([]Entry, error) {
	if d.closed {
		return nil, ErrClosed
	}
	return d.entries()
}

// ReadHistory is History without the lock, for readers that must not wait: it may
// miss a transaction that commits meanwhile. It creates nothing. With no state
// directory it returns nil.
//
// Errors: ErrName, ErrUntrustedDir, or the file system's.
func ReadHistory(dir string, opts ...Option) ([]Entry, error) {
	d, err := openUnlocked(dir, newOptions(opts))
	if err != nil || d == nil {
		return nil, err
	}
	defer d.held.Close()
	return d.entries()
}

// openUnlocked returns a Dir without the lock, for reading, or nil if S does not exist. The
// caller must close the directories that it holds.
func openUnlocked(dir string, o options) (*Dir, error) {
	path, s, err := resolve(o.fs, dir)
	if err != nil {
		return nil, err
	}
	held, err := holdStateDir(o.fs, s)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	d := newDir(o, path, s)
	d.held = held
	d.files = readOnly{vfs.At(o.fs, held)}
	return d, nil
}

func (d *Dir) entries() ([]Entry, error) {
	ids, err := d.committed()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, id := range ids {
		e, err := d.entry(id)
		if errors.Is(err, ErrJournalVersion) {
			e, err = Entry{ID: id, Number: numberOf(id), Err: err}, nil
		}
		if err == nil {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// errNotEntry is returned by entry when the file is not the journal of that
// transaction.
var errNotEntry = errors.New("not the journal of this transaction")

// entry returns the committed transaction with the id.
// It returns ErrJournalVersion, errNotEntry, or an error of the file system.
func (d *Dir) entry(id string) (Entry, error) {
	data, err := d.files.ReadFile(d.statePath(donePrefix + id))
	if err != nil {
		return Entry{}, err
	}
	j, err := parseJournal(data, d.fromState())
	if errors.Is(err, ErrJournalVersion) {
		return Entry{}, err
	}
	if err != nil || j.ID != id {
		return Entry{}, errNotEntry
	}
	return Entry{
		ID: j.ID, Number: numberOf(j.ID), Time: j.Time, Label: j.Label, Record: j.Record,
		Created: filesOf(j.Creates), Deleted: filesOf(j.Deletes),
		Backups: d.txnPath(j.ID, backupName),
	}, nil
}

func filesOf(entries []entry) []EntryFile {
	files := make([]EntryFile, len(entries))
	for i, e := range entries {
		files[i] = EntryFile(e)
	}
	return files
}

// committed returns the ids of the committed transactions in S, in the order of their
// commits.
func (d *Dir) committed() ([]string, error) { return d.ids(donePrefix) }

// ids returns, sorted, the ids of the names in S that consist of prefix and an id.
func (d *Dir) ids(prefix string) ([]string, error) {
	entries, err := d.files.ReadDir(d.s) // sorted by name, thus by id: see newID
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutPrefix(e.Name(), prefix); ok && isID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// tidy removes what is not needed any more: the directories of transactions that did not
// change D, the staged files of committed ones, and history beyond its length. It returns
// the id of a committed transaction that was interrupted before its tidy, "" if there is
// none. It returns no error because nothing depends on it: the next tidy tries again.
func (d *Dir) tidy() (interrupted string) {
	committed, err := d.committed()
	if err != nil {
		return ""
	}
	begun, err := d.ids(txnPrefix)
	if err != nil {
		return ""
	}
	for _, id := range begun {
		if !slices.Contains(committed, id) {
			d.discard(id)
			continue
		}
		if there, _ := d.exists(d.txnPath(id, stagedName)); there {
			interrupted = id
			d.removeTree(d.txnPath(id, stagedName))
		}
	}
	for _, id := range committed[:max(len(committed)-d.history, 0)] {
		if !d.isKept(id) {
			d.discard(id)
			_ = d.files.Remove(d.statePath(donePrefix + id))
		}
	}
	return interrupted
}

// isKept reports whether WithKeep keeps the transaction beyond the length of the history.
// If its journal cannot be read because of the file system, it may be readable later and
// is kept until then. A transaction whose journal is invalid is not kept.
func (d *Dir) isKept(id string) bool {
	if d.keep == nil {
		return false
	}
	e, err := d.entry(id)
	if err != nil {
		return !errors.Is(err, errNotEntry) && !errors.Is(err, vfs.ErrNotRegular) && !errors.Is(err, vfs.ErrFileTooLarge)
	}
	return d.keep(e)
}

// discard removes the directory of a transaction.
func (d *Dir) discard(id string) { d.removeTree(d.txnPath(id)) }

// removeTree removes a directory and its content, as far as it can. It does not follow
// symbolic links, whose targets may be outside S.
func (d *Dir) removeTree(dir string) {
	if info, err := d.files.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	entries, err := d.files.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			d.removeTree(filepath.Join(dir, e.Name()))
			continue
		}
		_ = d.files.Remove(filepath.Join(dir, e.Name()))
	}
	_ = d.files.Remove(dir)
}
