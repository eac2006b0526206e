package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// lockFile is the content of the workflow's lock.
type lockFile struct {
	path   string
	exists bool
	owner  string        // session_id, empty if it cannot be read
	age    time.Duration // since the lock was written or its owner was active, whichever is later
}

func (l lockFile) describe() string {
	switch {
	case !l.exists:
		return "none"
	case l.owner == "":
		return "unreadable"
	}
	return fmt.Sprintf("held by %s, last active %s ago", l.owner, ageText(l.age))
}

// ownership is whose the lock is: mine, another session's, or nobody's. Both H02 and H11 use
// it, so that H11 does not demand files that H02 refuses to let the session write.
type ownership int

const (
	free    ownership = iota // there is no lock
	mine                     // this session holds it
	foreign                  // another session holds it
	stale                    // another session holds it, but was last active long ago
	damaged                  // the lock names no session
)

// heldBy returns whose the lock is, to a session.
func (l lockFile) heldBy(session string, staleAfter time.Duration) ownership {
	switch {
	case !l.exists:
		return free
	case l.owner == "":
		return damaged
	case l.owner == session:
		return mine
	case l.age >= staleAfter:
		return stale
	}
	return foreign
}

// maxLock bounds the size of a lock in bytes; real ones have a line or two.
const maxLock = 1 << 20

// readLock reads the workflow's lock. Anything but a regular file is a lock without an
// owner, even a symbolic link. log returns the path of a session's decision log. The
// owner was active when its log was last modified: every decision is appended to it.
func readLock(path string, now time.Time, log func(session string) string) lockFile {
	data, err := safefile.ReadFile(path, maxLock, safefile.NoFollow)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return lockFile{path: path}
	}
	l := lockFile{path: path, exists: true, owner: jsonx.StringMember(data, "session_id")}
	l.age = now.Sub(modified(path))
	if l.owner != "" {
		l.age = min(l.age, now.Sub(modified(log(l.owner))))
	}
	l.age = max(l.age, 0)
	return l
}

// modified returns when a file was last modified, the zero time if it does not exist.
func modified(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// readLock returns the lock of the feature directory. It reads it only once.
func (c *call) readLock() lockFile {
	if c.lock == nil {
		l := lockFile{}
		if c.place.feature != "" {
			l = readLock(c.place.path(c.config.names.lock), c.Time, func(session string) string {
				return guard.SessionOf(session, c.Env).Logging(c.Config, c.Env).Log()
			})
		}
		c.lock = &l
	}
	return *c.lock
}

// lockState returns whose the lock is, to the session of the event.
func (c *call) lockState() ownership {
	return c.readLock().heldBy(c.Event.SessionID, c.config.staleAfter())
}

func (config configuration) staleAfter() time.Duration {
	return time.Duration(config.staleMinutes) * time.Minute
}

// remedy names the lock's file, its age and the command that removes it. The command is
// last, so that it can be copied.
func (l lockFile) remedy() string {
	path, age := guard.OneLine(l.path), ageText(l.age)
	if l.owner == "" {
		return fmt.Sprintf("The lock is %s, last written %s ago. If no session plans here, only the person can remove it, in a terminal "+
			"outside the client: fsmtx guard unlock", path, age)
	}
	return fmt.Sprintf("The lock is %s, and its session was last active %s ago. If that session is over, only the person can remove it, "+
		"in a terminal outside the client: fsmtx guard unlock --session %s",
		path, age, shellWord(l.owner))
}

// shellWord quotes a word of a shell command if necessary.
func shellWord(text string) string {
	if text = guard.OneLine(text); guard.IsPlain(text) {
		return text
	}
	return shell.Quote(text)
}

// ageText returns a duration in words, rounded down.
func ageText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < 2*time.Minute:
		return "a minute"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
