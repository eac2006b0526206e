package guard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// defaultStateDir holds the session files unless PLANNING_STATE_DIR is set. The
// requirements fix it; on macOS too it is /tmp and not TMPDIR, which can differ
// between the client and a terminal.
const defaultStateDir = "/tmp"

// Session names the files that guards keep for one session of the client.
type Session struct {
	dir string
	id  string // safe in a file name; empty if the event names no session
}

// SessionOf returns the session with that id. An id with other characters than
// letters, digits, "_" and "-", or with more than 128, is replaced by a hash, so
// that an id can never lead out of the directory.
func SessionOf(id string, env func(string) string) Session {
	return Session{dir: cmp.Or(env("PLANNING_STATE_DIR"), defaultStateDir), id: fileID(id)}
}

func fileID(id string) string {
	if len(id) <= 128 && strings.IndexFunc(id, notPlain) < 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "x" + hex.EncodeToString(sum[:])[:32]
}

func notPlain(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// Known reports whether the event named its session. Without one no files are
// kept.
func (s Session) Known() bool { return s.id != "" }

// Dir is the directory of the session files.
func (s Session) Dir() string { return s.dir }

const (
	logPrefix = "planning-hooks-"
	logSuffix = ".log"
)

// Log is the decision log: one line for each decision, append-only.
func (s Session) Log() string { return s.File(logPrefix, logSuffix) }

// Breaker counts the failures of each rule.
func (s Session) Breaker() string { return s.File("planning-hook-breaker-", ".json") }

// Blocks counts consecutive blocks, for each rule and agent or turn.
func (s Session) Blocks() string { return s.File("planning-stop-blocks-", ".json") }

// File is the path of another file of the session.
func (s Session) File(prefix, suffix string) string {
	return filepath.Join(s.dir, prefix+s.id+suffix)
}
