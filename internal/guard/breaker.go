package guard

import (
	"fmt"
	"strings"
)

// The breaker takes a guard out of a session in which it keeps failing. Only
// failures of ours count: unreadable input, a session file that cannot be
// used, a bug. What the model can write (state, lock, budget, configuration)
// does not, or the model could switch a guard off by breaking a file.

// failures is how often in a row this guard has failed in this session.
func (c *call) failures() (int, error) {
	if !c.session.Known() {
		return 0, nil
	}
	return readCounter(c.session.Breaker(), c.guard.Name)
}

// open is the answer of a guard whose breaker is open.
func (c *call) open() Verdict {
	text := fmt.Sprintf("Hook %s circuit breaker OPEN (%d+ failures). Skipping validation.", c.guard.Name, c.config.BreakerThreshold)
	return noticed("BREAKER_OPEN", text, text)
}

// fail counts a failure and lets the client go on.
func (c *call) fail(why error) Verdict {
	text := fmt.Sprintf("Hook %s encountered an unexpected error (%s). Failing open.", c.guard.Name, short(why))
	if c.session.Known() && !c.dry {
		// A breaker that cannot be written leaves nothing to do but to fail open.
		_ = changeCounter(c.session.Breaker(), c.guard.Name, func(n int) int { return n + 1 })
	}
	return c.end(noticed("ERROR", text, text))
}

// forgive forgets the failures of a guard that has completed.
func (c *call) forgive() {
	if c.dry {
		return
	}
	if err := changeCounter(c.session.Breaker(), c.guard.Name, func(int) int { return 0 }); err != nil {
		c.log("ERROR", "resetting the circuit breaker: "+err.Error())
	}
}

// short bounds an error that a user is shown.
func short(err error) string {
	return strings.TrimSpace(cutRunes(oneLine(err.Error()), 300))
}
