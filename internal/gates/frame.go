package gates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// CallLimit is the time limit with which the hook on TaskUpdate is registered. It is above
// the limit of the longest check, because the decision of a hook that is killed at its
// limit is lost (fact 46, client 2.1.329).
const CallLimit = 1860 * time.Second

// callMargin is the part of a call's time limit that is reserved for everything but
// checks.
const callMargin = 30 * time.Second

// Frame decides about the updates of one list. An update is decided in rounds: the state of
// the list is read under its lock; call.decide returns a decision, as a value; carryOut does
// what it says. If something is missing, it is found out without any lock, and the next
// round begins.
type Frame struct {
	state.Store

	Env      []string      // environment of checks
	Limit    time.Duration // of the whole call; 0 is CallLimit
	NoChecks func() bool   // no command of a workflow is run; nil is no
	Observe  func() bool   // what gates refuse, or ask about, is put on record and let through; nil is no
	Planning bool          // the agent is in plan mode: an update that needs a command to run is denied

	// Began is when the process began that serves this call only; zero is now.
	Began time.Time

	// Interruptible returns a context that is cancelled by the signals that end this
	// program. It is called before a check runs; nil leaves the context as it is.
	Interruptible func(context.Context) (context.Context, context.CancelFunc)

	// Apply makes the Frame change the task's status itself, under the client's locks,
	// when the gates allow it. It is for callers without a client that does. The update
	// is then denied if the gates cannot be evaluated, because nothing was changed.
	Apply bool

	// Via is who sends the updates, and by which way; empty is an agent, by the client's
	// TaskUpdate. Its Session and Agent are not used.
	Via state.By

	// Unseen reports that the client whose hooks see the commands of its agent has not seen this one. Nil is no.
	Unseen func() bool

	// Questions is the tool by which the agent asks the person, if the answers are heard; see
	// Chosen. It is empty if the agent has no such tool.
	Questions string

	agreed bool // the person has said yes in a terminal: no step that was completed past the hooks holds theirs up

	// Answerers returns the hooks that may have answered for the person when they were asked. Nil returns none.
	Answerers func() []state.Answerer
}

// observes reports whether nothing is refused.
func (f *Frame) observes() bool { return f.Observe != nil && f.Observe() }

// checksOff reports whether no command of a workflow is run.
func (f *Frame) checksOff() bool { return f.NoChecks != nil && f.NoChecks() }

// call is one update that is being decided.
type call struct {
	*Frame
	id         string // unique, for its pending records
	update     Update
	steps      state.RecordedSteps
	troubles   []error             // about the record
	target     *state.RecordedStep // the step that the update is about
	begun      time.Time
	unattended bool // the client cannot ask a person at this event

	facts map[factKey]fact
	lists map[string]string // see digestLists; as they were when a gate was last evaluated
	watch map[string]string // see watchedNow

	stood    *git.Content           // on what a completion without a command stands; see content
	looked   bool                   // stood was found out, or nobody asks for it
	ranOn    map[int64]*git.Content // on what the commands of steps ran, by the number of the step
	claimed  bool                   // there are pending records of this call
	lockless bool                   // the lock could not be had a moment ago
	asks     bool                   // see Question
	twin     *state.Evidence        // the denial of this call that another process has recorded
	state    *state.State           // in which the decision was carried out; nil before that
	printed  string                 // what the check of that call has printed, if it was kept
	kept     bool
	seen     []state.Evidence // lines of earlier rounds that nobody has been told of yet
}

// Update decides an update, and records the decision. An update that is not about a step
// is allowed; it locks and writes nothing.
func (f *Frame) Update(ctx context.Context, u Update) Verdict {
	c, v := f.begin(ctx, u)
	if c == nil {
		return v
	}
	return f.withPastHint(c, c.run(ctx), func(key string) bool { return f.AlreadyTold(ctx, key) })
}

// Question decides an update that a command is about to make, as far as the person has to be asked: a denial
// and a question are recorded as by Update. An update that needs no person is allowed and not recorded,
// because the command decides it. Answered applies the answer, without evaluating the gates again.
func (f *Frame) Question(ctx context.Context, u Update) Verdict {
	c, v := f.begin(ctx, u)
	if c == nil {
		return v
	}
	c.asks = true
	return f.withPastHint(c, c.run(ctx), func(key string) bool { return f.AlreadyTold(ctx, key) })
}

// Completed decides about a step that the client is about to complete, in case no hook saw
// the update. The gates are not evaluated again for a completion that was allowed.
func (f *Frame) Completed(ctx context.Context, u Update) Verdict {
	c, v := f.begin(ctx, u)
	if c == nil {
		return v
	}
	s, err := c.Now(ctx)
	if err != nil {
		return f.trouble(err)
	}
	target := s.Step(c.target.ID)
	e, known := s.Last(target.ID)
	switch {
	case target.Done(), known && e.To == workflow.Completed && e.Lets():
		return f.repaired(ctx)
	case known && e.To == workflow.Completed && isAsked(s, target): // the client completes a step about which it asked only after a yes
		if v := f.mayBeAnother(s, target); v != nil {
			no := state.Evidence{Time: s.Time, Step: target.ID, From: target.Status, To: workflow.Completed, Verdict: state.Deny, Why: v.Why,
				Agent: e.Agent,
				By:    state.By{Who: state.TheCommand, How: state.ByApproval, Session: f.Session, Agent: e.Agent}}
			if noted := c.noted(ctx, s, no); noted.Trouble != "" {
				v.Trouble = noted.Trouble
			}
			return *v
		}
		return c.noted(ctx, s, s.Yes(e, target.Status, f.saidYes(), f.person(state.ByApproval, e.Agent)))
	}
	c.unattended = true
	return f.withPastHint(c, c.run(ctx), func(key string) bool { return f.AlreadyTold(ctx, key) })
}

// saidYes says who answered the client's question.
func (f *Frame) saidYes() string {
	if f.Answerers != nil {
		if others := f.Answerers(); len(others) > 0 {
			return message.Sprintf("a person said yes, or %s did for them", others[0].Name)
		}
	}
	return "a person said yes"
}

// isAsked reports whether the last decision about the step is a question to a person.
func isAsked(s *state.State, c *state.Current) bool {
	e, ok := s.Latest(c.ID)
	_, stands := s.Last(c.ID)
	return ok && e.Verdict == state.Ask && stands
}

// begin returns the call of an update. If the update is not about a step, it returns nil and
// the verdict.
func (f *Frame) begin(ctx context.Context, u Update) (*call, Verdict) {
	r, err := f.OnRecord()
	if err != nil {
		return nil, f.trouble(err)
	}
	target := r.Steps.Find(u.Task)
	if target == nil {
		if words := r.Departed.Of(u.Task); words != "" {
			return nil, wentOn(u.Task, words)
		}
		t, err := state.TaggedTask(f.List.Dir, u.Task)
		if err != nil {
			return nil, f.trouble(err)
		}
		if t != nil {
			return nil, f.unrecordedTask(ctx, t, len(r.Steps) > 0)
		}
		if target = blockedAnew(r.Steps, u); target == nil { // of a task that is no step
			return nil, f.repaired(ctx)
		}
	}
	c := &call{Frame: f, id: state.NewCallID(), update: u, steps: r.Steps, target: target, begun: f.Began, facts: map[factKey]fact{},
		ranOn: map[int64]*git.Content{}}
	if c.begun.IsZero() {
		c.begun = time.Now()
	}
	c.troubles = r.Troubles()
	if target.Unread && f.Apply && u.Outcome != "" { // only its record says what that leads to
		return nil, f.trouble(errors.Join(c.troubles...))
	}
	return c, Verdict{}
}

// wentOn refuses an update of a step whose workflow goes on in another list.
func wentOn(task, words string) Verdict {
	v := Verdict{Decision: state.Deny, Why: "it goes on elsewhere",
		Reason: message.Sprintf("#%s is not decided about in this list: %s", task, words)}
	v.past.forbidden = true
	return v
}

// repaired makes the list show the state of its workflows, at an event that is about none of their steps.
func (f *Frame) repaired(ctx context.Context) Verdict {
	trouble, _ := f.Redo(ctx) // the next event tries again
	return Verdict{Trouble: message.ForPerson(trouble)}
}

// blockedAnew returns a step that the update would block on a task which is not a step,
// or nil.
func blockedAnew(all state.RecordedSteps, u Update) *state.RecordedStep {
	for _, id := range u.AddBlocks {
		if r := all.Find(id); r != nil {
			return r
		}
	}
	return nil
}

// run decides the update in rounds.
func (c *call) run(ctx context.Context) Verdict {
	told := ""
	if c.Apply { // else a status that the list still shows from before a loop would be taken for what the call sets
		told, _ = c.redo(ctx, true) // if the lock is not to be had, the call is refused
	}
	c.watch = c.watchedNow(ctx)
	c.looked = c.update.Status != workflow.Completed || !state.HasPolicy(c.workplace(c.target.Workflow).dir)
	for {
		d, v := c.round(ctx)
		switch {
		case d.decided():
			v.Trouble = message.Join(message.ForPerson(told), v.Trouble)
			return v
		case d.wait:
			c.await(ctx)
		case d.source != nil:
			c.readLines(ctx, d.source)
		case d.content:
			c.stood, c.looked = c.contentNow(ctx, c.workplace(c.target.Workflow).dir), true
		case d.check != nil:
			c.check(ctx, d.check)
			ctx = context.WithoutCancel(ctx) // an interrupted check is recorded, too
			c.lockless = false
			c.lists = c.digestLists()
		default:
			c.find(ctx, d.files)
			c.lists = c.digestLists()
		}
	}
}

// round takes a decision and carries it out, under the lock of the list. If the lock cannot
// be had, that only delays the record: the decision is taken from what can be read without.
func (c *call) round(ctx context.Context) (decision, Verdict) {
	if c.lockless {
		return c.roundUnlocked(ctx, nil)
	}
	dir, s, err := c.Open(ctx)
	if err != nil {
		c.lockless = true
		return c.roundUnlocked(ctx, err)
	}
	defer c.Release(dir)
	if s.Step(c.target.ID) == nil {
		if words := s.Departed.Of(c.update.Task); words != "" {
			return decision{}, wentOn(c.update.Task, words)
		}
	}
	if e, ok := c.decidedTwin(s); ok {
		c.recallPrinted(dir, e)
	}
	d := c.decideUnlessAnswered(s)
	return d, c.carryOut(ctx, dir, s, d)
}

// printedKey is the key of what the check of a step has printed when it last failed: the hook may be registered twice, and both say it.
func (c *call) printedKey(step int64) string {
	return "printed:" + c.Session + "/" + message.Itoa(step) + "/" + c.update.Use
}

func (c *call) recallPrinted(dir *txn.Dir, e state.Evidence) {
	m, _ := c.MemoryIn(dir)
	c.printed, c.kept = m.Reminders[c.printedKey(e.Step)]
}

// keepPrinted keeps it for the hook that decides the same call, in place of what an earlier call has printed.
func (c *call) keepPrinted(dir *txn.Dir, v Verdict) {
	if v.Decision != state.Deny || v.Check == nil || c.update.Use == "" || c.twin != nil {
		return
	}
	key := c.printedKey(v.Step)
	_ = c.RememberIn(dir, func(m *state.Memory) {
		maps.DeleteFunc(m.Reminders, func(other, _ string) bool { return strings.HasPrefix(other, strings.TrimSuffix(key, c.update.Use)) })
		m.Reminders = reminders(m.Reminders).with(key, state.LastLines(v.Check.Printed()))
	})
}

// decideUnlessAnswered is decide, but leaves an update that is allowed to the command that asks; see Question.
func (c *call) decideUnlessAnswered(s *state.State) decision {
	d := c.decide(s)
	if c.asks && d.decided() && d.verdict.Allowed() {
		return decision{}
	}
	return d
}

// carryOut does what a decision says, under the lock, and returns its verdict.
func (c *call) carryOut(ctx context.Context, dir *txn.Dir, s *state.State, d decision) Verdict {
	c.state = s
	if !d.decided() {
		if c.Record(dir, s, d.lines) == nil { // else they are found out again
			c.seen = append(c.seen, d.lines...)
		}
		c.publish(dir, s, d)
		return Verdict{}
	}
	v, over := d.verdict, ""
	if v.Allowed() {
		var more []state.Evidence
		more, over = s.TellOver(c.sender(c.update))
		d.lines = slices.Insert(slices.Clone(d.lines), max(0, len(d.lines)-1), more...) // the decision is the last line
	}
	x := state.Change{Lines: d.lines}
	if c.Apply && v.Decision == state.Allow && d.changes() {
		x.Status = map[int64]string{c.target.ID: d.lines[len(d.lines)-1].To}
	}
	c.keepPrinted(dir, v)
	done, err := c.Store.Apply(ctx, dir, s, x)
	c.publish(dir, s, d)
	switch {
	case err != nil:
		return c.withTroubles(dir, c.decisionUnrecorded(v, err), s)
	case done.Unset != nil:
		return Verdict{Decision: state.Deny, Why: "trouble", Step: c.target.ID, undecided: true, past: pastHint{forbidden: true},
			Reason: message.Sprintf("the task file of #%d could not be changed: %v. Close it in other programs, or fix the cause, "+
				"and try again", c.target.ID, done.Unset)}
	}
	v = v.telling(message.ForAgent(done.Told))
	for _, text := range []string{notYet(done.NotYet), done.PutRight, over, tellLines(s, slices.Concat(c.seen, d.lines))} {
		v.Trouble = message.Join(v.Trouble, message.ForPerson(text))
	}
	v.Beside = besides(s, slices.Concat(c.seen, d.lines))
	return c.withTroubles(dir, c.withLate(v, s, d), s)
}

// notYet tells the person that tasks are not in the list yet.
func notYet(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("the tasks for the lines of a step are not in the list yet, or those of an earlier round "+
		"still are; the next update tries again: %v", err)
}

// withLate adds to a verdict what the agent has to know of steps that the clock has ended.
func (c *call) withLate(v Verdict, s *state.State, d decision) Verdict {
	text := lateText(s, slices.Concat(c.seen, d.lines))
	switch {
	case text == "":
	case v.Turn != nil:
		v.Turn = &Turn{v.Turn.Outcome, text + "\n" + v.Turn.Text}
	case v.Decision == state.Deny:
		v.Reason = string(text) + "\n" + v.Reason
	default:
		v.Told = message.Join(text, v.Told)
	}
	return v
}

// changes reports whether the update that was decided changes the task's status.
func (d decision) changes() bool {
	return d.own && d.lines[len(d.lines)-1].From != d.lines[len(d.lines)-1].To
}

// publish tells other calls what this one is about to do. An error is ignored: the record
// only makes others wait, and a step that it does not name is not done either.
func (c *call) publish(dir *txn.Dir, s *state.State, d decision) {
	if len(d.claim) == 0 && !c.claimed && len(s.Dead) == 0 {
		return
	}
	others := slices.DeleteFunc(slices.Clone(s.Pending), func(p state.Pending) bool { return p.Call == c.id })
	for _, id := range d.claim {
		others = append(others, c.pending(id, d.wait))
	}
	c.claimed = len(d.claim) > 0
	_ = c.RememberIn(dir, func(m *state.Memory) { m.Pending = others })
}

// roundUnlocked is round without the lock. cause is why it cannot be had, or nil if that was
// said before.
func (c *call) roundUnlocked(ctx context.Context, cause error) (decision, Verdict) {
	s, err := c.Now(ctx)
	if err != nil {
		return decision{}, c.trouble(errors.Join(cause, err))
	}
	d := c.decideUnlessAnswered(s)
	if !d.decided() {
		return d, Verdict{}
	}
	v := d.verdict
	if c.Apply && v.Decision == state.Allow && d.changes() {
		return d, c.trouble(cmp.Or(cause, txn.ErrLocked))
	}
	if target := s.Step(c.target.ID); target != nil && len(s.UnfinishedExpansions()) > 0 && v.Allowed() {
		return d, listLocked(target)
	}
	err = c.WriteLate(d.lines)
	if e, ok := errors.AsType[*state.ElsewhereError](err); ok {
		return d, wentOn(c.update.Task, e.Words)
	}
	if err != nil {
		v = c.decisionUnrecorded(v, errors.Join(cause, err))
	} else {
		c.LogDecisions(s, d.lines)
	}
	return d, c.withTroubles(nil, v, s)
}

// noted adds one line to the evidence, if need be without the lock.
func (c *call) noted(ctx context.Context, s *state.State, e state.Evidence) Verdict {
	if err := c.Note(ctx, s, e); err != nil {
		return c.decisionUnrecorded(Verdict{Step: e.Step}, err)
	}
	return Verdict{Step: e.Step}
}

// Intervals at which a call looks whether another one has made a difference.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = 200 * time.Millisecond
)

// await waits, without a lock, as long as the decision is to wait.
func (c *call) await(ctx context.Context) {
	for pause := firstLook; ; pause = min(pause*5/4, lastLook) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		s, err := c.Now(ctx)
		if err != nil || !c.decide(s).wait {
			return
		}
	}
}

// find looks for files, without a lock.
func (c *call) find(ctx context.Context, all []lookup) {
	for _, l := range all {
		f := c.workplace(l.step.Workflow)
		if f.said = l.said; f.away == "" {
			f.Sight = facts.LookFor(ctx, f.dir, l.Wanted)
		}
		c.facts[factKey{l.step.ID, l.kind}] = f
	}
}

// check runs the check of a step, without a lock. What is known about files may be out of
// date afterwards.
func (c *call) check(ctx context.Context, b *run) {
	if c.Interruptible != nil {
		var cancel context.CancelFunc
		ctx, cancel = c.Interruptible(ctx)
		defer cancel()
	}
	f := c.workplace(b.step.Workflow)
	if f.away != "" {
		c.facts[factKey{b.step.ID, b.kind}] = f
		return
	}
	before := c.contentNow(ctx, f.dir)
	r := c.runCheck(ctx, b, f.dir)
	f.result = &r
	c.ran(ctx, b.step, f.dir, before)
	for key, known := range c.facts {
		if known.result == nil {
			delete(c.facts, key)
		}
	}
	if b.kind == fsmspec.EachLine {
		f.Digests = filesForLines(b.step.Each, ctx, f.dir)
	} else if len(b.Watch) > 0 {
		f.Sight = facts.LookFor(ctx, f.dir, facts.Wanted{Patterns: b.Watch, Every: true})
	}
	c.facts[factKey{b.step.ID, b.kind}] = f
}

// left returns how long checks may take in this call.
func (c *call) left() time.Duration {
	limit := c.Limit
	if limit == 0 {
		limit = CallLimit
	}
	return limit - callMargin - time.Since(c.begun)
}

// withPastHint adds to a denial the command with which a person goes past the gate: the first time that a step is refused in a
// session, which told reports and remembers, and when nobody else can do anything.
func (f *Frame) withPastHint(c *call, v Verdict, told func(key string) bool) Verdict {
	v.Step = c.target.ID
	if v.Decision == state.Deny && v.Step != 0 && !v.past.forbidden {
		if !strings.HasSuffix(v.Reason, f.listFlag()) { // a command ends without one
			v.Reason = strings.TrimSuffix(v.Reason, ".") + "."
		}
		if step := cmp.Or(v.past.step, v.Step); (!told(f.Session+"/past/"+message.Itoa(step)) || v.past.only) && !f.isUntrusted() {
			what := "this"
			if v.past.more {
				what = "#" + message.Itoa(v.past.step) + ", which comes first,"
			}
			if f.Via.Who == state.ThePerson {
				v.Reason += "\nTo go past " + strings.TrimSuffix(what, ",") + ": " + state.OverrideCommands(step, f.listFlag())
			} else {
				v.Reason += "\nA person can go past " + what + " in a terminal outside the client: " + state.OverrideCommands(step, f.listFlag())
			}
		}
		v.Reason += f.reloadHint(c, v.past.only, told)
	}
	if v.past.ends {
		v.Reason += ": in a terminal outside the client they can skip it with " + state.OverrideCommands(v.Step, f.listFlag()) +
			", and end its whole workflow with " + endCommand(v.Step, " "+f.listFlag())
	}
	return f.shortened(v)
}

// isUntrusted reports whether the state directory is not used because others may write to it: then no command decides anything.
func (f *Frame) isUntrusted() bool {
	r, err := txn.OpenReader(f.List.Dir)
	if err == nil {
		r.Close()
	}
	return errors.Is(err, txn.ErrUntrustedDir)
}

// reloadHint says, the first time that a step is refused after its fsm.json has changed, and again when the agent is sent to the
// person, that the gates are still the old ones.
func (f *Frame) reloadHint(c *call, again bool, told func(key string) bool) string {
	w := c.target.Workflow
	what, takes := state.FileChange(w)
	key := f.Session + "/reload/" + w.SHA256[:min(len(w.SHA256), 16)]
	if !takes { // told again once it could be taken
		key += "/broken"
	}
	if what == "" || !takes && !safefile.IsFile(w.Spec) || told(key) && !again {
		return ""
	}
	changed := "\nThe fsm.json of " + message.Words(w.Command) + " " + what + ", and the gates are still those of then. "
	if !takes {
		return strings.TrimSuffix(changed, " ")
	}
	if c.state != nil && c.state.CannotReload(w) != "" {
		return changed + "It cannot be reloaded: " + c.state.CannotReload(w) +
			"; a person can finish or end the workflow, or call the skill again."
	}
	return changed +
		"A person can take the new one in a terminal outside the client: fsmtx step reload --because \"...\" " + f.listFlag()
}

// shortened names the list in the commands of a reason as ListFlag does.
func (f *Frame) shortened(v Verdict) Verdict {
	if flag := " " + f.listFlag(); strings.Contains(v.Reason, flag) {
		v.Reason = strings.ReplaceAll(v.Reason, flag, f.ListFlag())
	}
	return v
}

// ListFlag returns a space and the flag that names the list in a person's command. Every command for a person that changes something has
// it: they may run it where their own session, or one that began later, has another list.
func (f *Frame) ListFlag() string {
	return " --list " + f.Name()
}

// listFlag is ListFlag without the space and with the whole name, which costs nothing to find.
func (f *Frame) listFlag() string { return "--list " + filepath.Base(f.List.Dir) }

// trouble returns the verdict for gates that cannot be evaluated.
func (f *Frame) trouble(err error) Verdict {
	text := message.Sprintf("the steps of the task list %s are not enforced: %v", f.Name(), err)
	if f.Apply && (errors.Is(err, txn.ErrLocked) || errors.Is(err, safefile.ErrInUse)) {
		text = message.Sprintf("the task list is busy, so nothing was changed: %v. Try again", err)
		return Verdict{Decision: state.Deny, Why: "trouble", Reason: text, undecided: true, past: pastHint{forbidden: true}}
	}
	if f.Apply {
		return Verdict{Decision: state.Deny, Why: "trouble", Reason: text, undecided: true}
	}
	return Verdict{Trouble: message.ForPerson(text)}
}

// decisionUnrecorded returns the verdict of a call whose decision v could not be recorded because
// of err. A denial stays a denial, and the person is told about an update that is allowed.
func (c *call) decisionUnrecorded(v Verdict, err error) Verdict {
	if v.Decision == state.Deny {
		return v
	}
	if c.Apply {
		return c.trouble(err)
	}
	v.unrecorded = true
	if v.Turn != nil { // nothing is open again
		return notSentBack(&state.Current{Step: *c.target.Step}, err)
	}
	v.Trouble = message.Join(v.Trouble,
		message.ForPerson(fmt.Sprintf("the decision about #%d is not on record: %v", c.target.ID, err)))
	return v
}

// notSentBack refuses an outcome that leads back, because that cannot be recorded.
func notSentBack(c *state.Current, err error) Verdict {
	v := deny(c, "not on record", fmt.Sprintf("%s leads back, but that cannot be recorded (%v), so no step was opened again. "+
		"Complete it again; if that does not help, tell the person",
		c.Name(), err))
	v.past.forbidden = true
	return v
}

// withTroubles adds what could not be read to the verdict of a call that is not denied, and which steps are missing, once a
// session. dir is nil if the list is not locked.
func (c *call) withTroubles(dir *txn.Dir, v Verdict, s *state.State) Verdict {
	if v.Decision == state.Deny {
		return v
	}
	troubles := c.troubles
	if !c.target.Unread && len(troubles) > 0 && dir != nil && c.AlreadyToldIn(dir, c.Session+"/"+errors.Join(troubles...).Error()) {
		troubles = nil // they are about other steps
	}
	for _, err := range slices.Concat(troubles, s.Troubles) {
		whole := errors.Is(err, state.ErrForged) || errors.Is(err, state.ErrMoving) || errors.Is(err, state.ErrMemory)
		switch {
		case dir != nil && (whole || errors.Is(err, state.ErrMissing)) && c.AlreadyToldIn(dir, c.Session+"/"+err.Error()):
		case whole:
			v.Trouble = message.Join(v.Trouble, message.ForPerson(message.Join(err.Error(), message.Hint(err))))
		default:
			v.Trouble = message.Join(v.Trouble,
				message.ForPerson(fmt.Sprintf("the steps of the task list %s are not fully enforced: %v", c.Name(), err)))
		}
	}
	return v
}
