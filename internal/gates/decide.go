package gates

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// decision is what follows from the state of a list, an update, and what is known about
// gates so far. It is a value; call.carryOut does what it says.
type decision struct {
	verdict Verdict
	lines   []state.Evidence // to be recorded, whether or not the update is decided
	own     bool             // the last of them records the update itself

	// What is missing, if the update is not decided. With it, the decision is taken again
	// from the state of that time.
	files   []lookup       // look for these files
	check   *run           // run this command
	source  *state.Current // read the file whose lines this step is done for
	content bool           // find out on what the completion stands
	wait    bool           // try again after other calls have changed the list

	// claim has the steps that this update is about to complete, for other calls to know.
	claim []int64
}

func (d decision) decided() bool {
	return len(d.files) == 0 && d.check == nil && d.source == nil && !d.content && !d.wait
}

// run is a command of a gate.
type run struct {
	step *state.Current
	kind fsmspec.GateKind
	*fsmspec.Check
	variables []string // for its environment
}

// lookup is the files of a gate.
type lookup struct {
	step *state.Current
	kind fsmspec.GateKind
	facts.Wanted
	said []string // files that were there before and were already reported as unchanged
}

// Limits of the wait for other updates. The client runs the calls of one message and their
// hooks independently of each other, and in any order (fact 39, client 2.1.329): a hook may
// wait until another one lets the step before its own through.
const (
	patience = 5 * time.Second        // while it is being let through
	grace    = 300 * time.Millisecond // while nothing about it is on record yet
)

// decide decides the update of the call. It owns s, and touches nothing else.
func (c *call) decide(s *state.State) decision {
	target := s.Step(c.target.ID)
	if target == nil { // a recovery has taken the step out of the list, or the client has removed a list that is done
		return decision{}
	}
	waits := c.awaitsStart(s, target) // before the decision adds to the evidence what is not on record yet
	d := c.asTwin(s, target, c.decideAbout(s, target))
	switch {
	case d.check != nil && c.Planning:
		return c.finalDecision(s, target, planning(target, d.check, c.update.Status), d.lines)
	case d.decided() && d.verdict.Allowed() && waits:
		return decision{wait: true, claim: []int64{target.ID}}
	}
	return d
}

// awaitsStart reports whether a completion has to wait for a start of the same message: for one that was let through and has not
// reached the list, or, if nothing is on record yet, for one that may come.
func (c *call) awaitsStart(s *state.State, target *state.Current) bool {
	if c.update.Use == "" || c.asks || c.update.Status != workflow.Completed || target.Status != workflow.Pending {
		return false
	}
	since := c.begun
	if e, ok := s.Last(target.ID); ok && e.To == workflow.InProgress && e.Verdict == state.Allow {
		return s.IsYoung(e.Time, patience)
	}
	for _, id := range target.BlockedBy { // a start may have waited for these
		if e, ok := s.Last(id); ok && e.Time.After(since) && e.Time.Before(s.Time) {
			since = e.Time
		}
	}
	return s.IsYoung(since, grace)
}

// asTwin returns the decision of a call whose denial is on record: the same is said, and nothing is recorded.
func (c *call) asTwin(s *state.State, target *state.Current, d decision) decision {
	switch {
	case c.twin == nil || !d.decided() && d.check == nil:
		return d
	case !d.decided() || d.verdict.Decision != state.Deny || d.verdict.of != c.twin.Of: // something has changed since
		d.verdict = twinVerdict(s, target, *c.twin)
	}
	return decision{verdict: d.verdict}
}

// decideAbout is decide for any mode of the agent.
func (c *call) decideAbout(s *state.State, target *state.Current) decision {
	if v := keep(s, target, c.update); !v.Allowed() {
		return c.finalDecision(s, target, v, nil)
	}
	if !slices.Contains([]string{workflow.Pending, workflow.InProgress, workflow.Completed}, c.update.Status) {
		return decision{}
	}
	if v := c.denyIgnored(s, target); !v.Allowed() {
		return c.finalDecision(s, target, v, nil)
	}
	if e, ok := c.decidedTwin(s); ok && e.Verdict == state.Deny && c.twin == nil {
		c.twin = &e
		if e.Check != nil && e.Gate != "" { // which is not run again
			f := c.workplace(target.Workflow)
			again := *e.Check
			again.Output, again.Cut = c.printed, !c.kept
			f.result = &again
			c.facts[factKey{target.ID, e.Gate}] = f
		}
	} else if ok && c.twin == nil {
		v := twinVerdict(s, target, e)
		if v.Decision == state.Ask {
			v = c.repeated(target, v, max(e.Times, 1))
		}
		return decision{verdict: v}
	}
	if hasTwin(s, c.update, c.id) {
		return decision{wait: true}
	}
	s.Pending = slices.DeleteFunc(slices.Clone(s.Pending), func(p state.Pending) bool { return p.Call == c.id })
	if v := c.running(s, target); !v.Allowed() {
		return c.finalDecision(s, target, v, nil)
	}
	lines := append(s.RecordSeen(c.sender(c.update)), c.lapseOver(s)...)
	if v, ok := c.ungated(s, target); ok {
		return c.finalDecision(s, target, v, lines)
	}
	// A target that was completed outside fsmtx is checked against its own gates only, so each of several can be put right by itself.
	if target.Status != workflow.Completed {
		d, ok := c.decideSeen(s, target, lines)
		if !ok {
			return d
		}
		lines = d.lines
		if v, ok := c.ungated(s, target); ok { // how another step ended may have ended this one
			return c.finalDecision(s, target, v, lines)
		}
	}
	return c.decideOrder(s, target, lines)
}

// ungated returns the verdict on an update that no gate decides about. ok is false for another.
func (c *call) ungated(s *state.State, target *state.Current) (v Verdict, ok bool) {
	switch {
	case target.Gone(), c.update.Status == workflow.Pending && (target.Unread || !target.Done()):
		return Verdict{Why: "no gate applies"}, true
	case target.Done() && c.update.Status == workflow.Completed:
		v := Verdict{Why: "it was over already", over: true}
		if word := state.OutcomeIn(c.update.Metadata); word != "" && word != target.Outcome {
			// else the agent would think that the outcome was accepted
			v.Told = message.ForAgent("This changes nothing: " + isDone(s, target, c.listFlag()).Reason)
		}
		return v, true
	case target.Done() && !target.Unread:
		return isDone(s, target, c.listFlag()), true
	}
	return Verdict{}, false
}

// denyIgnored refuses what a command or a tool of the MCP server says of a step that is done: the
// caller would think that it was accepted.
func (c *call) denyIgnored(s *state.State, target *state.Current) Verdict {
	members, _ := jsonx.Members(c.update.Values)
	given := slices.Sorted(maps.Keys(members))
	isAnother := c.update.Outcome != "" && c.update.Outcome != target.Outcome || !c.repeats(target, given)
	if c.Apply && target.Done() && isAnother {
		return isDone(s, target, c.listFlag())
	}
	return Verdict{}
}

// repeats reports whether the values given are those that the step has given.
func (c *call) repeats(target *state.Current, given []string) bool {
	return !slices.ContainsFunc(given, func(name string) bool {
		text, ok := state.ValueText(jsonx.Member(c.update.Values, name))
		return !ok || target.Values[name] != text
	})
}

// isDone refuses to open a step that is done: only an outcome or a person does that, and what is closed stays so.
func isDone(s *state.State, c *state.Current, list string) Verdict {
	how := s.Ended(c)
	if e, ok := s.Last(c.ID); ok && e.Lets() && e.ForAgent() != "" {
		how = e.ForAgent()
	} else if c.Outcome != machine.Done && s.Word(c) == state.IsDone {
		how += " as " + c.Outcome
	}
	if s.IsClosed(c.Workflow) {
		v := deny(c, "it is not needed", fmt.Sprintf("%s is not needed any more%s. %s", c.Name(), s.WhyClosed(c.Workflow), s.Possible()))
		v.past.forbidden = true
		return v
	}
	it, again := "it", decidedBy(s, c)
	if again != c {
		it = "#" + message.Itoa(again.ID)
	}
	v := deny(c, "it "+how, fmt.Sprintf(`%s %s. A person can open %s again in a terminal: fsmtx step reopen %d --because "..." %s`,
		c.Name(), how, it, again.ID, list))
	v.past.forbidden = true
	return v
}

// decideOrder decides about a change that needs the steps before the target to be done.
// lines are to be recorded in any case.
func (c *call) decideOrder(s *state.State, target *state.Current, lines []state.Evidence) decision {
	if v := order(s, target, c.update); !v.Allowed() {
		if c.isWorthWaiting(s, target) {
			d := decision{lines: lines, wait: true}
			if c.update.Status == workflow.Completed {
				d.claim = []int64{target.ID}
			}
			return d
		}
		return c.finalDecision(s, target, v, lines)
	}
	if target.Unread { // how it ends is not known, so its gates are evaluated once its record can be read
		return c.finalDecision(s, target, c.reasoned(target, Verdict{}), lines)
	}
	if e := (&ending{c: c, s: s, step: target}); c.update.Status == workflow.Completed {
		if _, ok := e.word(); !ok {
			return c.finalDecision(s, target, e.verdict, lines)
		}
	}
	if target.Status == workflow.Pending && (c.update.Status != workflow.Completed || s.AwaitsLines(target, workflow.Completed)) {
		if d, ok := c.decideStart(s, target, lines); !ok {
			return d
		}
	}
	switch {
	case s.AwaitsLines(target, c.update.Status):
		return c.decideLines(s, target, lines)
	case c.update.Status == workflow.Completed:
		return c.decideEnd(s, target, lines)
	}
	return c.finalDecision(s, target, c.reasoned(target, Verdict{}), lines)
}

// decideStart evaluates the gates of the target's start. ok is false if one denies, or something is missing.
func (c *call) decideStart(s *state.State, target *state.Current, lines []state.Evidence) (d decision, ok bool) {
	e := &ending{c: c, s: s, step: target}
	for _, g := range target.Gates() {
		switch {
		case g.When != fsmspec.AtStart || e.pass(g):
		case !e.missing.decided():
			e.missing.lines = lines
			return e.missing, false
		default:
			return c.finalDecision(s, target, e.verdict, lines), false
		}
	}
	return decision{}, true
}

// lookupOf says what has to be looked for because of a gate.
func lookupOf(s *state.State, b *state.Current, g fsmspec.Gate) lookup {
	l := lookup{step: b, kind: g.Kind, Wanted: facts.Wanted{Patterns: g.Patterns, Anywhere: g.Kind == fsmspec.ReadyFiles}}
	if g.Kind != fsmspec.ReadyFiles {
		l.Was, l.said = filesWere(s, b)
	}
	return l
}

// blamed returns the denial of an update because of another step, which was completed without its
// gates being checked.
func blamed(b *state.Current, v Verdict) Verdict {
	v.Reason = b.Name() + " was completed past the hooks and does not pass its gates, so no other step is let through. " + v.Reason
	v.gate, v.past.step, v.Why = fsmspec.InOrder, b.ID, "first #"+message.Itoa(b.ID)+": "+v.Why
	return v
}

// reasoned gives an allowed update its reason in a few words.
func (c *call) reasoned(target *state.Current, v Verdict) Verdict {
	switch {
	case !v.Allowed() || v.Why != "":
	case v.Check != nil && !v.Check.Passed():
		v.Why = "its check failed" // and another outcome follows from that
	case v.Check != nil && target.HasCheck(v.Check.Run):
		v.Why = "its check passed"
	}
	return v
}

// isWorthWaiting reports whether the steps before the target may be done soon, by other
// calls of the same message.
func (c *call) isWorthWaiting(s *state.State, target *state.Current) bool {
	if c.update.Use == "" {
		return false // not a call of a message
	}
	waited := s.Time.Sub(c.begun)
	if waited < grace {
		return true
	}
	return waited < patience && !slices.ContainsFunc(s.OpenFor(target, c.update.Status),
		func(b *state.Current) bool { return !s.BeingLetThrough(b) })
}

// decidedTwin returns the decision about the same call of the agent that another process has made. The hook may be registered both
// by a plugin and in the settings. The client starts both at the same time, or one after the other.
func (c *call) decidedTwin(s *state.State) (state.Evidence, bool) {
	u := c.update
	for _, e := range slices.Backward(s.Evidence) {
		if u.Use != "" && e.Use == u.Use && message.Itoa(e.Step) == u.Task && (e.To == u.Status || len(e.Reopens) > 0) {
			return e, true
		}
	}
	return state.Evidence{}, false
}

// twinVerdict returns the verdict of a call that another process has decided. It is said again,
// because that process may have been killed before it answered.
func twinVerdict(s *state.State, c *state.Current, e state.Evidence) Verdict {
	v := Verdict{Decision: e.Verdict, Step: c.ID, of: e.Of, Why: e.Why}
	switch {
	case len(e.Reopens) > 0:
		v.Turn = &Turn{e.Outcome, message.ForAgent(s.TurnedBy(e))}
	case e.Verdict == state.Deny:
		v.Reason = c.Name() + " " + e.ForAgent()
	case e.Verdict == state.Ask:
		asked := *c
		asked.Approval = e.Question
		v.Reason, v.Outcome = approval(&asked).Reason, outcomeToSay(c, e.Outcome)
	}
	return v
}

// hasTwin reports whether another process is deciding the same call.
func hasTwin(s *state.State, u Update, call string) bool {
	return u.Use != "" && slices.ContainsFunc(s.Pending,
		func(p state.Pending) bool { return p.Use == u.Use && p.Call != call && message.Itoa(p.Step) == u.Task })
}

// running denies an update of a step whose check is running in another call, unless it starts the step: that call completes it then. A
// start that comes when another call of its message has completed the step would open it again.
func (c *call) running(s *state.State, target *state.Current) (v Verdict) {
	e, known := s.Last(target.ID)
	known = known && e.Round == target.Round && e.Verdict != state.Reached // else it is open again, or was done before
	switch starts := c.update.Status == workflow.InProgress; {
	case starts && known && e.Lets() && e.To == workflow.Completed && c.update.Use != "" && !e.Time.Before(c.begun):
		v = deny(target, "it is done", target.Name()+" was completed by another call of this message, so it need not be started")
	case s.Checking(target.ID) && !(starts && target.Status == workflow.Pending):
		v = deny(target, "its check is running",
			target.Name()+" is being completed by another call, whose check is running: wait until it ends")
		v.until = true
	default:
		return Verdict{}
	}
	v.past.forbidden = true
	return v
}

// seenLine records the verdict on a step that was completed in another way.
func (c *call) seenLine(s *state.State, b *state.Current, v Verdict) state.Evidence {
	e := state.Evidence{Time: s.Time, Step: b.ID, From: workflow.Completed, To: workflow.Completed, Verdict: state.Allow,
		Why: "it was completed past the hooks, and its gates hold", Check: v.Check, By: c.seenBy(c.update, v), Tree: c.tree(b),
		Unchanged: v.unchanged, Watched: v.watched, Gaps: append([]state.Gap{state.Otherwise}, v.gaps...),
		Content: c.content(b)}
	if !v.Allowed() {
		e.Verdict, e.Why, e.Gate, e.Of = state.Deny, v.Why, v.gate, v.of
	}
	return e
}

// finalDecision returns the decision v about the update, with the line that records it. A denial or
// a question that is repeated tells the agent to stop trying.
func (c *call) finalDecision(s *state.State, target *state.Current, v Verdict, lines []state.Evidence) decision {
	if v.Decision == "" {
		v.Decision = state.Allow
	}
	if target.Unread {
		v.gaps = append(slices.Clone(v.gaps), state.Unread)
	}
	v, wouldRefuse := c.observed(v)
	if c.isUnseen() {
		v.gaps = append(slices.Clone(v.gaps), state.Unseen)
	}
	e := state.Evidence{
		Time: s.Time, Step: target.ID, From: target.Status, To: c.update.Status, Verdict: v.Decision,
		Why: v.Why, Note: c.update.Note, Agent: c.update.Agent, Check: v.Check, By: c.by(c.update, v), Use: c.update.Use,
		Tree: c.tree(target), Unchanged: v.unchanged, Watched: v.watched, Question: v.question, Gaps: v.gaps,
		Content: c.content(target),
	}
	if v.declined {
		e.Verdict = state.Declined
	}
	if e.To == workflow.InProgress && e.Verdict == state.Allow {
		e.Files = c.watch
	}
	if target.Within > 0 && e.To == workflow.InProgress {
		e.Round = target.Round
	}
	if v.over {
		e.Verdict, e.To = state.Noted, e.From
	}
	if v.Decision == state.Allow && e.From == e.To && e.Note == "" && (target.Done() || e.To != workflow.Completed) || target.Gone() ||
		v.over && !v.Allowed() {
		return decision{verdict: v, lines: lines} // nothing changes
	}
	if v.Decision == state.Ask {
		v.qualify(&e)
	}
	if v.Decision == state.Allow && e.To == workflow.Completed {
		e.Files = c.lists
	}
	if wouldRefuse {
		e.Gate = v.gate
		c.endsObserved(s, target, &e)
	}
	if !v.Allowed() {
		e.Gate, e.Of = v.gate, v.of
		n := s.Repeats(e) + 1
		switch {
		case c.twin != nil:
			n = max(c.twin.Times, 1)
		case v.Check != nil && v.Check.Interrupted: // it has not failed
			n = 1
		}
		if n > 1 {
			e.Times = n
		}
		v = c.repeated(target, v, n)
	}
	return decision{verdict: v, lines: append(lines, e), own: true}
}

// qualify adds to the question what the person has to know before they say yes.
func (v *Verdict) qualify(e *state.Evidence) {
	if text := v.watched.Weakened(); text != "" {
		v.Reason += "\n(Of " + text + ".)"
		e.Question += "\n(Of " + text + ".)"
	}
	if slices.Contains(v.gaps, state.ChecksOff) {
		v.Reason += "\n(Its check is not run: checks are off.)"
		e.Question += "\n(Its check is not run: checks are off.)"
	}
	if len(v.unchanged) > 0 {
		v.Reason += "\n(" + state.Quoted(v.unchanged) + " was not changed for it.)"
	}
}

// repeated says in the reason how often the same was refused or asked.
func (c *call) repeated(target *state.Current, v Verdict, n int) Verdict {
	switch {
	case v.Decision == state.Ask && c.Apply: // the caller asks the person itself, or says that it cannot
	case v.Decision == state.Ask:
		v.Reason += unanswered(n, state.ApproveCommand(target.ID, v.Outcome, c.listFlag()))
	case v.until, c.Via.Who == state.ThePerson: // these are not counted
	case n >= state.MaxRepeats:
		v.past.only = true
		v.Reason += ".\nThis is the same refusal for the " + message.Nth(n) + " time: stop trying, and ask the person what to do"
	}
	return v
}
