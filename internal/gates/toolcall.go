package gates

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// Call decides about a call of a tool: one that a step lists is denied unless such a step is
// in progress. A call that no step lists is allowed; nothing is locked or written for it.
func (f *Frame) Call(ctx context.Context, x ToolCall) Verdict {
	r, unread := f.OnRecord()
	away := x.isAway(r.Steps, f.listFlag())
	if away != nil { // only the state says where their directory is now
		_, _ = f.Now(ctx)
		away = x.isAway(r.Steps, f.listFlag())
	}
	unknown := f.unknownRules(ctx, r, cmp.Or(away, unread))
	parts := x.covered(rulesOf(r.Steps))
	if len(parts) == 0 {
		return Verdict{Trouble: message.ForPerson(unknown)}
	}
	c := &call{Frame: f, id: rand.Text(), steps: r.Steps, target: parts[0].listed[0].step, begun: cmp.Or(f.Began, time.Now()),
		update: Update{Agent: x.Agent, Cwd: x.Cwd, Use: x.Use}, facts: map[factKey]fact{}}
	v := f.shortened(c.decideToolCall(ctx, parts))
	v.Trouble = message.Join(v.Trouble, message.ForPerson(unknown))
	return v
}

// unknownRules tells the person, once a session, that rules of the list may be unknown. A call
// is not refused for that: nobody knows which calls are meant.
func (f *Frame) unknownRules(ctx context.Context, r *state.OnRecord, why error) string {
	switch {
	case why != nil:
	case r.Unread:
		why = errors.Join(r.Troubles()...)
	case len(r.Broken) > 0:
	case len(r.Steps) == 0:
		if all, err := new(state.State).TaggedTasks(f.List.Dir); err != nil || len(all) > 0 {
			why = cmp.Or(err, state.ErrUnrecorded)
		}
	}
	if why == nil || f.AlreadyTold(ctx, f.Session+"/only") {
		return ""
	}
	return message.Sprintf("it is not known which calls belong to the steps of the task list %s, so these calls are not refused: %v%s",
		f.Name(), why, state.WithRemedy(why))
}

// decideToolCall decides about a call that rules cover, and records the decision. If the time for that is over, it decides from
// the state of then: a call is not let through because a step that may let it through has not started.
func (c *call) decideToolCall(ctx context.Context, parts []part) Verdict {
	for pause := firstLook; ; pause = min(pause*5/4, lastLook) {
		v, wait := c.decideToolCallNow(ctx, parts)
		if !wait {
			return v
		}
		select {
		case <-ctx.Done():
			c.begun = time.Time{} // no further wait
			v, _ = c.decideToolCallNow(ctx, parts)
			return v
		case <-time.After(pause):
		}
	}
}

// decideToolCallNow decides from the state of now, under the lock of the list or, if that cannot be
// had, without. wait is set if it may soon be decided otherwise.
func (c *call) decideToolCallNow(ctx context.Context, parts []part) (v Verdict, wait bool) {
	var s *state.State
	dir, s, err := c.Open(ctx)
	if err == nil {
		defer c.Release(dir)
	} else if s, err = c.Now(context.WithoutCancel(ctx)); err != nil { // also if the wait for the lock has taken all the time
		return c.trouble(err), false
	}
	v, lines, wait := c.decideCall(s, parts)
	if wait {
		return v, true
	}
	if c.observes() {
		v, lines = c.observeCall(v, lines)
	}
	lines = slices.DeleteFunc(lines, func(e state.Evidence) bool { return isOnRecord(s, e) })
	if dir != nil {
		err = c.Write(dir, s, lines)
	} else {
		err = c.WriteLate(lines)
	}
	if err != nil {
		v = c.decisionUnrecorded(v, err)
	} else {
		c.LogDecisions(s, lines)
	}
	return c.withTroubles(dir, v, s), false
}

// isOnRecord reports whether another process, in which the same hook ran for the same call, has
// recorded the same.
func isOnRecord(s *state.State, e state.Evidence) bool {
	return e.Use != "" && slices.ContainsFunc(s.Calls, func(o state.Evidence) bool { return o.Use == e.Use && o.CallKey() == e.CallKey() })
}

// decideCall decides about the parts of a call: each must belong to a step in progress, or be
// let through by a person.
func (c *call) decideCall(s *state.State, parts []part) (v Verdict, lines []state.Evidence, wait bool) {
	v = Verdict{Decision: state.Allow}
	var permits []state.Evidence
	for _, p := range parts {
		owners := ownersOf(s, p)
		i := slices.IndexFunc(owners, func(o owner) bool { return letsCalls(s, o.Current) })
		switch {
		case len(owners) == 0:
			if gone, ok := missingOwner(s, p); ok {
				lines = append(lines, c.callLine(s, gone, Verdict{Decision: state.Allow, Why: "its step is gone from the task list"}))
				v.Trouble = message.Join(v.Trouble, message.ForPerson(s.ToldMissing(gone.Current)))
			}
		case i >= 0:
			lines = append(lines, c.callLine(s, owners[i], Verdict{Decision: state.Allow, Why: "its step is in progress"}))
			v.Step = owners[i].ID
		default:
			yes, ok := permitFor(s, p, c.update.Use)
			if !ok {
				return c.refuse(s, p, owners)
			}
			used := c.callLine(s, owners[0], Verdict{Decision: state.Allow, Why: "a person let it through once"})
			used.Permit, used.Rule = yes.Permit, yes.Rule
			permits = append(permits, used)
			v.Step = owners[0].ID
		}
	}
	return v, append(lines, permits...), false
}

// refuse denies a call because of one of its parts, unless it is worth waiting.
func (c *call) refuse(s *state.State, p part, owners []owner) (v Verdict, lines []state.Evidence, wait bool) {
	if c.mayStart(s, owners) {
		return v, nil, true
	}
	o := slices.MinFunc(owners, func(a, b owner) int { return distance(s, a.Current) - distance(s, b.Current) })
	v = deny(o.Current, "only: "+p.subject(), c.refusal(s, p, owners))
	e := c.callLine(s, o, v)
	n := 1
	for _, old := range slices.Backward(s.Calls) {
		if old.Step == o.ID && old.Rule == o.text {
			if old.Refuses() && old.Of == v.of {
				n = 1 + max(1, old.Times)
			}
			break
		}
	}
	if n > 1 {
		e.Times = n
	}
	if n >= state.MaxRepeats {
		v.Reason += ".\nThis is the same refusal for the " + message.Nth(n) + " time: stop trying, and ask the person what to do"
	}
	return v, []state.Evidence{e}, false
}

// refusal is the reason of a denial, for the agent.
func (c *call) refusal(s *state.State, p part, owners []owner) string {
	var belongs []string
	for _, o := range owners {
		belongs = append(belongs, o.Name()+", "+whyRefused(s, o.Current))
	}
	if len(belongs) > message.MaxNamed {
		belongs = append(belongs[:message.MaxNamed:message.MaxNamed], fmt.Sprintf("%d more", len(belongs)-message.MaxNamed))
	}
	text := p.subject() + " belongs to " + strings.Join(belongs, "; and to ") + "."
	if p.Doubt != nil {
		text += " It cannot be told whether this line runs it (" + message.Clip(message.Words(p.Doubt.Error()), message.MaxSubject) +
			"). Write the line plainly: each command by itself and literally, and a text that has its words in a file."
	}
	if now := s.PossibleOf(func(c *state.Current) bool { return c.Workflow == owners[0].Workflow }); now != "" {
		text += " " + now + "."
	}
	return message.Clip(text, state.MaxReason) +
		"\nA person can let one such call through, in a terminal outside the client: fsmtx step allow " +
		shell.Quote(owners[0].text) +
		` --because "..." ` + c.listFlag()
}

// whyRefused says why a step does not let its calls through.
func whyRefused(s *state.State, c *state.Current) string {
	open := s.OpenBlockers(c)
	switch {
	case c.Done():
		return "which " + s.Ended(c)
	case len(open) > 0:
		return "which waits for " + state.Names(open)
	case s.Checking(c.ID):
		return "whose check is running"
	}
	return "which is not in progress: start it first"
}

// distance orders steps by how soon they may be in progress.
func distance(s *state.State, c *state.Current) int {
	switch {
	case c.Done():
		return 2
	case len(s.OpenBlockers(c)) > 0:
		return 1
	}
	return 0
}

// owner is a step to which a call belongs, with the rule by which it does.
type owner struct {
	*state.Current
	text string
}

// ownersOf returns the steps to which a part of a call belongs now. A step belongs to nobody's
// calls any more when its workflow is over, it is gone from the list, or a person skipped it.
//
// Those of a step that is done for each line belong to its copies, as soon as it has some.
func ownersOf(s *state.State, p part) (all []owner) {
	for _, l := range p.listed {
		c := s.Step(l.step.ID)
		if c == nil || c.Gone() || c.Outcome == machine.Skipped && !c.NotNeeded || s.Finished(c.Workflow) || p.isOfCopies(s, c, l.text) {
			continue
		}
		if !slices.ContainsFunc(all, func(o owner) bool { return o.Current == c }) {
			all = append(all, owner{c, l.text})
		}
	}
	return all
}

// missingOwner returns a step to which a part of a call would belong, had its task not been removed as a file.
func missingOwner(s *state.State, p part) (owner, bool) {
	for _, l := range p.listed {
		if c := s.Step(l.step.ID); c != nil && s.IsMissing(c) {
			return owner{c, l.text}, true
		}
	}
	return owner{}, false
}

// isOfCopies reports whether copies of a step that is done for each line list the rule.
func (p part) isOfCopies(s *state.State, c *state.Current, rule string) bool {
	return c.Each != nil && slices.ContainsFunc(p.listed, func(l listing) bool {
		return l.text == rule && l.step.Workflow.Item != "" && l.step.Workflow.Parent == c.ID
	})
}

// letsCalls reports whether a step lets its calls through: it is in progress, or a step under it is;
// and not only because a script wrote so before its turn.
func letsCalls(s *state.State, c *state.Current) bool {
	if c.Done() || len(s.OpenBlockers(c)) > 0 {
		return false
	}
	return c.Status == workflow.InProgress || slices.ContainsFunc(s.Under(c), func(w *workflow.Workflow) bool {
		return slices.ContainsFunc(s.OpenIn(w), func(c *state.Current) bool { return letsCalls(s, c) })
	})
}

// mayStart reports whether one of the steps may soon be in progress: its start is let through, or
// a call of the same message may start it.
func (c *call) mayStart(s *state.State, owners []owner) bool {
	waited := s.Time.Sub(c.begun)
	if c.update.Use == "" || waited > patience {
		return false
	}
	return slices.ContainsFunc(owners, func(o owner) bool {
		if o.Done() || slices.ContainsFunc(s.OpenBlockers(o.Current), func(b *state.Current) bool { return !s.BeingLetThrough(b) }) {
			return false
		}
		return waited < grace || o.Status == workflow.Pending && s.IsOnItsWay(o.Current, workflow.InProgress, patience)
	})
}

// callLine is the line of evidence about a call.
func (c *call) callLine(s *state.State, o owner, v Verdict) state.Evidence {
	by := state.By{Who: state.TheAgent, How: state.ByCall, Session: c.Session, Agent: c.update.Agent}
	if v.Decision == state.Deny {
		by.Who = state.Fsmtx
	}
	return state.Evidence{Time: s.Time, Step: o.ID, From: o.Status, To: o.Status, Verdict: v.Decision, Why: v.Why, Of: v.of, Rule: o.text,
		Agent: c.update.Agent, By: by, Use: c.update.Use}
}

// permitFor returns a person's yes that covers a part of a call and is not used up by another call.
func permitFor(s *state.State, p part, use string) (state.Evidence, bool) {
	for _, e := range s.Calls {
		rule, ok := permission.Parse(e.Rule)
		if e.Verdict != state.Permitted || !ok || !p.isCovered(rule, p.listed[0].step.Workflow.Dir) {
			continue
		}
		used := slices.ContainsFunc(s.Calls, func(o state.Evidence) bool {
			return o.Verdict == state.Allow && o.Permit == e.Permit && (use == "" || o.Use != use)
		})
		if !used {
			return e, true
		}
	}
	return state.Evidence{}, false
}

// Errors of Permit.
var (
	// errNoRule is returned for a rule that covers no call which belongs to a step.
	errNoRule = message.NewError("no step of this task list lists such calls", "fsmtx status lists the rules of the steps")
	// errNotRefused is returned for calls that are let through anyway.
	errNotRefused = message.NewError("these calls are not refused now", "nothing was recorded")
)

// Permit lets one call through that belongs to a step which is not in progress. text is a rule
// of a step, or a narrower one without *. It returns the steps to which the call belongs.
//
// Errors: errNoRule, errNotRefused, those of Load and of tasks.List.Open.
func (f *Frame) Permit(ctx context.Context, text, because string, by state.By) (owners []*state.Current, err error) {
	r, err := f.OnRecord()
	if err != nil {
		return nil, err
	}
	err = f.changing(ctx, "", func(c *call, dir *txn.Dir, s *state.State) error {
		found, err := mayPermit(r.Steps, s, text)
		if err != nil {
			return err
		}
		for _, o := range found {
			owners = append(owners, o.Current)
		}
		by.Session = cmp.Or(by.Session, f.Session)
		return c.Record(dir, s, []state.Evidence{{Time: s.Time, Step: found[0].ID, From: found[0].Status, To: found[0].Status,
			Verdict: state.Permitted,
			Why:     because, Rule: text, Permit: rand.Text(), By: by}})
	})
	return owners, err
}

// MayPermit returns why no call that the rule covers can be let through once.
//
// Errors: errNoRule, errNotRefused, those of Load.
func (f *Frame) MayPermit(ctx context.Context, text string) error {
	r, err := f.OnRecord()
	if err != nil {
		return err
	}
	s, err := f.Now(ctx)
	if err != nil {
		return err
	}
	_, err = mayPermit(r.Steps, s, text)
	return err
}

// mayPermit returns the steps to which a call that the rule covers belongs.
func mayPermit(all state.RecordedSteps, s *state.State, text string) ([]owner, error) {
	listed := listingsOf(all, text)
	if len(listed) == 0 {
		return nil, fmt.Errorf("%s: %w%s", text, errNoRule, rulesText(all))
	}
	found := ownersOf(s, part{listed: listed})
	if i := slices.IndexFunc(found, func(o owner) bool { return letsCalls(s, o.Current) }); i >= 0 {
		return nil, fmt.Errorf("%s: %w: %s is in progress", text, errNotRefused, found[i].Name())
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: %w: the workflow is over, or the step was skipped", text, errNotRefused)
	}
	return found, nil
}

// listingsOf returns the rules of steps that a person's rule is about: the same one, or one that
// covers the call which the person's rule spells out.
func listingsOf(all state.RecordedSteps, text string) (found []listing) {
	list := rulesOf(all)
	found = slices.DeleteFunc(slices.Clone(list), func(l listing) bool { return l.text != text })
	rule, ok := permission.Parse(text)
	if len(found) > 0 || !ok || strings.Contains(text, "*") {
		return found
	}
	x := ToolCall{Tool: rule.Tool}
	if permission.IsShell(rule.Tool) {
		x.Line = rule.Content
	} else {
		x.Path = rule.Content
	}
	for _, p := range x.covered(list) {
		found = append(found, p.listed...)
	}
	return found
}

// rulesText lists the rules of the steps, for a message.
func rulesText(all state.RecordedSteps) string {
	var texts []string
	for _, l := range rulesOf(all) {
		if !slices.Contains(texts, l.text) {
			texts = append(texts, l.text)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return ". They list " + message.Sentence(texts)
}

// RuleFault returns why a text is not a permission rule for calls of steps, or "".
func RuleFault(text string) string { return fsmspec.RuleFault(text) }
