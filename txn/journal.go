package txn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// MaxEntries bounds the files that one transaction names, created and deleted.
const MaxEntries = 65536

// A journal is a line and a body:
//
//	fsmtx-journal 1 <sha256 of the body, 64 hexadecimal digits>
//	{"id": …, "dir": …, …}
const (
	journalMagic   = "fsmtx-journal"
	journalVersion = "1"
)

// journal is what a transaction is going to do, enough to undo it.
type journal struct {
	ID      string    `json:"id"`
	Dir     string    `json:"dir"`   // D, relative to S
	Inode   uint64    `json:"inode"` // of txn-<id>/: another one now means that S was copied
	Time    time.Time `json:"time"`
	Label   string    `json:"label"`
	Creates []entry   `json:"creates"`
	Deletes []entry   `json:"deletes"`
}

// entry is one file of a transaction.
type entry struct {
	Name   string      `json:"name"`
	Size   int64       `json:"size"`
	SHA256 string      `json:"sha256"`
	Mode   fs.FileMode `json:"mode"`
}

func newEntry(name string, data []byte, mode fs.FileMode) entry {
	return entry{Name: name, Size: int64(len(data)), SHA256: digest(data), Mode: mode.Perm()}
}

// holds reports whether data is what the entry says.
func (e entry) holds(data []byte) bool {
	return int64(len(data)) == e.Size && digest(data) == e.SHA256
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (j *journal) encode() ([]byte, error) {
	body, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	head := journalMagic + " " + journalVersion + " " + digest(body) + "\n"
	return append([]byte(head), body...), nil
}

// parseJournal accepts exactly what encode writes for the directory dir, which
// is given as S names it. The checksum finds accidents; that every name is a
// plain one and every number sane is checked all the same, for a checksum
// keeps nobody from writing one.
func parseJournal(data []byte, dir string) (*journal, error) {
	head, body, ok := bytes.Cut(data, []byte("\n"))
	words := strings.Split(string(head), " ")
	if !ok || len(words) < 2 || words[0] != journalMagic {
		return nil, ErrJournalTorn
	}
	if words[1] != journalVersion {
		return nil, fmt.Errorf("%w: it has version %q, and this program reads version %s", ErrJournalVersion, words[1], journalVersion)
	}
	if len(words) != 3 || words[2] != digest(body) {
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
		return fmt.Errorf("%w: it was written for %q, and this is %q", ErrJournalForeign, j.Dir, dir)
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

// entries returns creates and deletes in one new slice.
func (j *journal) entries() []entry {
	return append(append(make([]entry, 0, len(j.Creates)+len(j.Deletes)), j.Creates...), j.Deletes...)
}

func (j *journal) names() []string {
	var names []string
	for _, e := range j.entries() {
		names = append(names, e.Name)
	}
	return names
}

// isDigest accepts what digest makes.
func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// isPlain reports whether name is one path element that stays where it is put.
func isPlain(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 255 &&
		!strings.ContainsAny(name, "/\x00") && filepath.Base(name) == name
}

// isID accepts what newID makes: lower-case letters, digits and "-".
func isID(id string) bool {
	ok := len(id) > 0 && len(id) <= 64
	for _, r := range id {
		ok = ok && (r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z')
	}
	return ok
}
