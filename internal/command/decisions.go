package command

import (
	"cmp"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// addLog adds --log to a hook.
func addLog(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "log", "", decisions.Usage)
}

// decisionLog collects what one call decides, until it has answered: writing the log may
// block or fail.
type decisionLog struct {
	streams terminal.Streams
	path    string // empty if there is no log
	begun   time.Time
	event   *event.Event // may be nil
	mu      sync.Mutex   // a call that is given up goes on until the process ends
	records []decisions.Record
}

// newDecisionLog returns the log at path or, if that is empty, at the path in FSMTX_LOG.
func newDecisionLog(s terminal.Streams, path string) *decisionLog {
	path = decisions.Path(cmp.Or(path, s.Env(decisions.Variable)), s.Env("HOME"))
	return &decisionLog{streams: s, path: path, begun: time.Now()}
}

// ToLog returns what Frame.Log is for a command that people and agents run: it appends each decision
// to the log in FSMTX_LOG. The client's hooks and its shell have the variables under "env" of
// its settings, which a person's terminal may not have, so those settings of the user and the
// organisation count there, too.
func ToLog(s terminal.Streams) func(decisions.Record) {
	path := s.Env(decisions.Variable)
	if path == "" && s.Who().Kind == caller.Person {
		path = settings.Here(s.Getenv, "/").Variable(decisions.Variable)
	}
	if path == "" {
		return nil
	}
	l := newDecisionLog(s, path)
	return func(r decisions.Record) {
		l.add(r)
		l.write()
	}
}

func (l *decisionLog) on() bool { return l.path != "" }

func (l *decisionLog) add(r decisions.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
}

// adder returns add, or nil if there is no log.
func (l *decisionLog) adder() func(decisions.Record) {
	if !l.on() {
		return nil
	}
	return l.add
}

// verdict adds a verdict of the frame. What the person has to know belongs to the decision that
// is there already.
func (l *decisionLog) verdict(v steps.Verdict, f *steps.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.records); n > 0 && l.records[n-1].Source == decisions.Step {
		l.records[n-1].Trouble = cmp.Or(l.records[n-1].Trouble, v.Trouble)
		return
	}
	r := decisions.Record{
		Time: l.begun, Source: decisions.Step, Decision: cmp.Or(string(v.Decision), "trouble"), Why: v.Why, Trouble: v.Trouble,
		Who: string(steps.Fsmtx), How: "hook", Session: f.Session, List: f.List.Dir, Step: v.Step,
	}
	l.records = append(l.records, r)
}

// write appends the lines to the log. An error is reported and does not fail the call.
func (l *decisionLog) write() {
	if !l.on() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.records {
		r := &l.records[i]
		if l.event != nil {
			r.Event, r.Agent = cmp.Or(r.Event, l.event.Name), cmp.Or(r.Agent, l.event.AgentID)
		}
		if r.Duration == 0 {
			r.Duration = decisions.Milliseconds(time.Since(l.begun))
		}
	}
	if err := (decisions.File{Path: l.path}).Append(l.records...); err != nil {
		l.streams.Errorf("cannot log the decision: %v", err)
	}
	l.records = nil
}
