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

// Entry is a committed transaction that is still kept, with its deleted files.
type Entry struct {
	ID      string
	Number  int64       // in the order of commits, from 1; 0 for one that an earlier version made
	Time    time.Time   // by the clock of that moment
	Label   string      // as given in Change
	Record  string      // as given in Change
	Created []EntryFile // in D; restored files too
	Deleted []EntryFile // in D
	Backups string      // the directory that holds the deleted files, under their names in D

	// Err is ErrJournalVersion for a transaction of another version of this program, of
	// which only ID and Number are known.
	Err error
}

// EntryFile is a file as a transaction created, restored or deleted it.
type EntryFile struct {
	Name   string
	Size   int64       // in bytes
	SHA256 string      // of the bytes, 64 lower-case hexadecimal digits
	Mode   fs.FileMode // permissions
}

// History returns the kept transactions in the order of their commits. It leaves out
// those whose journal cannot be read, except one of another version: see Entry.Err.
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
// directory there is no history.
//
// Errors: ErrName, ErrUntrustedDir, or the file system's.
func ReadHistory(dir string, opts ...Option) ([]Entry, error) {
	d, err := look(dir, newOptions(opts))
	if err != nil || d == nil {
		return nil, err
	}
	defer d.held.Close()
	return d.entries()
}

// look returns a Dir that is not locked, for reading, or nil if there is no S. The
// caller closes what it holds.
func look(dir string, o options) (*Dir, error) {
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
	ids, err := d.done()
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

// entry returns the transaction of that id. Its errors are ErrJournalVersion, errNotEntry,
// or the file system's.
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

// done returns the ids of the committed transactions in S, in the order of their
// commits.
func (d *Dir) done() ([]string, error) { return d.ids(donePrefix) }

// ids returns the ids in the names in S that begin with prefix, sorted.
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

// tidy removes what no transaction needs any more: the directories of transactions
// that did not reach D, the staged files of committed ones, and history beyond its
// length. It returns the id of a committed transaction that was interrupted before
// it was tidied, if there was one. It returns no error because nothing depends on
// it; the next tidy tries again.
func (d *Dir) tidy() (interrupted string) {
	done, err := d.done()
	if err != nil {
		return ""
	}
	begun, err := d.ids(txnPrefix)
	if err != nil {
		return ""
	}
	for _, id := range begun {
		if !slices.Contains(done, id) {
			d.discard(id)
			continue
		}
		if there, _ := d.exists(d.txnPath(id, stagedName)); there {
			interrupted = id
			d.removeTree(d.txnPath(id, stagedName))
		}
	}
	for _, id := range done[:max(len(done)-d.history, 0)] {
		if !d.isKept(id) {
			d.discard(id)
			_ = d.files.Remove(d.statePath(donePrefix + id))
		}
	}
	return interrupted
}

// isKept reports whether the transaction is kept beyond the length of the history.
// One that cannot be read now may be readable later, and is kept until then; one
// whose journal is not valid is of no use to anyone.
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

// removeTree removes a directory and what is in it. It does not follow symbolic
// links: their targets may be outside S.
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
