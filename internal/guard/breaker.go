package guard

import (
	"fmt"
	"strings"
)

// The circuit breaker switches a rule off for the rest of a session after several
// failures in a row. It counts only failures of the guard itself: unreadable input, an
// unusable session file, a bug. Broken files that the model can write (state, lock,
// budget, configuration) are not counted; otherwise the model could switch a guard off
// by breaking one.

// failures returns how often in a row this rule has failed in this session.
func (c *Call) failures() (int, error) {
	if !c.Session.Known() {
		return 0, nil
	}
	return c.counter(c.Session.Breaker(), c.rule.Name)
}

// breakerOpen is the verdict of a rule whose breaker is open.
func (c *Call) breakerOpen() Verdict {
	text := fmt.Sprintf("Hook %s circuit breaker OPEN (%d+ failures). Skipping validation.", c.rule.Name, c.Config.breakerThreshold())
	return Notice(0, "BREAKER_OPEN", text, text)
}

// fail counts a failure and lets the client continue.
func (c *Call) fail(why error) Verdict {
	if !c.binds(true) {
		return Verdict{Word: c.rule.passWord(), Detail: notBound}
	}
	text := fmt.Sprintf("Hook %s encountered an unexpected error (%s). Failing open.", c.rule.Name, brief(why))
	if c.Session.Known() && !c.DryRun {
		// If the breaker's file cannot be written either, the failure is not counted.
		_ = changeCounter(c.Session.Breaker(), c.rule.Name, func(n int) int { return n + 1 })
	}
	return c.finish(Notice(0, "ERROR", text, text))
}

// resetFailures sets the count to 0 after a complete run.
func (c *Call) resetFailures() {
	if c.DryRun {
		return
	}
	if err := changeCounter(c.Session.Breaker(), c.rule.Name, func(int) int { return 0 }); err != nil {
		c.Log("ERROR", "resetting the circuit breaker: "+err.Error())
	}
}

// maxError bounds an error in a message to the user, in characters.
const maxError = 300

func brief(err error) string {
	return strings.TrimSpace(Truncate(OneLine(err.Error()), maxError))
}
