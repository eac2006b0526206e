package txn

import (
	"cmp"
	"errors"
	"fmt"
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
	Number  int64       // from 1, in the order of commits
	Time    time.Time   // when the transaction began, by the system clock
	Label   string      // as given in Change
	Record  string      // as given in Change
	Created []EntryFile // in D; restored files too
	Deleted []EntryFile // in D
	Backups string      // the directory that holds the deleted files, under their names in D

	// Err is why the journal of the transaction cannot be read. It wraps one of the reasons
	// of a JournalError, such as ErrJournalVersion or ErrJournalTorn, or is the file
	// system's. Then the only other fields that are set are ID and Number.
	Err error
}

// EntryFile describes a file at the time when a transaction created, restored or deleted
// it.
type EntryFile struct {
	Name   string      `json:"name"`
	Size   int64       `json:"size"`   // in bytes
	SHA256 string      `json:"sha256"` // of the bytes, 64 lower-case hexadecimal digits
	Mode   fs.FileMode `json:"mode"`   // permissions
}

// History returns the kept transactions in the order of their commits, those whose journal
// cannot be read too: see Entry.Err. The caller must not change their slices.
//
// Errors: ErrClosed or the file system's.
func (d *Dir) History() ([]Entry, error) {
	if d.closed {
		return nil, ErrClosed
	}
	return d.entries()
}

// HistoryFrom is History without the transactions before the number that from returns for the last one. They are not read. The last one
// is always returned. from is not called if there is none; Entry.Err may be set.
//
// Errors: ErrClosed or the file system's.
func (d *Dir) HistoryFrom(from func(last Entry) int64) ([]Entry, error) {
	if d.closed {
		return nil, ErrClosed
	}
	ids, err := d.committed()
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	before := ids[:len(ids)-1]
	if last, there := d.lookUp(ids[len(ids)-1]); there {
		first := from(last)
		before = slices.DeleteFunc(before, func(id string) bool { return numberOf(id) < first })
	}
	return d.entriesOf(append(before, ids[len(ids)-1])), nil
}

// ReadHistory is History without the lock, for readers that must not wait: it may
// miss a transaction that commits meanwhile. It creates nothing. With no state
// directory it returns nil.
//
// Errors: ErrName, ErrUntrustedDir, or the file system's.
func ReadHistory(dir string, opts ...Option) ([]Entry, error) {
	r, err := OpenReader(dir, opts...)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	defer r.Close()
	return r.History()
}

func (d *Dir) entries() ([]Entry, error) {
	ids, err := d.committed()
	if err != nil {
		return nil, err
	}
	return d.entriesOf(ids), nil
}

// entriesOf returns the committed transactions with the ids.
func (d *Dir) entriesOf(ids []string) (entries []Entry) {
	for _, id := range ids {
		if e, there := d.lookUp(id); there {
			entries = append(entries, e)
		}
	}
	return entries
}

// lookUp returns the committed transaction with the id, with Err if it cannot be read, unless it was dropped meanwhile.
func (d *Dir) lookUp(id string) (e Entry, there bool) {
	e, err := d.entry(id)
	if errors.Is(err, fs.ErrNotExist) {
		if there, _ := d.exists(d.statePath(donePrefix + id)); !there {
			return e, false
		}
	}
	if err != nil {
		e = Entry{ID: id, Number: numberOf(id), Err: fmt.Errorf("%s: %w", d.statePath(donePrefix+id), err)}
	}
	return e, true
}

// entry returns the committed transaction with the id. Its errors are the reasons of a
// JournalError and those of the file system, whose paths are left out. It reads each once: an entry of the history
// never changes.
func (d *Dir) entry(id string) (Entry, error) {
	if e, known := d.read[id]; known {
		return e, nil
	}
	e, err := d.readDone(id)
	if err == nil {
		d.read[id] = e
	}
	return e, err
}

func (d *Dir) readDone(id string) (Entry, error) {
	data, err := d.files.ReadFile(d.statePath(donePrefix + id))
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if err != nil {
		return Entry{}, err
	}
	j, err := parseJournal(data, d.fromState())
	if err == nil && j.ID != id {
		err = fmt.Errorf("%w: it names another transaction", ErrJournalInvalid)
	}
	if err != nil {
		return Entry{}, err
	}
	return Entry{
		ID: j.ID, Number: numberOf(j.ID), Time: j.Time, Label: j.Label, Record: j.Record,
		Created: j.Creates, Deleted: j.Deletes,
		Backups: d.txnPath(j.ID, backupName),
	}, nil
}

// committed returns the ids of the committed transactions in S, in the order of their
// commits.
func (d *Dir) committed() ([]string, error) {
	entries, err := d.files.ReadDir(d.s)
	return idsOf(entries, donePrefix), err
}

// uncommitted returns the ids of the transactions in a listing of S that did not commit.
func uncommitted(entries []fs.DirEntry) []string {
	committed := idsOf(entries, donePrefix)
	return slices.DeleteFunc(idsOf(entries, txnPrefix), func(id string) bool { return slices.Contains(committed, id) })
}

// idsOf returns the ids of the names in a listing of S that consist of prefix and an id. The listing is sorted by name, thus by
// id: see newID.
func idsOf(entries []fs.DirEntry, prefix string) (ids []string) {
	for _, e := range entries {
		if id, ok := strings.CutPrefix(e.Name(), prefix); ok && isID(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// tidy removes what is not needed any more: the directories of transactions that did not
// change D, and the staged files of committed ones. It returns
// the id of a committed transaction that was interrupted before its tidy, "" if there is
// none: that is the last one, for the next process tidies. It returns no errors: nothing depends
// on what it removes, and the next tidy tries again.
func (d *Dir) tidy() (interrupted string) {
	entries, err := d.files.ReadDir(d.s)
	if err != nil {
		return ""
	}
	committed := idsOf(entries, donePrefix)
	for _, id := range uncommitted(entries) {
		d.discard(id)
	}
	if n := len(committed); n > 0 {
		if there, _ := d.exists(d.txnPath(committed[n-1], stagedName)); there {
			interrupted = committed[n-1]
			d.unstage(interrupted)
		}
	}
	_ = d.removeTree(d.statePath(tempName))
	return interrupted
}

// unstage removes what a committed transaction had staged.
func (d *Dir) unstage(id string) {
	_ = d.files.Remove(d.txnPath(id, markName))
	_ = d.removeTree(d.txnPath(id, stagedName)) // last, so that an interrupted unstage is seen
}

// prune removes the history beyond its length after a commit, except what WithKeep keeps. The journal goes first: without it the
// next tidy removes the rest, and no reader finds a transaction without its deleted files. If the journal of a transaction cannot
// be read because of the file system, it may be readable later and is kept until then. A transaction whose journal is invalid is
// not kept.
func (d *Dir) prune(committed []string) {
	surplus := committed[:max(len(committed)-d.history, 0)]
	if len(surplus) == 0 {
		return
	}
	kept := map[string][]string{}
	if d.keep != nil {
		history, err := d.entries()
		if err != nil {
			return
		}
		kept = d.keep(history)
		for _, e := range history {
			if e.Err != nil && !isUseless(e.Err) {
				kept[e.ID] = nil
			}
		}
	}
	for _, id := range surplus {
		if without, isKept := kept[id]; isKept {
			for _, name := range without {
				_ = d.files.Remove(filepath.Join(d.txnPath(id, backupName), name))
			}
		} else if err := d.files.Remove(d.statePath(donePrefix + id)); err == nil || errors.Is(err, fs.ErrNotExist) {
			d.discard(id)
		}
	}
}

// isUseless reports whether an error of entry means that the journal can never be read. Other errors
// may be gone at the next try, or when another version of this program reads it.
func isUseless(err error) bool {
	return slices.ContainsFunc([]error{ErrJournalTorn, ErrJournalForeign, ErrJournalInvalid, vfs.ErrNotRegular, vfs.ErrFileTooLarge},
		func(useless error) bool { return errors.Is(err, useless) })
}

// discard removes the directory of a transaction.
func (d *Dir) discard(id string) { _ = d.removeTree(d.txnPath(id)) }

// removeTree removes a directory and its content, as far as it can, and returns the first error. It does
// not follow symbolic links, whose targets may be outside S.
func (d *Dir) removeTree(dir string) error {
	if info, err := d.files.Lstat(dir); err != nil || !info.IsDir() {
		return ignoreNotExist(err)
	}
	entries, err := d.files.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		remove := d.files.Remove
		if e.IsDir() {
			remove = d.removeTree
		}
		err = cmp.Or(err, remove(filepath.Join(dir, e.Name())))
	}
	return cmp.Or(err, d.files.Remove(dir))
}
