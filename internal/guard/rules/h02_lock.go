package rules

import (
	"cmp"
	"fmt"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

var lockRows = []string{
	"no feature directory, no path, a path outside it, or no session id",
	"no lock, and the path is the lock",
	"no lock, and the path is spec.md while there is no state file",
	"no lock",
	"the lock is not a regular file, not a JSON object or has no session_id",
	"the lock belongs to another session",
	"the lock belongs to this session",
}

func planningLock(c *call) (guard.Verdict, error) {
	facts := c.lockFacts()
	c.Fact("path in the feature directory", cmp.Or(facts.inner, "none"))
	c.Fact("lock", facts.lock.describe())
	return facts.decide(), nil
}

type lockFacts struct {
	inner   string // path within the feature directory, empty if it is outside
	session string
	lock    lockFile
	planned bool // there is a state file
}

func (c *call) lockFacts() lockFacts {
	facts := lockFacts{session: c.Event.SessionID}
	path := c.target("file_path", "notebook_path")
	if c.place.feature == "" || path == "" {
		return facts
	}
	facts.inner, _ = paths.Within(safefile.Resolve(c.place.feature), path)
	facts.lock = readLock(c.place.path(lockName))
	facts.planned = paths.IsFile(c.place.path(stateName))
	return facts
}

func (f lockFacts) decide() guard.Verdict {
	switch {
	case f.inner == "":
		return guard.Pass(1, "File outside the feature directory")
	case f.session == "":
		return guard.Pass(1, "No session id")
	case !f.lock.exists && f.inner == lockName:
		return guard.Pass(2, "The lock is being acquired")
	case !f.lock.exists && f.inner == specName && !f.planned:
		return guard.Pass(3, "spec.md is being drafted, planning not started")
	case !f.lock.exists:
		return guard.Deny(4, "DENIED: No planning lock acquired. Call Phase 1 setup first to acquire lock before writing to planning workspace.")
	case f.lock.owner == "":
		return guard.Deny(5, "DENIED: Planning lock is corrupted (no readable session_id). Wait for lock release or delete stale lock.")
	case f.lock.owner != f.session:
		return guard.Deny(6, fmt.Sprintf("DENIED: Planning lock owned by another session (%s). Wait for lock release or delete stale lock.", guard.OneLine(f.lock.owner)))
	}
	return guard.Pass(7, "Lock valid for session "+f.session)
}
