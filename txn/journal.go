package txn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// MaxEntries is the maximum number of files in one transaction, created and deleted.
const MaxEntries = 65536

// A journal is two lines:
//
//	fsmtx-journal 4 <sha256 of "4\n" and the body, 64 hexadecimal digits>
//	{"id": …, "dir": …, …}
const (
	journalMagic   = "fsmtx-journal"
	journalVersion = "4"
)

// journal names everything that a transaction is going to change, so that a rollback
// needs nothing else but the directory of the transaction.
type journal struct {
	ID      string    `json:"id"`
	Dir     string    `json:"dir"` // D, relative to S
	Time    time.Time `json:"time"`
	Label   string    `json:"label"`
	Record  string    `json:"record,omitzero"`
	Creates []entry   `json:"creates"` // and the restored files
	Deletes []entry   `json:"deletes"`
}

// entry is one file of a transaction.
type entry = EntryFile

func newEntry(name string, data []byte, mode fs.FileMode) entry {
	return entry{Name: name, Size: int64(len(data)), SHA256: digest(data), Mode: mode.Perm()}
}

// matches reports whether data has the size and digest of the entry.
func (e entry) matches(data []byte) bool {
	return int64(len(data)) == e.Size && digest(data) == e.SHA256
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// encode returns vfs.ErrFileTooLarge if the journal would be too large for recovery.
func (j *journal) encode() ([]byte, error) {
	body, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	data := append([]byte(journalMagic+" "+journalVersion+" "+checksum(body)+"\n"), body...)
	if len(data) > vfs.MaxFileBytes {
		return nil, fmt.Errorf("the transaction's journal would have %d bytes: %w", len(data), vfs.ErrFileTooLarge)
	}
	return data, nil
}

// checksum covers the version too, so that a damaged version is not mistaken for another
// one.
func checksum(body []byte) string { return digest(append([]byte(journalVersion+"\n"), body...)) }

// parseJournal parses a journal for the directory dir, which is relative to S. The checksum
// detects damage. Names and numbers are checked as well, because anyone can compute a
// checksum.
func parseJournal(data []byte, dir string) (*journal, error) {
	head, body, ok := bytes.Cut(data, []byte("\n"))
	words := strings.Split(string(head), " ")
	if !ok || len(words) < 2 || words[0] != journalMagic {
		return nil, ErrJournalTorn
	}
	if words[1] != journalVersion {
		return nil, fmt.Errorf("%w: it has version %q, this program reads version %s", ErrJournalVersion, words[1], journalVersion)
	}
	if len(words) != 3 || words[2] != checksum(body) {
		return nil, fmt.Errorf("%w: its checksum does not match", ErrJournalTorn)
	}
	j := new(journal)
	if err := json.Unmarshal(body, j, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrJournalInvalid, err)
	}
	return j, j.check(dir)
}

func (j *journal) check(dir string) error {
	if !isID(j.ID) {
		return fmt.Errorf("%w: the transaction's id is %q", ErrJournalInvalid, j.ID)
	}
	if j.Dir != dir {
		return fmt.Errorf("%w: it was written for %q, this is %q", ErrJournalForeign, j.Dir, dir)
	}
	if len(j.Creates)+len(j.Deletes) > MaxEntries {
		return fmt.Errorf("%w: %w", ErrJournalInvalid, ErrTooMany)
	}
	seen := make(map[string]bool)
	for _, e := range j.entries() {
		if !isPlain(e.Name) || seen[e.Name] {
			return fmt.Errorf("%w: file name %q", ErrJournalInvalid, e.Name)
		}
		if e.Size < 0 || e.Size > vfs.MaxFileBytes || !isDigest(e.SHA256) || e.Mode != e.Mode.Perm() {
			return fmt.Errorf("%w: the entry of %q", ErrJournalInvalid, e.Name)
		}
		seen[e.Name] = true
	}
	return nil
}

func (j *journal) entries() []entry { return slices.Concat(j.Creates, j.Deletes) }

func namesOf(entries []entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// isDigest reports whether s has the form of a digest.
func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// maxName is the longest file name in bytes on every supported file system.
const maxName = 255

// isPlain reports whether name is a single path element that a journal can contain, so
// valid UTF-8.
func isPlain(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName &&
		!strings.ContainsAny(name, "/\x00") && utf8.ValidString(name)
}

// readJournal reads S/journal. It returns nil if there is none.
//
// Errors: *JournalError, or the file system's.
func (d *Dir) readJournal() (*journal, error) {
	path := d.statePath(journalName)
	data, err := d.files.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, vfs.ErrNotRegular), errors.Is(err, vfs.ErrFileTooLarge):
		return nil, &JournalError{path, fmt.Errorf("%w: %w", ErrJournalInvalid, err)}
	case err != nil:
		return nil, err
	}
	j, err := parseJournal(data, d.fromState())
	if err != nil {
		return nil, &JournalError{path, err}
	}
	err = d.checkTxnDir(j)
	if errors.Is(err, ErrUntrustedDir) || errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, errNotNamed) {
		return nil, &JournalError{path, fmt.Errorf("%w: %w", ErrJournalInvalid, err)}
	}
	return j, err
}

// errNotNamed is returned by checkTxnDir for a backup link that is not in the journal.
var errNotNamed error = sentinel("the journal does not name it")

// checkTxnDir checks what exists of the transaction's directory. It returns
// ErrUntrustedDir or vfs.ErrNotRegular if one of its directories or files was replaced: a
// symbolic link would lead a rollback out of S. It returns errNotNamed for a backup link
// that the journal does not name: the rollback would not restore it, and would then remove
// it together with the directory.
func (d *Dir) checkTxnDir(j *journal) error {
	for _, dir := range []string{d.txnPath(j.ID), d.txnPath(j.ID, stagedName), d.txnPath(j.ID, backupName)} {
		if err := checkTrusted(d.files, dir); ignoreNotExist(err) != nil {
			return err
		}
	}
	if _, err := d.checkNamed(d.txnPath(j.ID, stagedName), j.Creates); err != nil {
		return err
	}
	unnamed, err := d.checkNamed(d.txnPath(j.ID, backupName), j.Deletes)
	if unnamed != "" {
		return fmt.Errorf("%s: %w", unnamed, errNotNamed)
	}
	return err
}

// checkNamed returns vfs.ErrNotRegular if one of the entries exists in dir and is not a regular
// file. unnamed is the path of something in dir that is none of the entries.
func (d *Dir) checkNamed(dir string, entries []entry) (unnamed string, err error) {
	named := make(map[string]bool, len(entries))
	for _, e := range entries {
		named[e.Name] = true
	}
	there, err := d.files.ReadDir(dir)
	for _, e := range there {
		path := filepath.Join(dir, e.Name())
		if !named[e.Name()] {
			unnamed = path
		} else if !e.Type().IsRegular() {
			return "", fmt.Errorf("%s: %w", path, vfs.ErrNotRegular)
		}
	}
	return unnamed, ignoreNotExist(err)
}
