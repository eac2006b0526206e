package txn

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Entry is a committed transaction whose deleted files are still kept.
type Entry struct {
	ID      string
	Time    time.Time
	Label   string   // as given in Change
	Created []string // names in D
	Deleted []string // names in D
	Backups string   // the directory that holds the deleted files, under their names in D
}

// History returns the kept transactions, oldest first. It leaves out those whose
// record cannot be read.
//
// Errors: ErrClosed or the file system's.
func (d *Dir) History() ([]Entry, error) {
	if d.closed {
		return nil, ErrClosed
	}
	ids, err := d.done()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, id := range ids {
		data, err := d.files.ReadFile(d.statePath(donePrefix + id))
		if err != nil {
			continue
		}
		j, err := parseJournal(data, d.fromState())
		if err != nil {
			continue
		}
		entries = append(entries, Entry{
			ID: j.ID, Time: j.Time, Label: j.Label,
			Created: namesOf(j.Creates), Deleted: namesOf(j.Deletes),
			Backups: d.txnPath(j.ID, backupName),
		})
	}
	return entries, nil
}

// done returns the ids of the committed transactions in S, oldest first.
func (d *Dir) done() ([]string, error) { return d.ids(donePrefix) }

// ids returns the ids in the names in S that begin with prefix, oldest first.
func (d *Dir) ids(prefix string) ([]string, error) {
	entries, err := d.files.ReadDir(d.s) // sorted by name, thus by id
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
	for len(done) > d.history {
		d.discard(done[0])
		_ = d.files.Remove(d.statePath(donePrefix + done[0]))
		done = done[1:]
	}
	return interrupted
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
