package hook

import (
	"cmp"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Log collects what one call decides, until it has answered: writing the log may
// block or fail.
type Log struct {
	streams terminal.Streams
	path    string // empty if there is no log
	begun   time.Time
	event   *client.Event // may be nil
	mu      sync.Mutex    // a call that is given up goes on until the process ends
	records []decisions.Record
}

// NewLog returns the log at path or, if that is empty, at the path in FSMTX_LOG.
func NewLog(s terminal.Streams, path string) *Log {
	path = decisions.Path(cmp.Or(path, s.Env(decisions.Variable)), s.Env("HOME"))
	return &Log{streams: s, path: path, begun: time.Now()}
}

// ToLog returns what Frame.Log is for a command that people and agents run: it appends each decision
// to the log in FSMTX_LOG. The client's hooks and its shell have the variables under "env" of
// its settings, which a person's terminal may not have, so those settings of the user and the
// organisation count there, too.
func ToLog(s terminal.Streams) decisions.Log {
	path := s.Env(decisions.Variable)
	if path == "" && s.Who().Kind == caller.Person {
		path = settings.Here(s.Getenv, "/").Variable(decisions.Variable)
	}
	if path == "" {
		return nil
	}
	return atOnce{NewLog(s, path)}
}

// atOnce is a log that writes each decision when it comes.
type atOnce struct{ *Log }

// Add writes a decision.
func (l atOnce) Add(r decisions.Record) {
	l.Log.Add(r)
	l.Write()
}

func (l *Log) On() bool { return l.path != "" }

// Add adds a decision to those that Write writes.
func (l *Log) Add(r decisions.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
}

// Adder returns Add if records are written to a log, and nil otherwise.
func (l *Log) Adder() func(decisions.Record) {
	if !l.On() {
		return nil
	}
	return l.Add
}

// undecided is the decision of a record that only says what the person has to know.
const undecided = "trouble"

// verdict adds a verdict of the frame. What the person has to know belongs to the decision that
// is there already.
func (l *Log) verdict(v gates.Verdict, f *gates.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.records)
	if n > 0 && l.records[n-1].Source == decisions.Step && (v.Decision == "" || l.records[n-1].Decision != undecided) {
		l.records[n-1].Trouble = cmp.Or(l.records[n-1].Trouble, string(v.Trouble))
		return
	}
	r := decisions.Record{
		Time: l.begun, Source: decisions.Step, Decision: cmp.Or(string(v.Decision), undecided), Why: v.Said(), Trouble: string(v.Trouble),
		Who: string(state.Fsmtx), How: "hook", Session: f.Session, List: f.List.Dir, Step: v.Step,
	}
	l.records = append(l.records, r)
}

// Write appends the lines to the log. An error is reported and does not fail the call.
func (l *Log) Write() {
	if !l.On() {
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

// noted adds a decision that is not on record as evidence, such as that a file may not be
// edited, or what the person has to know.
func (h *hook) noted(v gates.Verdict) {
	if h.log.On() && (v.Decision != "" || v.Trouble != "") {
		h.log.verdict(v, h.Frame)
	}
}
