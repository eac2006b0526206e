package guard

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// Run decides the event on standard input by the rule and returns the answer.
func Run(r Rule, in io.Reader, env func(string) string) event.Answer {
	c := &Call{rule: r, env: env, Time: time.Now()}
	a := c.run(in).Answer(r.Event)
	if c.verbose() {
		c.Log("VERBOSE", "output="+a.Output)
	}
	return a
}

func (c *Call) verbose() bool { return c.env("PLANNING_HOOKS_VERBOSE") == "true" }

// Explanation is what a rule would decide and why.
type Explanation struct {
	Verdict
	Facts []Fact
}

// Explain decides as Run does and changes nothing: no counter, no log.
func Explain(r Rule, in io.Reader, env func(string) string) Explanation {
	c := &Call{rule: r, env: env, Time: time.Now(), DryRun: true}
	v := c.run(in)
	return Explanation{v, c.facts}
}

// run takes the steps common to all rules, in the order that the requirements
// fix. A panic on the way is recovered and counted as a failure: a Go program that
// panics exits with 2, which the client would take for a refusal.
func (c *Call) run(in io.Reader) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = c.fail(fmt.Errorf("internal error: %v", p))
		}
	}()
	readErr := c.readEvent(in)
	if c.developing() {
		return c.finish(Verdict{Word: "DEV_SKIP", Detail: "Development mode active"})
	}
	if readErr != nil {
		return c.fail(readErr)
	}
	if c.verbose() {
		c.Log("VERBOSE", "input="+string(c.Event.Raw))
	}
	c.Config = readConfig(c.env("CLAUDE_PLUGIN_ROOT"))
	if flag := c.Config.switchedOff(c.rule); flag != "" {
		return c.finish(Verdict{Word: "SKIP", Detail: "Feature flag " + flag + " is off"})
	}
	failures, err := c.failures()
	if err != nil {
		return c.fail(err)
	}
	if failures >= c.Config.breakerThreshold() {
		return c.finish(c.breakerOpen())
	}
	return c.decide(failures)
}

// readEvent reads the event and finds the session. An event that cannot be read
// does not name its session; the environment does, so that the failure is counted
// in the right one.
func (c *Call) readEvent(in io.Reader) error {
	e, err := event.Read(in)
	if err != nil {
		c.Event, c.Session = &event.Event{}, SessionOf(c.env("CLAUDE_CODE_SESSION_ID"), c.env)
		return err
	}
	c.Event, c.Session = e, SessionOf(e.SessionID, c.env)
	return nil
}

// developing reports whether the plugin's author has turned all guards off.
func (c *Call) developing() bool {
	root := c.env("CLAUDE_PLUGIN_ROOT")
	if root == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(root, "hooks", ".dev-mode"))
	return err == nil
}

// decide asks the rule. Any error on the way is a failure of the guard's own.
func (c *Call) decide(failures int) Verdict {
	v, err := c.rule.Decide(c)
	if err == nil && c.rule.stops() {
		v, err = c.limitBlocks(v)
	}
	if err != nil {
		return c.fail(err)
	}
	if failures > 0 {
		c.resetFailures()
	}
	return c.finish(v)
}

// finish logs the verdict.
func (c *Call) finish(v Verdict) Verdict {
	v.Word = cmp.Or(v.Word, c.rule.passWord())
	v.Detail = OneLine(v.Detail)
	c.Log(v.Word, v.Detail)
	return v
}
