package decisions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

const (
	// maxBytes is the size at which a file is rotated.
	maxBytes = 10 << 20
	// kept is how many rotated files are kept: FILE.1 is the newest of them.
	kept = 3
)

// Variable is the environment variable that names the log for every command without --log.
const Variable = "FSMTX_LOG"

// Usage describes --log in the help of a hook.
const Usage = "append one line of JSON per decision to this `file`, after the reply and without blocking (see fsmtx log --help); " +
	"\"~/\" is HOME. Without it the file is that in " + Variable

// errNotLog is returned for a file that has other content than a log.
var errNotLog = errors.New("it is not a log of fsmtx, so nothing was appended; name another file")

// Path returns the path of a log as a person wrote it: "~/" is home. Shells do not replace that
// in --log=~/x, and the client does not in a hook or a variable.
func Path(text, home string) string {
	if rest, found := strings.CutPrefix(text, "~/"); found && home != "" {
		return filepath.Join(home, rest)
	}
	return text
}

// writeWait limits a write to a pipe or a device, so that a hook does not hang on its log.
const writeWait = 100 * time.Millisecond

// begin is how every line begins, also those of the logs before Version 1.
const begin = `{"time"`

// File is a log. The zero values of Max and Keep are maxBytes and Kept.
type File struct {
	Path string
	Max  int64 // size in bytes from which on the file is rotated
	Keep int   // number of rotated files
}

// Append adds a line for each record, each with one write. It creates the file, readable only
// by this user, if it is missing, and rotates it if it is full. The path may be that of a
// symbolic link, a pipe or a device. If a write would block, Append returns an error after at
// most writeWait.
//
// Errors: errNotLog, or the file system's. That a full file cannot be rotated is returned after
// the lines were appended to it.
func (l File) Append(records ...Record) (err error) {
	if len(records) == 0 {
		return nil
	}
	f, torn, rotation, err := l.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rotation, f.Close()) }()
	for _, r := range records {
		line, err := r.line()
		if err != nil {
			return err
		}
		if torn {
			line, torn = append([]byte{'\n'}, line...), false
		}
		// SetWriteDeadline fails for a file that never blocks, and for one that the runtime
		// cannot poll. Because of O_NONBLOCK a write to the latter fails instead of blocking.
		_ = f.SetWriteDeadline(time.Now().Add(writeWait))
		if _, err := f.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// open opens the file for appending, after rotating it if it is full. torn reports whether its
// last line has no end. rotation is why it could not be rotated.
func (l File) open() (f *os.File, torn bool, rotation, err error) {
	path := l.Path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // otherwise a link would be rotated, not its file
	}
	for tries := 0; ; tries++ {
		if f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600); err != nil {
			return nil, false, nil, err
		}
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return f, false, nil, nil
		}
		if torn, err = examine(path, info); err != nil {
			return nil, false, nil, errors.Join(err, f.Close())
		}
		if info.Size() < l.max() || tries == maxTries {
			return f, torn, nil, nil
		}
		if moved, err := l.rotate(path, info); !moved {
			return f, torn, err, nil
		}
		f.Close()
	}
}

// maxTries limits how often a file is opened anew because it was rotated meanwhile.
const maxTries = 5

func (l File) max() int64 {
	if l.Max == 0 {
		return maxBytes
	}
	return l.Max
}

func (l File) keep() int {
	if l.Keep == 0 {
		return kept
	}
	return l.Keep
}

// examine returns errNotLog unless the file begins as a log does, and whether its last line has
// no end. A file that this user may write but not read, or that was replaced meanwhile, is
// believed.
func examine(path string, info fs.FileInfo) (torn bool, err error) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil || !os.SameFile(now, info) {
		return false, nil
	}
	head := make([]byte, min(int64(len(begin)), info.Size()))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return false, nil
	}
	if !strings.HasPrefix(begin, string(head)) {
		return false, &fs.PathError{Op: "append to", Path: path, Err: errNotLog}
	}
	return endsTorn(f, info.Size()), nil
}

// settling is how long a line without an end may be one that is being written: a file grows by
// pages, so another process's write is seen in parts.
const settling = 5 * time.Millisecond

// endsTorn reports whether a file of this size ends in an incomplete line that no process is still
// writing.
func endsTorn(f *os.File, size int64) bool {
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil || last[0] == '\n' {
		return false
	}
	time.Sleep(settling)
	now, err := f.Stat()
	return err == nil && now.Size() == size
}

// rotate renames the full file to FILE.1, after FILE.1 to FILE.2 and so on; the oldest is
// dropped. moved is false if another process does that, or has just done it. The lock is on the file that is
// renamed: processes that still have it open add their last lines to FILE.1. A crash between
// two renames leaves a gap, up to which the next rotation renames.
func (l File) rotate(path string, info fs.FileInfo) (moved bool, err error) {
	unlock, err := safefile.Lock(safefile.NoWait(), path, info)
	if err != nil {
		return errors.Is(err, safefile.ErrMoved), nil
	}
	defer unlock()
	now, err := os.Stat(path)
	if err != nil || !os.SameFile(now, info) {
		return true, nil
	}
	name := func(n int) string {
		if n == 0 {
			return path
		}
		return path + "." + strconv.Itoa(n)
	}
	last := 1
	for ; last < l.keep(); last++ {
		if _, err := os.Lstat(name(last)); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	for n := last; n > 0; n-- {
		if err := safefile.Unheld.Rename(name(n-1), safefile.Unheld, name(n)); err != nil {
			return false, fmt.Errorf("the log is full (%d bytes) and cannot be rotated: %w; remove %s", info.Size(), err, name(n))
		}
	}
	return true, nil
}

// Add is Append for a decision, whose error changes nothing.
func (l File) Add(r Record) { _ = l.Append(r) }
