package steps

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// underLock asks the gates that take no time. If a check is to run it asks none of the
// rest and returns the steps whose gates they are, in the order in which they are to be
// asked: steps that were completed in another way, then the step itself.
func (c *call) underLock(dir *txn.Dir, s *State) (v Verdict, slow []*Current) {
	own := s.Step(c.own.ID)
	if s.decidedElsewhere(c.update) {
		return Verdict{}, nil
	}
	if v := running(s, own); !v.Allowed() {
		return c.record(dir, s, v), nil
	}
	to := c.update.Status
	if own.Gone() || to == pending || own.Done() && to == completed {
		return c.record(dir, s, Verdict{Why: "no gate to ask"}), nil
	}
	if err := c.seen(dir, s); err != nil {
		return c.trouble(err), nil
	}
	var late []*Current
	if own.Status != completed { // so that each of several such steps can be put right by itself
		late = s.late(own)
	}
	if v := order(s.assuming(late), own, c.update); !v.Allowed() {
		return c.record(dir, s, v), nil
	}
	if v := c.start(own); !v.Allowed() {
		return c.record(dir, s, v), nil
	}
	asked := late
	if to == completed {
		asked = append(asked, own)
	}
	if checked := c.withCheck(asked); len(checked) > 0 {
		if v := fits(own, checked, c.left()); !v.Allowed() {
			return c.record(dir, s, v), nil
		}
		return Verdict{}, asked
	}
	var o outcome
	for _, one := range asked {
		o.add(one, c.quick(one, own))
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
func running(s *State, own *Current) Verdict {
	if !s.checking(own.ID) {
		return Verdict{}
	}
	return deny(own, "its check is running", own.Name()+" is being completed by another call, whose check is running: wait for its end")
}

// seen records as seen the steps that were completed in another way and declare nothing
// that could be asked now. Others may follow from them.
func (c *call) seen(dir *txn.Dir, s *State) error {
	for again := true; again; {
		again = false
		for _, one := range s.unseen() {
			if one.ID == c.own.ID || one.gated() {
				continue
			}
			e := Evidence{Time: s.Time, Step: one.ID, From: completed, To: completed, Verdict: Allow, Why: "seen: it was completed in another way"}
			if err := appendEvidence(dir, e); err != nil {
				return err
			}
			s.Evidence = append(s.Evidence, e)
			one.Passed, again = true, true
		}
	}
	return nil
}

// gated reports whether the step declares a gate of its completion.
func (c *Current) gated() bool { return len(c.Produces) > 0 || c.Check != nil || c.Approval != "" }

// late returns the steps besides own that were completed in another way and whose gates
// have to be asked now, in an order in which each comes after its blockers.
func (s *State) late(own *Current) (late []*Current) {
	assumed := s
	for {
		var more []*Current
		for _, one := range assumed.unseen() {
			if one.ID != own.ID {
				more = append(more, s.Step(one.ID))
			}
		}
		if len(more) == 0 {
			return slices.DeleteFunc(late, func(one *Current) bool { return !one.gated() })
		}
		late = append(late, more...)
		assumed = s.assuming(late)
	}
}

// assuming returns the state in which these steps were let through.
func (s *State) assuming(passed []*Current) *State {
	if len(passed) == 0 {
		return s
	}
	assumed := *s
	assumed.Steps = make([]*Current, len(s.Steps))
	for i, c := range s.Steps {
		if slices.Contains(passed, c) {
			copied := *c
			copied.Passed = true
			c = &copied
		}
		assumed.Steps[i] = c
	}
	return &assumed
}

// start asks for the files that the step needs before it is started. One that is
// completed without being started is started too.
func (c *call) start(own *Current) Verdict {
	if own.Status != pending || len(own.Ready) == 0 {
		return Verdict{}
	}
	return ready(own, missing(own.Workflow.Dir, own.Ready))
}

// withCheck returns the steps whose checks are to run.
func (c *call) withCheck(asked []*Current) []*Current {
	return slices.DeleteFunc(slices.Clone(asked), func(one *Current) bool { return c.NoChecks || one.Check == nil })
}

// left is how long checks may take in this call.
func (c *call) left() time.Duration {
	limit := c.Limit
	if limit == 0 {
		limit = CallLimit
	}
	return limit - callMargin - time.Since(c.begun)
}

// outcome is what the gates of some steps have said: the last one may be a denial.
type outcome struct {
	steps    []*Current
	verdicts []Verdict
}

func (o *outcome) add(c *Current, v Verdict) {
	o.steps, o.verdicts = append(o.steps, c), append(o.verdicts, v)
}

// last returns what the last gate has said.
func (o *outcome) last() Verdict { return o.verdicts[len(o.verdicts)-1] }

// despite is the verdict when the gates have been asked and trouble keeps the answer from
// being recorded: no trouble opens a gate that has said no.
func (c *call) despite(err error, v Verdict) Verdict {
	if v.Allowed() {
		return c.trouble(err)
	}
	return v
}

// quick asks the gates of a step but its check.
func (c *call) quick(one, own *Current) Verdict {
	v := produces(one, missing(one.Workflow.Dir, one.Produces))
	if v.Allowed() && one.ID != own.ID {
		v = unapproved(one)
	}
	return v
}

// wait asks the gates of the steps while the list is not locked, until one denies.
func (c *call) wait(ctx context.Context, s *State, asked []*Current) (o outcome) {
	own := s.Step(c.own.ID)
	if c.Interruptible != nil {
		var cancel context.CancelFunc
		ctx, cancel = c.Interruptible(ctx)
		defer cancel()
	}
	for _, one := range asked {
		v := c.quick(one, own)
		if v.Allowed() && one.Check != nil && !c.NoChecks {
			v = check(one, c.run(ctx, one))
		}
		o.add(one, v)
		if !v.Allowed() {
			break
		}
	}
	return o
}

// announce records that this process is about to complete the steps. Without the record
// the checks run all the same: they decide.
func (c *call) announce(dir *txn.Dir, s *State, asked []*Current) {
	for _, one := range asked {
		s.Pending = append(s.Pending, c.pending(one.ID))
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

// conclude locks the list again and settles what the gates have said. Checks may have
// been running for long, so the order is asked again.
func (c *call) conclude(ctx context.Context, asked []*Current, o outcome) Verdict {
	ctx = context.WithoutCancel(ctx) // an interrupted check is put on record as well
	dir, s, err := c.open(ctx)
	if err != nil {
		return c.despite(err, o.last())
	}
	defer c.release(dir)
	s.Pending = slices.DeleteFunc(s.Pending, func(p Pending) bool { return p.Call == c.id })
	if err := writePending(dir, s.Pending); err != nil {
		return c.despite(err, o.last())
	}
	if o.last().Allowed() {
		late := slices.DeleteFunc(slices.Clone(asked), func(one *Current) bool { return one.ID == c.own.ID })
		var fresh []*Current
		for _, one := range late {
			fresh = append(fresh, s.Step(one.ID))
		}
		if v := order(s.assuming(fresh), s.Step(c.own.ID), c.update); !v.Allowed() {
			return c.record(dir, s, v)
		}
	}
	return c.settle(dir, s, o)
}

// settle records what the gates have said about other steps, and decides about this one.
func (c *call) settle(dir *txn.Dir, s *State, o outcome) Verdict {
	var verdict Verdict
	for i, one := range o.steps {
		v := o.verdicts[i]
		if one.ID == c.own.ID {
			verdict = v
			break
		}
		if s.Step(one.ID).Status != completed {
			continue // taken up again, or gone, while the checks were running
		}
		e := Evidence{Time: s.Time, Step: one.ID, From: completed, To: completed, Verdict: Allow, Why: "seen: it was completed in another way, and its gates hold", Check: v.Check}
		if !v.Allowed() {
			e.Verdict, e.Why = Deny, v.Why
		}
		if err := appendEvidence(dir, e); err != nil {
			return c.despite(err, o.last())
		}
		s.Evidence = append(s.Evidence, e)
		if !v.Allowed() {
			v.Reason = one.Name() + " was completed in another way and does not pass its gates, so no other step is let through. " + v.Reason
			v.past, v.Why = one.ID, "first #"+itoa(one.ID)+": "+v.Why
			return c.record(dir, s, v)
		}
	}
	own := s.Step(c.own.ID)
	if verdict.Allowed() && c.update.Status == completed {
		if a := approval(own); !a.Allowed() {
			a.Check = verdict.Check
			verdict = c.unheard(own, a)
		}
	}
	if verdict.Allowed() && verdict.Why == "" {
		switch {
		case verdict.Check != nil:
			verdict.Why = "its check passed"
		case own.Check != nil && c.NoChecks && c.update.Status == completed:
			verdict.Why = "in order; checks are off"
		default:
			verdict.Why = "in order"
		}
	}
	return c.record(dir, s, verdict)
}

// unheard denies where nobody can be asked.
func (c *call) unheard(own *Current, a Verdict) Verdict {
	if !c.silent {
		return a
	}
	v := deny(own, "nobody could be asked", own.Name()+" needs the approval of a person, who cannot be asked here: "+own.Approval)
	v.Check = a.Check
	return v
}

// record adds the decision to the evidence and, for a caller that wants it, carries an
// allowed one out. The third denial of the same for the same reason says so.
func (c *call) record(dir *txn.Dir, s *State, v Verdict) Verdict {
	own := s.Step(c.own.ID)
	if v.Decision == "" {
		v.Decision = Allow
	}
	e := Evidence{
		Time: time.Now().UTC(), Step: own.ID, From: own.Status, To: c.update.Status, Verdict: v.Decision,
		Why: v.Why, Note: c.update.Note, Agent: c.update.Agent, Check: v.Check,
	}
	if v.Decision == Allow && e.From == e.To && e.Note == "" && (own.Passed || e.To != completed) || own.Gone() {
		return v // nothing changes
	}
	if v.Decision == Deny && s.repeats(e) >= patience-1 {
		v.Reason += ".\nThis is the same refusal for the " + nth(s.repeats(e)+1) + " time: stop trying, and ask the person what to do"
	}
	if err := c.write(dir, s, e); err != nil {
		return c.despite(err, v)
	}
	if v.Decision == Allow && c.Apply && e.From != e.To {
		waiting, cancel := c.List.Waiting(context.Background())
		defer cancel()
		if err := setStatus(waiting, dir, own.ID, e.To); err != nil {
			return c.trouble(err)
		}
	}
	return v
}

// write appends the evidence, and thins the file out when it has grown large.
func (c *call) write(dir *txn.Dir, s *State, e Evidence) error {
	s.Evidence = append(s.Evidence, e)
	if s.size <= maxEvidence {
		return appendEvidence(dir, e)
	}
	return rewriteEvidence(dir, s.thin())
}
