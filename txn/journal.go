package txn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// MaxEntries is the maximum number of files in one transaction, created and deleted.
const MaxEntries = 65536

// A journal is a head line and a body:
//
//	fsmtx-journal 3 <sha256 of "3\n" and the line of the body, 64 hexadecimal digits>
//	{"id": …, "dir": …, …}
//	<the bytes of the created files and then of the deleted ones, in the body's order>
//
// Version 3 is a whole record: once it is durable, no power cut undoes the transaction. Each
// file's bytes are covered by its digest in the body. Version 2, whose files are staged
// and synced, has no bytes. Version 1 differs from it: the checksum covers the body alone,
// there is no record, and the id has no number.
const (
	journalMagic  = "fsmtx-journal"
	wholeVersion  = "3"
	stagedVersion = "2"
	oldVersion    = "1"
)

// journal names everything that a transaction is going to change, so that a rollback
// needs nothing else.
type journal struct {
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`   // D, relative to S
	Inode   uint64    `json:"inode"` // of txn-<id>/; shows whether S is a copy
	Time    time.Time `json:"time"`
	Label   string    `json:"label"`
	Record  string    `json:"record,omitzero"`
	Life    string    `json:"life,omitzero"` // of a whole record: see vfs.Held.Life
	Creates []entry   `json:"creates"`       // and the restored files
	Deletes []entry   `json:"deletes"`

	whole bool // whether it has the bytes of its files
}

// entry is one file of a transaction.
type entry struct {
	Name   string      `json:"name"`
	Size   int64       `json:"size"`
	SHA256 string      `json:"sha256"`
	Mode   fs.FileMode `json:"mode"`

	// Of a deleted or restored file in a whole record.
	ModTime time.Time `json:"mtime,omitzero"`

	data []byte // in a whole record
}

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
	version := stagedVersion
	if j.whole {
		version = wholeVersion
	}
	data := append([]byte(journalMagic+" "+version+" "+checksum(version, body)+"\n"), body...)
	if j.whole {
		data = append(data, '\n')
		for _, e := range j.entries() {
			data = append(data, e.data...)
		}
	}
	if len(data) > vfs.MaxFileBytes {
		return nil, fmt.Errorf("the transaction's journal would have %d bytes: %w", len(data), vfs.ErrFileTooLarge)
	}
	return data, nil
}

// checksum covers the version too, so that a damaged version is not mistaken for another
// one. In version 1 it does not.
func checksum(version string, body []byte) string {
	if version == oldVersion {
		return digest(body)
	}
	return digest(append([]byte(version+"\n"), body...))
}

// parseJournal parses a journal of a known version for the directory dir, which is relative
// to S. The checksum detects damage. Names and numbers are checked as well, because anyone
// can compute a checksum.
func parseJournal(data []byte, dir string) (*journal, error) {
	head, body, ok := bytes.Cut(data, []byte("\n"))
	words := strings.Split(string(head), " ")
	if !ok || len(words) < 2 || words[0] != journalMagic {
		return nil, ErrJournalTorn
	}
	if !slices.Contains([]string{wholeVersion, stagedVersion, oldVersion}, words[1]) {
		return nil, fmt.Errorf("%w: it has version %q, this program reads versions %s to %s", ErrJournalVersion, words[1], oldVersion,
			wholeVersion)
	}
	var blob []byte
	if words[1] == wholeVersion {
		body, blob, _ = bytes.Cut(body, []byte("\n"))
	}
	if len(words) != 3 || words[2] != checksum(words[1], body) {
		return nil, fmt.Errorf("%w: its checksum does not match", ErrJournalTorn)
	}
	j := new(journal)
	if err := json.Unmarshal(body, j, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrJournalInvalid, err)
	}
	if words[1] == oldVersion && j.Record != "" {
		return nil, fmt.Errorf("%w: version %s has no record", ErrJournalInvalid, oldVersion)
	}
	if err := j.check(dir); err != nil || words[1] != wholeVersion {
		return j, err
	}
	j.whole = true
	return j, j.takeBytes(blob)
}

// takeBytes gives each entry of a whole record its bytes.
func (j *journal) takeBytes(blob []byte) error {
	for _, entries := range [][]entry{j.Creates, j.Deletes} {
		for i := range entries {
			e := &entries[i]
			if int64(len(blob)) < e.Size || digest(blob[:e.Size]) != e.SHA256 {
				return fmt.Errorf("%w: the bytes of %q do not match their checksum", ErrJournalTorn, e.Name)
			}
			e.data, blob = blob[:e.Size:e.Size], blob[e.Size:]
		}
	}
	if len(blob) > 0 {
		return fmt.Errorf("%w: %d bytes belong to no file", ErrJournalTorn, len(blob))
	}
	return nil
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

// isID reports whether id may be that of a transaction, in journals of version 1 too:
// lower-case letters, digits and "-".
func isID(id string) bool {
	ok := len(id) > 0 && len(id) <= 64
	for _, r := range id {
		ok = ok && (r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z')
	}
	return ok
}
