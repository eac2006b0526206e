package steps

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// underLock evaluates the gates that take no time, and decides. If a check has to run, it
// decides nothing and returns the steps whose gates are to be evaluated without the lock,
// in this order: first the steps that were completed in another way, then the target.
func (c *call) underLock(dir *txn.Dir, s *State) (v Verdict, slow []*Current) {
	target := s.Step(c.target.ID)
	if s.decidedElsewhere(c.update) {
		return Verdict{}, nil
	}
	if v := running(s, target); !v.Allowed() {
		return c.record(dir, s, v), nil
	}
	to := c.update.Status
	if target.Gone() || to == pending || target.Done() && to == completed {
		return c.record(dir, s, Verdict{Why: "no gate applies"}), nil
	}
	if err := c.recordSeen(dir, s); err != nil {
		return c.trouble(err), nil
	}
	var overdue []*Current
	// An unverified target needs only its own gates: so each of several unverified steps
	// can be put right by itself.
	if target.Status != completed {
		overdue = s.overdue(target)
	}
	if v := order(s.assuming(overdue), target, c.update); !v.Allowed() {
		return c.record(dir, s, v), nil
	}
	if v := c.start(target); !v.Allowed() {
		return c.record(dir, s, v), nil
	}
	gated := overdue
	if to == completed {
		gated = append(gated, target)
	}
	if checked := c.withCheck(gated); len(checked) > 0 {
		if v := fits(target, checked, c.left()); !v.Allowed() {
			return c.record(dir, s, v), nil
		}
		return Verdict{}, gated
	}
	var o outcome
	for _, b := range gated {
		o.add(b, c.beforeCheck(b))
	}
	return c.settle(dir, s, o), nil
}

// decidedElsewhere reports whether another process is deciding the same update: the hook
// may be registered both by a plugin and in the settings. The client waits for both, and
// one denial is enough.
func (s *State) decidedElsewhere(u Update) bool {
	return u.Use != "" && slices.ContainsFunc(s.Pending, func(p Pending) bool { return p.Use == u.Use })
}

// running denies an update of a step whose check is running in another call.
func running(s *State, c *Current) Verdict {
	if !s.checking(c.ID) {
		return Verdict{}
	}
	return deny(c, "its check is running", c.Name()+" is being completed by another call, whose check is running: wait until it ends")
}

// recordSeen records as seen the unverified steps that declare no gate of their
// completion.
func (c *call) recordSeen(dir *txn.Dir, s *State) error {
	return s.passUngated(c.target.ID, func(b *Current) error {
		e := Evidence{Time: s.Time, Step: b.ID, From: completed, To: completed, Verdict: Allow, Why: "seen: it was completed in another way", By: c.seenBy(c.update, Verdict{})}
		if err := appendEvidence(dir, e); err != nil {
			return err
		}
		s.Evidence = append(s.Evidence, e)
		return nil
	})
}

// start evaluates the gate ready when a step is started. Completing a pending step starts
// it, too.
func (c *call) start(target *Current) Verdict {
	if target.Status != pending || len(target.Ready) == 0 {
		return Verdict{}
	}
	return ready(target, missing(target.Workflow.Dir, target.Ready))
}

// withCheck returns the steps whose checks have to run.
func (c *call) withCheck(gated []*Current) []*Current {
	return slices.DeleteFunc(slices.Clone(gated), func(b *Current) bool { return c.NoChecks || b.Check == nil })
}

// left returns how long checks may take in this call.
func (c *call) left() time.Duration {
	limit := c.Limit
	if limit == 0 {
		limit = CallLimit
	}
	return limit - callMargin - time.Since(c.begun)
}

// outcome has the verdicts on some steps. Only the last one may be a denial.
type outcome struct {
	steps    []*Current
	verdicts []Verdict
}

func (o *outcome) add(c *Current, v Verdict) {
	o.steps, o.verdicts = append(o.steps, c), append(o.verdicts, v)
}

// last returns the verdict on the last step.
func (o *outcome) last() Verdict { return o.verdicts[len(o.verdicts)-1] }

// unrecorded returns the verdict of a call whose decision v could not be recorded because
// of err. A denial stays a denial.
func (c *call) unrecorded(v Verdict, err error) Verdict {
	if v.Allowed() {
		return c.trouble(err)
	}
	return v
}

// beforeCheck evaluates the gates of a step that take no time.
func (c *call) beforeCheck(b *Current) Verdict {
	v := produces(b, missing(b.Workflow.Dir, b.Produces))
	if v.Allowed() && b.ID != c.target.ID {
		v = unapproved(b)
	}
	return v
}

// evaluate evaluates the gates of the steps, until one denies. It runs checks, so the list
// must not be locked.
func (c *call) evaluate(ctx context.Context, gated []*Current) (o outcome) {
	if c.Interruptible != nil {
		var cancel context.CancelFunc
		ctx, cancel = c.Interruptible(ctx)
		defer cancel()
	}
	for _, b := range gated {
		v := c.beforeCheck(b)
		if v.Allowed() && b.Check != nil && !c.NoChecks {
			v = check(b, c.run(ctx, b))
		}
		o.add(b, v)
		if !v.Allowed() {
			break
		}
	}
	return o
}

// recordPending records that this process is about to complete the steps. An error is
// ignored: the record only keeps other calls out, and the checks decide without it.
func (c *call) recordPending(dir *txn.Dir, s *State, gated []*Current) {
	for _, b := range gated {
		s.Pending = append(s.Pending, c.pending(b.ID))
	}
	_ = writePending(dir, s.Pending)
}

func writePending(dir *txn.Dir, all []Pending) error {
	if len(all) == 0 {
		return dir.RemoveState(pendingFile)
	}
	text, err := json.Marshal(all, jsonx.Tolerant)
	if err != nil {
		return err
	}
	return dir.WriteState(pendingFile, text)
}

// conclude locks the list again and settles the outcome. A check may have run for minutes,
// so the order is evaluated again.
func (c *call) conclude(ctx context.Context, gated []*Current, o outcome) Verdict {
	ctx = context.WithoutCancel(ctx) // an interrupted check is recorded, too
	dir, s, err := c.open(ctx)
	if err != nil {
		return c.unrecorded(o.last(), err)
	}
	defer c.release(dir)
	s.Pending = slices.DeleteFunc(s.Pending, func(p Pending) bool { return p.Call == c.id })
	if err := writePending(dir, s.Pending); err != nil {
		return c.unrecorded(o.last(), err)
	}
	if o.last().Allowed() {
		var passed []*Current
		for _, b := range gated {
			if b.ID != c.target.ID {
				passed = append(passed, s.Step(b.ID))
			}
		}
		if v := order(s.assuming(passed), s.Step(c.target.ID), c.update); !v.Allowed() {
			return c.record(dir, s, v)
		}
	}
	return c.settle(dir, s, o)
}

// settle records the verdicts on other steps, then decides about the target and records
// that decision.
func (c *call) settle(dir *txn.Dir, s *State, o outcome) Verdict {
	var verdict Verdict
	for i, b := range o.steps {
		v := o.verdicts[i]
		if b.ID == c.target.ID {
			verdict = v
			break
		}
		if s.Step(b.ID).Status != completed {
			continue // reopened or deleted while the checks were running
		}
		e := Evidence{Time: s.Time, Step: b.ID, From: completed, To: completed, Verdict: Allow, Why: "seen: it was completed in another way, and its gates hold", Check: v.Check, By: c.seenBy(c.update, v)}
		if !v.Allowed() {
			e.Verdict, e.Why = Deny, v.Why
		}
		if err := appendEvidence(dir, e); err != nil {
			return c.unrecorded(o.last(), err)
		}
		s.Evidence = append(s.Evidence, e)
		if !v.Allowed() {
			v.Reason = b.Name() + " was completed in another way and does not pass its gates, so no other step is let through. " + v.Reason
			v.past, v.Why = b.ID, "first #"+itoa(b.ID)+": "+v.Why
			return c.record(dir, s, v)
		}
	}
	return c.record(dir, s, c.completion(s.Step(c.target.ID), verdict))
}

// completion returns the decision about the target. v is the verdict of the gates that are
// evaluated before its approval.
func (c *call) completion(target *Current, v Verdict) Verdict {
	completes := c.update.Status == completed
	if v.Allowed() && completes {
		ask := approval
		if c.unattended {
			ask = unattended
		}
		if a := ask(target); !a.Allowed() {
			a.Check = v.Check
			v = a
		}
	}
	if v.Allowed() && v.Why == "" {
		switch {
		case v.Check != nil:
			v.Why = "its check passed"
		case target.Check != nil && c.NoChecks && completes:
			v.Why = "in order; checks are off"
		default:
			v.Why = "in order"
		}
	}
	return v
}

// record adds the decision to the evidence and, with Frame.Apply, changes the task's
// status if it is allowed. The third denial of the same update for the same reason tells
// the agent to stop trying.
func (c *call) record(dir *txn.Dir, s *State, v Verdict) Verdict {
	target := s.Step(c.target.ID)
	if v.Decision == "" {
		v.Decision = Allow
	}
	e := Evidence{
		Time: time.Now().UTC(), Step: target.ID, From: target.Status, To: c.update.Status, Verdict: v.Decision,
		Why: v.Why, Note: c.update.Note, Agent: c.update.Agent, Check: v.Check, By: c.by(c.update, v),
	}
	if v.Decision == Allow && e.From == e.To && e.Note == "" && (target.Passed || e.To != completed) || target.Gone() {
		return v // nothing changes
	}
	if v.Decision == Deny {
		if n := s.repeats(e) + 1; n >= maxRepeats {
			v.Reason += ".\nThis is the same refusal for the " + nth(n) + " time: stop trying, and ask the person what to do"
		}
	}
	if err := c.write(dir, s, e); err != nil {
		return c.unrecorded(v, err)
	}
	if v.Decision == Allow && c.Apply && e.From != e.To {
		waiting, cancel := c.List.Waiting(context.Background())
		defer cancel()
		if err := setStatus(waiting, dir, target.ID, e.To); err != nil {
			return c.trouble(err)
		}
	}
	return v
}

// write appends the evidence, and drops old denials from a file that has grown large.
func (c *call) write(dir *txn.Dir, s *State, e Evidence) error {
	s.Evidence = append(s.Evidence, e)
	if s.size <= maxEvidence {
		return appendEvidence(dir, e)
	}
	return rewriteEvidence(dir, s.thin())
}
