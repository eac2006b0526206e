package guard

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/statefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Run answers the event on standard input for the guard, prints the reply and
// returns the exit code: 0, or 2 for a refusal or feedback. An error means that
// the reply could not be printed.
func Run(g Guard, s terminal.Streams) (int, error) {
	c := &call{guard: g, env: s.Env, now: time.Now()}
	v := c.run(s.In)
	a := v.answer(g.Event)
	if c.verbose() {
		c.log("VERBOSE", "output="+a.Output)
	}
	return a.Exit, a.Write(s.Out, s.Err)
}

func (c *call) verbose() bool { return c.env("PLANNING_HOOKS_VERBOSE") == "true" }

// Explanation is what a guard would answer and why.
type Explanation struct {
	Verdict
	Facts []Fact
}

// Explain decides as Run does and changes nothing: no counter, no log.
func Explain(g Guard, s terminal.Streams) Explanation {
	c := &call{guard: g, env: s.Env, now: time.Now(), dry: true}
	v := c.run(s.In)
	return Explanation{v, c.facts}
}

// run takes the steps common to all guards, in the order that matters. A panic
// on the way is a failure of ours: a Go program that panics exits with 2, which
// the client would take for a refusal.
func (c *call) run(in io.Reader) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = c.fail(fmt.Errorf("internal error: %v", p))
		}
	}()
	e, err := event.Read(in)
	if err == nil {
		c.event, c.session = e, SessionOf(e.SessionID, c.env)
	} else {
		// The event cannot say whose failure this is; the environment can.
		c.event, c.session = &event.Event{}, SessionOf(c.env("CLAUDE_CODE_SESSION_ID"), c.env)
	}
	if root := c.env("CLAUDE_PLUGIN_ROOT"); root != "" && exists(filepath.Join(root, "hooks", ".dev-mode")) {
		return c.end(Verdict{Word: "DEV_SKIP", Detail: "Development mode active"})
	}
	if err != nil {
		return c.fail(err)
	}
	if c.verbose() {
		c.log("VERBOSE", "input="+string(e.Raw))
	}
	c.config = readConfig(c.env("CLAUDE_PLUGIN_ROOT"))
	if on, flag := c.config.Enabled(c.guard); !on {
		return c.end(Verdict{Word: "SKIP", Detail: "Feature flag " + flag + " is off"})
	}
	failures, err := c.failures()
	if err != nil {
		return c.fail(err)
	}
	if failures >= c.config.BreakerThreshold {
		return c.end(c.open())
	}
	return c.evaluate(failures)
}

// evaluate asks the guard. Whatever goes wrong inside it is a failure of ours.
func (c *call) evaluate(failures int) Verdict {
	c.place = findPlace(c.event.Cwd, c.env)
	c.fact("feature directory", orElse(c.place.feature, "none"))
	v, err := c.guard.judge(c)
	if err == nil && c.guard.stops() {
		v, err = c.limit(v)
	}
	if err != nil {
		return c.fail(err)
	}
	if failures > 0 {
		c.forgive()
	}
	return c.end(v)
}

// end logs the verdict.
func (c *call) end(v Verdict) Verdict {
	if v.Word == "" {
		v.Word = c.guard.passes()
	}
	v.Detail = oneLine(v.Detail)
	c.log(v.Word, v.Detail)
	return v
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readIfThere reads a session file, nil if there is none.
func readIfThere(path string) ([]byte, error) {
	data, err := statefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
