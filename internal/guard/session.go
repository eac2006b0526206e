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

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// defaultStateDir holds the session files unless PLANNING_STATE_DIR is set. The
// requirements prescribe it. It is not TMPDIR, not even on macOS, because that variable
// can differ between the client and a terminal.
const defaultStateDir = "/tmp"

// Session names the files that guards keep for one session of the client.
type Session struct {
	dir string // of the session files
	id  string // safe in a file name; empty if the event names no session
	log string // path of the decision log if it is configured, otherwise empty
}

// SessionOf returns the session with that id. In file names, an id with characters other
// than ASCII letters, digits, "_" and "-", or with more than 128 of them, is replaced by a
// hash, so that no path leads out of the directory.
func SessionOf(id string, env func(string) string) Session {
	return Session{dir: cmp.Or(env(stateDir), defaultStateDir), id: fileID(id)}
}

// stateDir is the environment variable with the directory of the session files.
const stateDir = "PLANNING_STATE_DIR"

// Logging returns the session with its decision log at the configured path.
// PLANNING_STATE_DIR takes precedence over log_location, so that one variable moves all
// files.
func (s Session) Logging(c Config, env func(string) string) Session {
	if where := c.logLocation(); where != "" && env(stateDir) == "" {
		s.log = strings.ReplaceAll(where, sessionInPath, s.id)
	}
	return s
}

// prepare creates the directory of the session files if it is missing. If the directory
// cannot be used, prepare returns the reason, and the session uses the default directory
// instead, so that failures are still counted and decisions still logged.
func (s *Session) prepare() (err error) {
	info, err := os.Stat(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(s.dir, 0o700)
	} else if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: s.dir, Err: syscall.ENOTDIR}
	}
	if err == nil {
		err = safefile.IsWritable(s.dir)
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

// IsPlain reports whether s consists of 1 to 128 ASCII letters, digits, "_" and "-".
func IsPlain(s string) bool {
	return s != "" && len(s) <= 128 && strings.IndexFunc(s, notPlain) < 0
}

func notPlain(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// Known reports whether the event named its session. Otherwise no files are kept.
func (s Session) Known() bool { return s.id != "" }

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

// File is the path of a file of the session.
func (s Session) File(prefix, suffix string) string {
	return filepath.Join(s.dir, prefix+s.id+suffix)
}
