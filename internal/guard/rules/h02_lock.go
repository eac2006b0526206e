package rules

import (
	"cmp"
	"fmt"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// h02 lets only the session that holds the planning lock write in the feature directory.
// lockfile.go reads the lock.
func h02() guard.Rule {
	return guard.Rule{
		ID: "H02", Name: "H02_lock_enforcement", Event: client.PreToolUse, Matcher: "Write|Edit|NotebookEdit",
		Flag: "hooks_lock_enforcement", Timeout: 3,
		Brief: "the feature directory is written only by the session that holds the planning lock",
		Rows:  lockRows, Decide: decideBy(runH02),
	}
}

var lockRows = []string{
	"no feature directory, no path, a path outside it, or no session id",
	"no lock, and the path is the lock",
	"no lock, and the path is spec.md while there is no state file",
	"no lock",
	"the lock is not a regular file, not a JSON object or has no session_id, and the path is the lock",
	"the lock is not a regular file, not a JSON object or has no session_id",
	"the lock belongs to another session that was last active long ago, and the path is the lock",
	"the lock belongs to another session",
	"the lock belongs to this session",
}

func runH02(c *call) (guard.Verdict, error) {
	facts := c.lockFacts()
	c.Fact("path in the feature directory", cmp.Or(facts.inner, "none"))
	c.Fact("lock", facts.lock.describe())
	return facts.decide(c.config), nil
}

type lockFacts struct {
	inner    string // path within the feature directory, empty if it is outside
	session  string
	lock     lockFile
	held     ownership
	hasState bool // there is a state file
}

func (c *call) lockFacts() lockFacts {
	facts := lockFacts{session: c.Event.SessionID}
	path := c.target("file_path", "notebook_path")
	if c.place.feature == "" || path == "" {
		return facts
	}
	facts.inner, _ = safefile.Within(safefile.Resolve(c.place.feature), path)
	if facts.inner == "" {
		return facts
	}
	facts.lock, facts.held = c.readLock(), c.lockState()
	facts.hasState = safefile.IsFile(c.place.path(c.config.names.state))
	return facts
}

func (f lockFacts) decide(config configuration) guard.Verdict {
	isLock := f.inner == config.names.lock
	switch {
	case f.inner == "":
		return guard.Pass(1, "File outside the feature directory")
	case f.session == "":
		return guard.Pass(1, "No session id")
	case f.held == free && isLock:
		return guard.Pass(2, "The lock is being acquired")
	case f.held == free && f.inner == config.names.spec && !f.hasState:
		return guard.Pass(3, "spec.md is being drafted, planning not started")
	case f.held == free:
		return guard.Deny(4, "DENIED: No planning lock acquired. Call Phase 1 setup first to acquire lock before writing to planning workspace.")
	case f.held == damaged && isLock:
		return guard.Pass(5, "The damaged lock is being repaired")
	case f.held == damaged:
		return guard.Deny(6, "DENIED: Planning lock is corrupted (no readable session_id). Wait for lock release or delete stale lock. "+
			"To repair it, write "+f.content()+" to "+config.names.lock+". "+f.lock.remedy())
	case f.held == stale && isLock:
		return guard.Pass(7, "The stale lock is being taken over")
	case f.held != mine:
		return guard.Deny(8, f.denial(config))
	}
	return guard.Pass(9, "Lock valid for session "+f.session)
}

func (f lockFacts) denial(config configuration) string {
	text := fmt.Sprintf("DENIED: Planning lock owned by another session (%s). Wait for lock release or delete stale lock. ",
		guard.OneLine(f.lock.owner))
	if f.held == stale {
		text += "You may take the lock over, because its session has been inactive for so long: write " + f.content() + " to " +
			config.names.lock + ". "
	}
	return text + f.lock.remedy() // last, because it ends with a command
}

// content is what this session should write into the lock.
func (f lockFacts) content() string {
	return fmt.Sprintf("{\"session_id\": %q}", guard.OneLine(f.session))
}
