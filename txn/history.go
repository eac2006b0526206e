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
	Deleted []string // names in D; the files are in Kept
	Kept    string   // the directory that holds the deleted files, under their names
}

// History returns the kept transactions, the oldest first. One whose record
// cannot be read is left out.
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
		data, err := d.files.ReadFile(d.in(donePrefix + id))
		if err != nil {
			continue
		}
		j, err := parseJournal(data, d.relative())
		if err != nil {
			continue
		}
		entries = append(entries, Entry{
			ID: j.ID, Time: j.Time, Label: j.Label,
			Created: namesOf(j.Creates), Deleted: namesOf(j.Deletes),
			Kept: d.of(j.ID, oldName),
		})
	}
	return entries, nil
}

func namesOf(entries []entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// done returns the ids of committed transactions in S, the oldest first.
func (d *Dir) done() ([]string, error) { return d.ids(donePrefix) }

func (d *Dir) ids(prefix string) ([]string, error) {
	entries, err := d.files.ReadDir(d.s)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutPrefix(e.Name(), prefix); ok && isID(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// tidy removes what no transaction needs any more: directories of those that
// never came to change anything, staged files of committed ones, and history
// past its length. It returns the id of a committed transaction that had not
// been tidied, if there was one. It reports no error: nothing depends on it, and
// the next tidy tries again.
func (d *Dir) tidy() (interrupted string) {
	done, err := d.done()
	if err != nil {
		return ""
	}
	began, err := d.ids(txnPrefix)
	if err != nil {
		return ""
	}
	for _, id := range began {
		if !slices.Contains(done, id) {
			d.discard(id)
			continue
		}
		if there, err := d.exists(d.of(id, newName)); there && err == nil {
			interrupted = id
			d.removeTree(d.of(id, newName))
		}
	}
	for len(done) > d.history {
		d.discard(done[0])
		_ = d.files.Remove(d.in(donePrefix + done[0]))
		done = done[1:]
	}
	return interrupted
}

// discard removes the directory of a transaction.
func (d *Dir) discard(id string) { d.removeTree(d.of(id)) }

// removeTree removes a directory and what is in it. A symbolic link to one is
// not a directory: what it leads to is not ours.
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
