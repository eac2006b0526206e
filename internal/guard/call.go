package guard

import (
	"errors"
	"io/fs"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// LockWait bounds how long a guard waits for another process that changes the same
// session file. It is below three seconds, the shortest timeout of a guard in the client.
// Only tests change it.
var LockWait = 1500 * time.Millisecond

// Call is one run of one rule.
type Call struct {
	Event   *client.Event
	Session Session
	Config  Config
	Time    time.Time
	DryRun  bool // decide without changing anything
	Memo    any  // what package rules keeps for this call; the frame does not use it

	rule  Rule
	env   func(string) string
	bound bool // rule.Binds has returned true
	facts []Fact
	log   func(decisions.Record) // may be nil
}

// Fact is one input of a decision, as Explain shows it to people.
type Fact struct{ Name, Value string }

// Fact adds a fact to the explanation.
func (c *Call) Fact(name, value string) {
	c.facts = append(c.facts, Fact{name, OneLine(value)})
}

// Env returns a variable of the environment, "" if it is not set.
func (c *Call) Env(name string) string { return c.env(name) }

// Read returns the content of a session file, nil if there is none.
func (c *Call) Read(path string) ([]byte, error) {
	data, err := statefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Update changes a session file under its lock, as statefile.Update does. A dry
// run computes the change and discards it.
func (c *Call) Update(path string, change func(old []byte) ([]byte, error)) error {
	if !c.DryRun {
		return statefile.Update(path, LockWait, change)
	}
	old, err := c.Read(path)
	if err == nil {
		_, err = change(old)
	}
	return err
}

// Log appends a line to the session's decision log. An error while writing is ignored,
// so that it cannot change a decision. A symbolic link in the log's place is not followed.
func (c *Call) Log(word, detail string) {
	if c.DryRun || !c.Session.Known() || !c.binds(false) {
		return
	}
	_ = statefile.Append(c.Session.Log(), []byte(logLine(c.Time, c.rule.Name, word, detail)))
	if c.log != nil && word != verboseWord {
		r := decision(c.Time, c.rule.Name, word, detail)
		r.Session, r.Agent, r.Event, r.Project = c.Event.SessionID, c.Event.AgentID, c.Event.Name, c.project()
		c.log(r)
	}
}

// NewCall returns a call without a rule, for reading only: DryRun is set.
func NewCall(e *client.Event, config Config, now time.Time, env func(string) string) *Call {
	return &Call{Event: e, Session: SessionOf(e.SessionID, env).Logging(config, env), Config: config, Time: now, DryRun: true, env: env}
}
