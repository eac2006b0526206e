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
)

// lockFile is the content of the workflow's lock.
type lockFile struct {
	path   string
	exists bool
	owner  string        // session_id, empty if it cannot be read
	age    time.Duration // since it was written, or its owner was last seen at work
}

func (l lockFile) describe() string {
	switch {
	case !l.exists:
		return "none"
	case l.owner == "":
		return "unreadable"
	}
	return fmt.Sprintf("held by %s, last sign of life %s ago", l.owner, ageText(l.age))
}

// ownership is what the lock means for a session. H02 and H11 go by it both, so that
// neither demands what the other forbids.
type ownership int

const (
	free    ownership = iota // there is no lock
	mine                     // this session holds it
	foreign                  // another session holds it
	stale                    // another session held it, and has not been seen for long
	damaged                  // it names no session
)

// heldFor returns what the lock means for a session.
func (l lockFile) heldFor(session string, staleAfter time.Duration) ownership {
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

// maxLock bounds a lock, which is a line or two of JSON.
const maxLock = 1 << 20

// readLock reads the workflow's lock. Anything but a regular file, a symbolic link
// included, is a lock without an owner. The owner's decision log, which it adds to with
// every decision, tells when it was last at work.
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

// readLock reads the lock of the feature directory, once.
func (c *call) readLock() lockFile {
	if c.lock == nil {
		l := lockFile{}
		if c.place.feature != "" {
			l = readLock(c.place.path(c.config.Names.Lock), c.Time, func(session string) string {
				return guard.SessionOf(session, c.Env).Logging(c.Config, c.Env).Log()
			})
		}
		c.lock = &l
	}
	return *c.lock
}

// lockState returns what the lock means for the session of the event.
func (c *call) lockState() ownership {
	return c.readLock().heldFor(c.Event.SessionID, c.config.staleAfter())
}

func (config Config) staleAfter() time.Duration {
	return time.Duration(config.StaleMinutes) * time.Minute
}

// remedy says which file the lock is, how old it is, and how it is removed.
func (l lockFile) remedy() string {
	command := "fsmtx guard unlock"
	if l.owner != "" {
		command += " --session " + shellWord(l.owner)
	}
	return fmt.Sprintf("The lock is %s, last sign of life %s ago. If that session is over, run: %s", guard.OneLine(l.path), ageText(l.age), command)
}

// ageText returns a duration as people say it.
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
