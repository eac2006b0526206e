package steps

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// CallLimit is the time limit with which the hook on TaskUpdate is registered. It is above
// the limit of the longest check, because the decision of a hook that is killed at its
// limit is lost (fact 46, client 2.1.329).
const CallLimit = 1860 * time.Second

// callMargin is the part of a call's time limit that is reserved for everything but
// checks.
const callMargin = 30 * time.Second

// Frame evaluates the gates of one list: it reads and locks the list's state, runs checks
// and records the evidence. The gates themselves are pure functions.
type Frame struct {
	List     tasks.List    // Wait limits the wait for the locks
	Session  string        // the id of the session, for messages
	Env      []string      // environment of checks
	Limit    time.Duration // of the whole call; 0 is CallLimit
	NoChecks bool          // do not run checks

	// Interruptible returns a context that is cancelled by the signals that end this
	// program. It is called before a check runs; nil leaves the context as it is.
	Interruptible func(context.Context) (context.Context, context.CancelFunc)

	// Unreleased is called with the error when a lock cannot be released. The lock expires
	// after ten seconds. It may be nil.
	Unreleased func(error)

	// Apply makes the Frame change the task's status itself, under the client's locks,
	// when the gates allow it. It is for callers without a client that does. The update
	// is then denied if the gates cannot be evaluated, because nothing was changed.
	Apply bool
}

// call is one update for which the gates are evaluated.
type call struct {
	*Frame
	id         string // unique, for its pending records
	update     Update
	steps      steps
	target     *recorded // the step that the update is about
	begun      time.Time
	unattended bool // the client cannot ask a person at this event
}

// Completed decides about a step that the client is about to complete, in case no hook saw
// the update. The gates are not evaluated again for a completion that was allowed.
func (f *Frame) Completed(ctx context.Context, u Update) Verdict {
	s, err := Load(ctx, f.List.Dir)
	if err != nil {
		return f.trouble(err)
	}
	for _, c := range s.Steps {
		if itoa(c.ID) != u.Task {
			continue
		}
		e, known := s.last(c.ID)
		if c.Done() || known && e.To == completed {
			return f.approved(ctx, c, e)
		}
		return f.update(ctx, u, true)
	}
	return Verdict{}
}

// approved records that the person said yes. The client completes a step about which it
// asked only after a yes.
func (f *Frame) approved(ctx context.Context, c *Current, e Evidence) Verdict {
	if e.Verdict != Ask || c.Done() && c.Status == completed {
		return Verdict{}
	}
	return f.note(ctx, c, Evidence{Step: c.ID, From: c.Status, To: completed, Verdict: Allow, Why: "a person said yes", Agent: e.Agent, By: f.person(ByApproval, e.Agent)})
}

// note adds one line to the evidence.
func (f *Frame) note(ctx context.Context, c *Current, e Evidence) Verdict {
	waiting, cancel := f.List.Waiting(ctx)
	defer cancel()
	dir, err := f.List.Open(waiting)
	if err != nil {
		return f.trouble(err)
	}
	defer f.release(dir)
	e.Time = time.Now().UTC()
	if err := appendEvidence(dir, e); err != nil {
		return f.trouble(err)
	}
	return Verdict{Step: c.ID}
}

// Update decides an update, and records the decision. An update that is not about a step
// is allowed; it locks and writes nothing.
func (f *Frame) Update(ctx context.Context, u Update) Verdict { return f.update(ctx, u, false) }

func (f *Frame) update(ctx context.Context, u Update, unattended bool) Verdict {
	return f.forStep(u, func(c *call) (Verdict, error) {
		c.unattended = unattended
		return c.decide(ctx), nil
	})
}

// forStep returns what decide decides for an update of a step. It allows an update that is
// not about a step without calling decide.
func (f *Frame) forStep(u Update, decide func(*call) (Verdict, error)) Verdict {
	c, err := f.newCall(u)
	if err != nil {
		return f.trouble(err)
	}
	if c == nil {
		return Verdict{}
	}
	v, err := decide(c)
	if err != nil {
		return f.trouble(err)
	}
	v.Step = c.target.ID
	return f.finished(v)
}

// newCall returns the call of an update, or nil if the update is not about a step.
func (f *Frame) newCall(u Update) (*call, error) {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return nil, err
	}
	target := live.find(u.Task)
	if target == nil {
		return nil, nil
	}
	return &call{Frame: f, id: rand.Text(), update: u, steps: live, target: target, begun: time.Now()}, nil
}

// finished adds to a denial the command with which a person goes past the gate. The command
// names the list and not the session, because the hook's environment may have chosen
// another list than the session's, and a terminal does not have that environment.
func (f *Frame) finished(v Verdict) Verdict {
	if v.Decision == Deny && v.Step != 0 {
		id := v.Step
		if v.past != 0 {
			id = v.past
		}
		v.Reason += ".\nA person can go past this in a terminal outside the client: " + overrideCommands(id, filepath.Base(f.List.Dir))
	}
	return v
}

// trouble returns the verdict for gates that cannot be evaluated.
func (f *Frame) trouble(err error) Verdict {
	text := fmt.Sprintf("the steps of the task list %s are not enforced: %v", f.List.Dir, err)
	if f.Apply {
		return Verdict{Decision: Deny, Why: "trouble", Reason: text}
	}
	return Verdict{Trouble: text}
}

// release releases the locks of the list.
func (f *Frame) release(dir *txn.Dir) {
	if err := dir.Close(); err != nil && f.Unreleased != nil {
		f.Unreleased(err)
	}
}

func (c *call) decide(ctx context.Context) Verdict {
	v := keep(&Current{Step: c.target.Step, Workflow: c.target.workflow}, c.update)
	if v.Allowed() && !slices.Contains([]string{pending, inProgress, completed}, c.update.Status) {
		return v // the status does not change, so no other gate applies
	}
	dir, s, err := c.open(ctx)
	switch {
	case err != nil && v.Allowed():
		return c.unlocked(ctx, err)
	case err != nil:
		return v
	}
	defer c.release(dir)
	if !v.Allowed() {
		return c.record(dir, s, v)
	}
	v, slow := c.underLock(dir, s)
	if slow == nil {
		return v
	}
	c.recordPending(dir, s, slow)
	c.release(dir) // no lock is held while a check runs
	return c.conclude(ctx, slow, c.evaluate(ctx, slow))
}

// open locks the list and reads its state.
func (c *call) open(ctx context.Context) (*txn.Dir, *State, error) {
	waiting, cancel := c.List.Waiting(ctx)
	defer cancel()
	dir, err := c.List.Open(waiting)
	if err != nil {
		return nil, nil, err
	}
	s, err := c.steps.state(ctx, dir.Path(), dir.ReadState)
	if err != nil {
		c.release(dir)
		return nil, nil, err
	}
	endOrphans(s.dead)
	return dir, s, nil
}

// unlocked decides when the lock cannot be had: the update is allowed unless it depends on
// a check that is running.
func (c *call) unlocked(ctx context.Context, cause error) Verdict {
	if s, err := c.steps.state(ctx, c.List.Dir, func(name string) ([]byte, error) { return txn.ReadState(c.List.Dir, name) }); err == nil {
		target := s.Step(c.target.ID)
		if v := running(s, target); !v.Allowed() {
			return v
		}
		for _, b := range s.openBlockers(target) {
			if s.checking(b.ID) {
				return order(s, target, c.update)
			}
		}
	}
	return c.trouble(cause)
}
