package guard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// defaultStateDir holds the session files unless PLANNING_STATE_DIR is set. The
// requirements fix it; on macOS too it is /tmp and not TMPDIR, which can differ
// between the client and a terminal.
const defaultStateDir = "/tmp"

// Session names the files that guards keep for one session of the client.
type Session struct {
	dir string
	id  string // safe in a file name; empty if the event names no session
	log string // the decision log if it has a place of its own
}

// SessionOf returns the session with that id. An id with other characters than
// letters, digits, "_" and "-", or with more than 128, is replaced by a hash, so
// that an id can never lead out of the directory.
func SessionOf(id string, env func(string) string) Session {
	return Session{dir: cmp.Or(env(stateDir), defaultStateDir), id: fileID(id)}
}

// stateDir is the variable with the directory of the session files.
const stateDir = "PLANNING_STATE_DIR"

// Logging returns the session with its decision log where the configuration wants it.
// PLANNING_STATE_DIR comes before log_location, so that one variable moves everything.
func (s Session) Logging(c Config, env func(string) string) Session {
	if where := c.logLocation(); where != "" && env(stateDir) == "" {
		s.log = strings.ReplaceAll(where, sessionInPath, s.id)
	}
	return s
}

// prepare makes the directory of the session files if it is missing. If it cannot be
// used, the session moves to the default directory, so that failures are counted and
// decisions are logged all the same; err is then the reason.
func (s *Session) prepare() (err error) {
	info, err := os.Stat(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(s.dir, 0o700)
	} else if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: s.dir, Err: syscall.ENOTDIR}
	}
	if err == nil {
		err = unix.Access(s.dir, unix.W_OK|unix.X_OK)
	}
	if err != nil {
		s.dir = defaultStateDir
	}
	return err
}

func fileID(id string) string {
	if id == "" || IsPlain(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "x" + hex.EncodeToString(sum[:])[:32]
}

// IsPlain reports whether s is a word of at most 128 letters, digits, "_" and "-".
func IsPlain(s string) bool {
	return s != "" && len(s) <= 128 && strings.IndexFunc(s, notPlain) < 0
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
	logPrefix     = "planning-hooks-"
	breakerPrefix = "planning-hook-breaker-"
	blocksPrefix  = "planning-stop-blocks-"
	logSuffix     = ".log"
)

// Log is the decision log: one line for each decision, append-only.
func (s Session) Log() string { return cmp.Or(s.log, s.File(logPrefix, logSuffix)) }

// Breaker counts the failures of each rule.
func (s Session) Breaker() string { return s.File(breakerPrefix, ".json") }

// Blocks counts consecutive blocks, for each rule and agent or turn.
func (s Session) Blocks() string { return s.File(blocksPrefix, ".json") }

// File is the path of another file of the session.
func (s Session) File(prefix, suffix string) string {
	return filepath.Join(s.dir, prefix+s.id+suffix)
}
