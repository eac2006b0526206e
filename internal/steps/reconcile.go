package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/txn"
)

// Seen records which decisions about steps of workflows with outcomes the list shows to be
// carried out, after an update of the agent, and makes the list show what follows from them.
// It returns what the agent has to know of that: the steps that turned out not to be needed,
// and what is ready; or the step with which to go on, if the updated task was the last step
// of a workflow under it. It does nothing, and takes no lock, if there is no such workflow.
func (f *Frame) Seen(ctx context.Context, task, agent string) (text string, v Verdict) {
	live, err := liveSteps(f.List.Dir)
	if err != nil || !slices.ContainsFunc(live, func(r recorded) bool { return r.workflow.machine != nil || r.workflow.Parent != 0 }) {
		return "", Verdict{}
	}
	c := &call{Frame: f, steps: live, target: &live[0], update: Update{Agent: agent}}
	dir, s, err := c.open(ctx)
	if err != nil {
		return "", f.trouble(err)
	}
	defer f.release(dir)
	turned := s.unseen
	d := decision{lines: s.recordSeen(c.by(c.update, Verdict{}))}
	d.verdict = Verdict{Step: c.target.ID}
	v = c.carryOut(ctx, dir, s, d)
	text = s.seenText(turned)
	if b := s.find(task); b != nil && b.Done() {
		text = both(text, s.Returned(b.ID))
	}
	return text, v
}

// seenText tells the agent what follows from steps that were seen done.
func (s *State) seenText(seen []Evidence) string {
	var left []*Current
	var over bool
	for _, e := range seen {
		left = append(left, s.numbered(e.NotNeeded)...)
		if c := s.Step(e.Step); c != nil {
			o := c.outcome(e.Outcome)
			over = over || o != nil && o.Stop
		}
	}
	switch {
	case over:
		return "The workflow is over: " + names(left) + " " + isOrAre(len(left)) + " not needed."
	case len(left) == 0:
		return ""
	}
	text := visible.Clip("Not needed: "+names(left), maxTurn) + "."
	if ready := s.Ready(); len(ready) > 0 {
		text += " Ready: " + withDescription(ready[0])
	}
	return text
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Choice is a question that a person was asked, and what they chose.
type Choice struct {
	Options []string // the labels that they could choose from; empty if unknown
	Chosen  string
}

// Chosen records what a person chose, for a step that they decide: one that is in progress or
// ready and whose outcomes are the options. It returns what the agent has to know of it, or
// "" if the question was about no step. how is the way in which the person was asked.
func (f *Frame) Chosen(ctx context.Context, choices []Choice, how How, agent string) (text string, v Verdict) {
	live, err := liveSteps(f.List.Dir)
	if err != nil || !slices.ContainsFunc(live, func(r recorded) bool { return r.Decides == machine.Person.String() }) {
		return "", Verdict{}
	}
	c := &call{Frame: f, steps: live, target: &live[0], update: Update{Agent: agent}}
	dir, s, err := c.open(ctx)
	if err != nil {
		return "", f.trouble(err)
	}
	defer f.release(dir)
	lines := s.recordSeen(c.by(c.update, Verdict{}))
	for _, x := range choices {
		b, outcome := s.asked(x)
		if b == nil {
			continue
		}
		lines = append(lines, Evidence{Time: s.Time, Step: b.ID, From: b.Status, To: b.Status, Verdict: Answer, Why: "the person chose " + outcome, Outcome: outcome, Round: b.Round, By: f.person(how, agent)})
		text = fmt.Sprintf("%s ends as %s: the person chose it. Complete it now.", b.Name(), outcome)
	}
	if text == "" {
		return "", Verdict{}
	}
	return text, c.carryOut(ctx, dir, s, decision{lines: lines, verdict: Verdict{Step: c.target.ID}})
}

// asked returns the step about which a person was asked, and the outcome that they chose:
// first among the steps that are in progress, then the one with the lowest number.
func (s *State) asked(x Choice) (*Current, string) {
	ready := s.Ready()
	slices.SortStableFunc(ready, func(a, b *Current) int { return stopRank(a) - stopRank(b) })
	for _, c := range ready {
		if !c.flows() || c.Decides != machine.Person.String() {
			continue
		}
		outcome := meant(x.Chosen, c.choices())
		if outcome == "" || slices.ContainsFunc(x.Options, func(o string) bool { return meant(o, c.choices()) == "" }) {
			continue
		}
		return c, outcome
	}
	return nil, ""
}

// meant returns the outcome that a label names: case is ignored, and the label may go on
// after a dash or a colon. It returns "" if there is none.
func meant(label string, choices []string) string {
	label = strings.ToLower(strings.TrimSpace(label))
	for _, end := range []string{" – ", " — ", " - ", ":"} {
		label, _, _ = strings.Cut(label, end)
	}
	label = strings.ReplaceAll(strings.TrimSpace(strings.TrimSuffix(label, "(recommended)")), " ", "-")
	if slices.Contains(choices, label) {
		return label
	}
	return ""
}

// goPastFlow ends a step of a workflow with outcomes, because a person said so.
func (f *Frame) goPastFlow(ctx context.Context, dir *txn.Dir, s *State, p Past, by By) error {
	c := &call{Frame: f}
	lines := s.recordSeen(by)
	target := s.Step(p.Step)
	for {
		open := s.firstBlockers(target)
		if len(open) == 0 {
			break
		}
		if !p.WithBlockers {
			return fmt.Errorf("%s: %w: %s", target.Name(), ErrBlocked, names(s.openBefore(target)))
		}
		lines = append(lines, s.skip(open[0], p.Because, by))
	}
	if !p.Done {
		lines = append(lines, s.skip(target, p.Because, by))
	} else {
		outcome, err := target.outcomeOf(p)
		if err != nil {
			return err
		}
		tr, err := s.conclude(target, outcome)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", target.Name(), ErrNoOutcome, err)
		}
		e := Evidence{Time: s.Time, Step: target.ID, From: target.Status, To: completed, Verdict: Override, Why: p.why(), By: by,
			Outcome: tr.Outcome, Round: target.Round, Reopens: tr.Reopens, NotNeeded: tr.NotNeeded}
		if isBack(tr) {
			e.To = pending
		}
		lines, s.Evidence = append(lines, e), append(s.Evidence, e)
		s.fold()
	}
	if err := c.write(dir, s, lines); err != nil {
		return err
	}
	c.putRight(ctx, dir, s)
	return nil
}

// firstBlockers returns the open steps before a step, directly or not, that can be skipped now.
func (s *State) firstBlockers(c *Current) (first []*Current) {
	for _, b := range s.openBefore(c) {
		if before := s.firstBlockers(b); len(before) > 0 {
			return before
		}
		first = append(first, b)
	}
	return first
}

// skip returns the line that records that a person skipped the step, and folds it.
func (s *State) skip(c *Current, because string, by By) Evidence {
	_, tr, _ := s.flows[c.Workflow].Skip(c.ID)
	e := Evidence{Time: s.Time, Step: c.ID, From: c.Status, To: completed, Verdict: Override, Why: skipWord + because, By: by,
		Outcome: machine.Skipped, Round: c.Round, NotNeeded: tr.NotNeeded}
	s.Evidence = append(s.Evidence, e)
	s.fold()
	return e
}

// outcomeOf returns the outcome that a person said the step ends in.
func (c *Current) outcomeOf(p Past) (string, error) {
	choices := c.choices()
	switch {
	case p.Outcome != "":
		return p.Outcome, nil // a person may take one that the agent cannot choose
	case len(choices) == 1:
		return choices[0], nil
	case slices.Contains(choices, machine.Done):
		return machine.Done, nil
	}
	return "", fmt.Errorf("%s: %w: say with --outcome whether it ends as %s", c.Name(), ErrNoOutcome, alternatives(choices))
}

// Reopen opens a step of a workflow with outcomes again, and every step that comes after it.
//
// Errors: ErrNoStep, ErrIsOpen, ErrNoOutcomes, those of Load and of tasks.List.Open.
func (f *Frame) Reopen(ctx context.Context, id int64, because string, by By) (*State, error) {
	return f.overrule(ctx, id, func(s *State, c *Current) (Evidence, error) {
		_, tr, err := s.flows[c.Workflow].Reopen(id)
		if err != nil {
			return Evidence{}, fmt.Errorf("%s: %w", c.Name(), ErrIsOpen)
		}
		return Evidence{To: pending, Why: reopenWord + because, Reopens: tr.Reopens, NotNeeded: tr.NotNeeded, Round: c.Round, By: by}, nil
	})
}

// End ends the workflow of a step: its open steps are not needed any more.
//
// Errors: ErrNoStep, ErrNoOutcomes, those of Load and of tasks.List.Open.
func (f *Frame) End(ctx context.Context, id int64, because string, by By) (*State, error) {
	return f.overrule(ctx, id, func(s *State, c *Current) (Evidence, error) {
		_, tr := s.flows[c.Workflow].End()
		return Evidence{To: c.Status, Why: endWord + because, NotNeeded: tr.NotNeeded, Round: c.Round, By: by}, nil
	})
}

// overrule records a person's decision about a workflow with outcomes, and makes the list show
// it.
func (f *Frame) overrule(ctx context.Context, id int64, decide func(*State, *Current) (Evidence, error)) (s *State, err error) {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return nil, err
	}
	target := live.find(itoa(id))
	if target == nil {
		return nil, fmt.Errorf("#%d: %w", id, ErrNoStep)
	}
	if target.workflow.machine == nil {
		return nil, fmt.Errorf("#%d: %w", id, ErrNoOutcomes)
	}
	err = f.locked(ctx, func(dir *txn.Dir) error {
		if s, err = live.state(ctx, dir.Path(), dir, true); err != nil {
			return err
		}
		c := &call{Frame: f, steps: live, target: target}
		lines := s.recordSeen(By{Session: f.Session})
		e, err := decide(s, s.Step(id))
		if err != nil {
			return err
		}
		e.Time, e.Step, e.From, e.Verdict, e.By.Session = s.Time, id, s.Step(id).Status, Override, f.Session
		if err := c.write(dir, s, append(lines, e)); err != nil {
			return err
		}
		s.Evidence = append(s.Evidence, e)
		s.fold()
		c.putRight(ctx, dir, s)
		return nil
	})
	return s, err
}
