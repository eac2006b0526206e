package guard

import (
	"fmt"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

func planningLock() Guard {
	return Guard{
		ID: "H02", Name: "H02_lock_enforcement", Event: event.PreToolUse, Matcher: "Write|Edit|NotebookEdit",
		Flag: "hooks_lock_enforcement", Timeout: 3,
		Brief: "the feature directory is written only by the session that holds the planning lock",
		Rows: []string{
			"no feature directory, no path, a path outside it, or no session id",
			"no lock, and the path is the lock",
			"no lock, and the path is spec.md while there is no state file",
			"no lock",
			"the lock is no regular file, no JSON object or has no session_id",
			"the lock is another session's",
			"the lock is this session's",
		},
		judge: func(c *call) (Verdict, error) {
			facts := c.lockFacts()
			c.fact("path in the feature directory", orElse(facts.inner, "none"))
			c.fact("lock", facts.lock.describe())
			return facts.decide(), nil
		},
	}
}

type lockFacts struct {
	inner   string // path within the feature directory, empty if it is not in it
	session string
	lock    lockFile
	planned bool // there is a state file
}

func (c *call) lockFacts() lockFacts {
	facts := lockFacts{session: c.event.SessionID}
	path := c.target("file_path", "notebook_path")
	if c.place.feature == "" || path == "" {
		return facts
	}
	facts.inner, _ = within(resolve(c.place.feature), path)
	facts.lock = readLock(c.place.in(lockName))
	facts.planned = isFile(c.place.in(stateName))
	return facts
}

// decide is the table of H02.
func (f lockFacts) decide() Verdict {
	switch {
	case f.inner == "":
		return passed(1, "File outside the feature directory")
	case f.session == "":
		return passed(1, "No session id")
	case !f.lock.exists && f.inner == lockName:
		return passed(2, "The lock is being acquired")
	case !f.lock.exists && f.inner == specName && !f.planned:
		return passed(3, "spec.md is being drafted, planning not started")
	case !f.lock.exists:
		return denied(4, "DENIED: No planning lock acquired. Call Phase 1 setup first to acquire lock before writing to planning workspace.")
	case f.lock.owner == "":
		return denied(5, "DENIED: Planning lock is corrupted (no readable session_id). Wait for lock release or delete stale lock.")
	case f.lock.owner != f.session:
		return denied(6, fmt.Sprintf("DENIED: Planning lock owned by another session (%s). Wait for lock release or delete stale lock.", oneLine(f.lock.owner)))
	}
	return passed(7, "Lock valid for session "+f.session)
}
