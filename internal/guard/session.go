package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// defaultStateDir is where session files are unless PLANNING_STATE_DIR says
// otherwise. The names are fixed; on macOS too it is /tmp and not TMPDIR, which
// the client and a terminal may see differently.
const defaultStateDir = "/tmp"

// Session names the files that guards keep about one session of the client.
type Session struct {
	dir string
	id  string // safe in a file name; empty if the event names no session
}

// SessionOf returns the files of the session with that id. An id that is more
// than letters, digits, "_" and "-", or longer than 128, is replaced by a
// hash: it never becomes a path.
func SessionOf(id string, env func(string) string) Session {
	return Session{dir: orElse(env("PLANNING_STATE_DIR"), defaultStateDir), id: fileID(id)}
}

func fileID(id string) string {
	if id == "" || len(id) <= 128 && strings.IndexFunc(id, notPlain) < 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "x" + hex.EncodeToString(sum[:])[:32]
}

func notPlain(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// Known reports whether there is a session to keep files about.
func (s Session) Known() bool { return s.id != "" }

// Dir is the directory of the session files.
func (s Session) Dir() string { return s.dir }

const (
	logPrefix = "planning-hooks-"
	logSuffix = ".log"
)

// Log is the decision log: one line a decision, append-only.
func (s Session) Log() string { return s.file(logPrefix, logSuffix) }

// Budget counts the research calls.
func (s Session) Budget() string { return s.file("planning-research-budget-", ".json") }

// Breaker counts each guard's own failures.
func (s Session) Breaker() string { return s.file("planning-hook-breaker-", ".json") }

// Blocks counts consecutive blocks of a guard for an agent or the turn.
func (s Session) Blocks() string { return s.file("planning-stop-blocks-", ".json") }

func (s Session) file(prefix, suffix string) string {
	return filepath.Join(s.dir, prefix+s.id+suffix)
}
