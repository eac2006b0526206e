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

// CallLimit is the time limit with which the hook on TaskUpdate is registered: above the
// longest check, because a hook that is killed at its limit is not heard of (fact 46,
// client 2.1.329).
const CallLimit = 1860 * time.Second

// callMargin is what a call needs beside its checks.
const callMargin = 30 * time.Second

// Frame asks the gates of one list: it reads and locks the list's state, runs checks and
// keeps the evidence. What the gates say is up to pure functions.
type Frame struct {
	List     tasks.List    // Wait limits the wait for the locks
	Session  string        // the id of the session; for people
	Env      []string      // environment of checks
	Limit    time.Duration // of the whole call; 0 is CallLimit
	NoChecks bool          // leave the checks out

	// Interruptible returns a context that is cancelled by the signals that end this
	// program. It is called before a check runs; nil leaves the context as it is.
	Interruptible func(context.Context) (context.Context, context.CancelFunc)

	// Unreleased is told of locks that could not be released. They are free in ten seconds.
	// nil tells nobody.
	Unreleased func(error)

	// Apply changes the task's status as well, under the client's locks, once the
	// gates let it through: for callers without a client that does. Trouble denies
	// then, because nothing was changed.
	Apply bool
}

// call is one update on its way through the gates.
type call struct {
	*Frame
	id     string // unique, for its pending records
	update Update
	steps  steps
	own    *recorded
	begun  time.Time
	silent bool // nobody can be asked at this event
}

// Completed decides about a step that the client is about to complete, where the update
// itself may not have been heard of. One that was let through is not asked again.
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

// approved records that a person said yes: without it the client would not get so far.
func (f *Frame) approved(ctx context.Context, c *Current, e Evidence) Verdict {
	if e.Verdict != Ask || c.Done() && c.Status == completed {
		return Verdict{}
	}
	return f.note(ctx, c, Evidence{Step: c.ID, From: c.Status, To: completed, Verdict: Allow, Why: "a person said yes", Agent: e.Agent})
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
// is allowed, and leaves no trace: no lock, no file.
func (f *Frame) Update(ctx context.Context, u Update) Verdict { return f.update(ctx, u, false) }

func (f *Frame) update(ctx context.Context, u Update, silent bool) Verdict {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return f.trouble(err)
	}
	own := live.find(u.Task)
	if own == nil {
		return Verdict{}
	}
	c := &call{Frame: f, id: rand.Text(), update: u, steps: live, own: own, begun: time.Now(), silent: silent}
	v := c.decide(ctx)
	v.Step = own.ID
	return f.finished(v)
}

// finished adds to a denial how a person can go past it. It names the list, by whose name
// a terminal finds it too if the hook's environment chose another one than the session's.
func (f *Frame) finished(v Verdict) Verdict {
	if v.Decision == Deny && v.Step != 0 {
		id := v.Step
		if v.past != 0 {
			id = v.past
		}
		v.Reason += ".\nA person can go past this in a terminal: " + ways(id, filepath.Base(f.List.Dir))
	}
	return v
}

// trouble is the verdict when the gates cannot be asked.
func (f *Frame) trouble(err error) Verdict {
	text := fmt.Sprintf("the steps of the task list %s are not held: %v", f.List.Dir, err)
	if f.Apply {
		return Verdict{Decision: Deny, Why: "trouble", Reason: text}
	}
	return Verdict{Trouble: text}
}

// release releases the locks.
func (f *Frame) release(dir *txn.Dir) {
	if err := dir.Close(); err != nil && f.Unreleased != nil {
		f.Unreleased(err)
	}
}

func (c *call) decide(ctx context.Context) Verdict {
	kept := keep(&Current{Step: c.own.Step, Workflow: c.own.workflow}, c.update)
	if kept.Allowed() && !slices.Contains([]string{pending, inProgress, completed}, c.update.Status) {
		return kept // nothing that a gate is about
	}
	dir, s, err := c.open(ctx)
	if err != nil {
		if !kept.Allowed() {
			return kept
		}
		return c.unlocked(ctx, err)
	}
	defer c.release(dir)
	if !kept.Allowed() {
		return c.record(dir, s, kept)
	}
	v, slow := c.underLock(dir, s)
	if slow == nil {
		return v
	}
	c.announce(dir, s, slow)
	c.release(dir) // it is not held while a check runs
	return c.conclude(ctx, slow, c.wait(ctx, s, slow))
}

// open locks the list's state and reads it.
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

// unlocked decides without the lock: the update is allowed, unless a check is running
// that it depends on.
func (c *call) unlocked(ctx context.Context, cause error) Verdict {
	if s, err := c.steps.state(ctx, c.List.Dir, func(name string) ([]byte, error) { return txn.ReadState(c.List.Dir, name) }); err == nil {
		own := s.Step(c.own.ID)
		if v := running(s, own); !v.Allowed() {
			return v
		}
		for _, b := range s.openBlockers(own) {
			if s.checking(b.ID) {
				return order(s, own, c.update)
			}
		}
	}
	return c.trouble(cause)
}
