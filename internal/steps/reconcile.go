package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
)

// Redo makes the list show the state of its workflows, if a crash or the end of a
// process has kept another event from that: what is on record counts. It runs no gate. It
// returns what the person has to know. It takes no lock if the list shows the state.
//
// Errors: those of Load and of tasks.List.Open.
func (f *Frame) Redo(ctx context.Context) (trouble string, err error) {
	s, err := Load(ctx, f.List.Dir)
	if err != nil {
		return "", err
	}
	return f.redo(ctx, s)
}

// redo is Redo for a state that was read without the lock. It reads the state again.
func (f *Frame) redo(ctx context.Context, s *State) (trouble string, err error) {
	if !isBehind(s) {
		return "", nil
	}
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return "", err
	}
	err = f.changing(ctx, live, "", func(c *call, dir *txn.Dir, s *State) error {
		done, err := c.Store.Apply(ctx, dir, s, Change{Lines: c.settled(s)})
		trouble = done.PutRight
		return cmp.Or(err, done.NotYet)
	})
	return trouble, err
}

// changing calls do with the state of the list, under its lock, unless it has no steps.
//
// Errors: those of tasks.List.Open.
func (f *Frame) changing(ctx context.Context, live recordedSteps, agent string, do func(*call, *txn.Dir, *State) error) error {
	if len(live) == 0 {
		return nil
	}
	c := &call{Frame: f, steps: live, target: &live[0], update: Update{Agent: agent}}
	dir, s, err := f.open(ctx, live)
	if err != nil {
		return err
	}
	defer f.release(dir)
	return do(c, dir, s)
}

// behind reports whether the list does not show the state of a workflow, or shows more than is on record. A task
// that cannot be read may be one that a power cut has
// damaged: whoever opens the list writes it again.
func isBehind(s *State) bool {
	return s.interrupted || len(s.unseen)+len(s.endedOtherwise) > 0 || s.unshown || s.misshapen() || s.unticked() ||
		slices.ContainsFunc(s.Steps, func(c *Current) bool {
			return c.file == nil && !c.Gone() || len(c.wrong(s)) > 0 || c.Status == completed && c.Outcome == ""
		})
}

// settled returns the lines that record what the list shows to be carried out.
func (c *call) settled(s *State) []Evidence {
	lines := s.recordSeen(c.by(c.update, Verdict{}))
	return append(lines, c.judgeSeen(s)...)
}

// Seen records which decisions the list shows to be carried out, after an update of the agent, and makes the
// list show what follows from them.
// It returns what the agent has to know of that: the steps that turned out not to be needed,
// and what is ready; or the step with which to go on, if the updated task was the last step
// of a workflow under it. It does nothing, and takes no lock, if there is no workflow.
func (f *Frame) Seen(ctx context.Context, task, agent string) (text string, v Verdict) {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return "", Verdict{}
	}
	err = f.changing(ctx, live, agent, func(c *call, dir *txn.Dir, s *State) error {
		seen := slices.DeleteFunc(slices.Clone(s.unseen), Evidence.isLate)
		lines := s.recordSeen(c.by(c.update, Verdict{}))
		judged := c.judgeSeen(s)
		v = c.carryOut(ctx, dir, s, decision{lines: append(lines, judged...), verdict: Verdict{Step: c.target.ID}})
		returned := ""
		if b := s.find(task); b != nil && b.Done() {
			returned = s.Returned(b.ID)
		}
		text = both(both(v.Told, s.seenText(append(seen, judged...), returned == "")), returned)
		return nil
	})
	if err != nil {
		return "", f.trouble(err)
	}
	return text, v
}

// seenText tells the agent what follows from steps that were seen done, and what is ready unless
// another text says with what to go on.
func (s *State) seenText(seen []Evidence, goOn bool) string {
	var left []*Current
	over := ""
	for _, e := range seen {
		if len(e.Reopens) > 0 {
			return s.turnedBy(e)
		}
		left = append(left, s.numbered(e.NotNeeded)...)
		if c := s.Step(e.Step); c != nil {
			if o := c.outcomeNamed(e.Outcome); o != nil && o.Stop {
				over = "The workflow is"
				if s.Parent(c.Workflow) != nil {
					over = c.Workflow.titleIs()
				}
			}
		}
	}
	switch {
	case len(left) == 0:
		return ""
	case over != "":
		return over + " over: " + brief(left) + " " + isOrAre(len(left)) + " not needed."
	}
	text, ready := "Not needed: "+brief(left)+".", s.Ready()
	if !goOn || len(ready) == 0 {
		return text
	}
	return text + nowReady(ready, s.ToDo(ready[0]))
}

// turnedBy is turned for an outcome that is on record.
func (s *State) turnedBy(e Evidence) string {
	c := s.Step(e.Step)
	state := s.flows[c.Workflow]
	tr := machine.Transition{Outcome: e.Outcome, Times: state.Times(c.ID, e.Outcome), Max: c.outcomeNamed(e.Outcome).Max,
		Reopens: e.Reopens}
	return s.turned(c, tr, "", s.Ready(), nil)
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Choice is a question that a person was asked, and what they chose.
type Choice struct {
	Question string
	Options  []string // the labels that they could choose from; empty if unknown
	Chosen   string
	Step     int64 // number of the step that fsmtx has asked them about; 0 if only the question tells
}

// Chosen records what a person chose, for a step that they decide, and that is in progress or ready: if the question is
// fsmspec.Question, and the options are its outcomes. It returns what the agent has to know of it, or
// "" if the question was about no step. how is the way in which the person was asked.
func (f *Frame) Chosen(ctx context.Context, choices []Choice, how How, agent string) (text string, v Verdict) {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return "", Verdict{}
	}
	if !live.personDecides() {
		return "", f.redone(ctx, live)
	}
	err = f.changing(ctx, live, agent, func(c *call, dir *txn.Dir, s *State) error {
		lines := c.settled(s)
		trouble := ""
		for _, x := range choices {
			e, told := c.chosen(s, x, how)
			if text = both(text, told); e.Verdict == Deny {
				trouble = told
			}
			if e.Step != 0 {
				lines = append(lines, e)
			}
		}
		if v = c.carryOut(ctx, dir, s, decision{lines: lines, verdict: Verdict{Step: c.target.ID}}); v.unrecorded {
			text = ""
		} else {
			v.Trouble = both(v.Trouble, trouble)
		}
		return nil
	})
	if err != nil {
		return "", f.trouble(err)
	}
	return text, v
}

// chosen returns the line that records what a person chose, if that is about a step, and what the agent has to know of it.
func (c *call) chosen(s *State, x Choice, how How) (e Evidence, told string) {
	b := stepAsked(s, x)
	if b == nil {
		return e, askedOtherwise(s, x)
	}
	e = Evidence{Time: s.Time, Step: b.ID, From: b.Status, To: b.Status, Question: x.Question}
	if another := c.mayBeAnother(s, b); another != nil {
		e.Verdict, e.Why, e.By = Deny, another.Why, By{Who: TheCommand, How: how, Session: c.Session, Agent: c.update.Agent}
		return e, another.Reason
	}
	e.Verdict, e.Why, e.Outcome, e.Round, e.By = Answer, "the person chose "+x.Chosen, x.Chosen, b.Round, c.person(how, c.update.Agent)
	if s.isSpent(b, x.Chosen) {
		return e, fmt.Sprintf("The person chose %s for %s. %sThey have to choose %s: ask them again.", x.Chosen, b.Name(), s.spentChoices(b),
			alternatives(s.Offered(b)))
	}
	return e, fmt.Sprintf("%s ends as %s: the person chose it. Complete it now.", b.Name(), x.Chosen)
}

// PersonDecides reports whether a person decides how a step of the list ends.
func (f *Frame) PersonDecides() bool {
	live, err := liveSteps(f.List.Dir)
	return err == nil && live.personDecides()
}

func (all recordedSteps) personDecides() bool {
	return slices.ContainsFunc(all, func(r recordedStep) bool { return r.Decides == machine.Person.String() })
}

// asked returns the step about which a person was asked and for which their answer counts, or nil.
func stepAsked(s *State, x Choice) *Current {
	for _, c := range s.Ready() {
		if c.ID == x.Step || x.Step == 0 && strings.TrimSpace(x.Question) == fsmspec.Question(c.ID) {
			if choosesFrom(c, x) {
				return c
			}
		}
	}
	return nil
}

// choosesFrom reports whether a person decides how the step ends, and the labels are its outcomes.
func choosesFrom(c *Current, x Choice) bool {
	return c.Decides == machine.Person.String() && !slices.ContainsFunc(slices.Concat(x.Options, []string{x.Chosen}),
		func(label string) bool { return !slices.Contains(c.Choices(), label) })
}

// askedOtherwise tells the agent that an answer does not count, if the question may have been meant for a step.
func askedOtherwise(s *State, x Choice) string {
	for _, c := range s.Ready() {
		if len(x.Options) > 0 && choosesFrom(c, x) {
			return fmt.Sprintf("This does not count for %s: ask the person %q, with exactly these options: %s.", c.Name(),
				fsmspec.Question(c.ID), strings.Join(c.Choices(), ", "))
		}
	}
	return ""
}

// past returns the lines that record that a person ends a step, and folds them. If they
// are refused, there are none.
func linesPast(s *State, p Past, by By) (lines []Evidence, err error) {
	target := s.Step(p.Step)
	if err := MayPass(s, p); err != nil {
		return nil, err
	}
	outcome := machine.Skipped
	if p.Done {
		if outcome, err = impliedOutcome(target, p); err != nil {
			return nil, err
		}
	}
	before := s.Evidence
	for open := s.OpenBlockers(target); len(open) > 0; open = s.OpenBlockers(target) {
		lines = append(lines, skip(s, cmp.Or(s.first(open), open[0]), p.Because, by)...)
	}
	if !p.Done {
		return append(lines, skip(s, target, p.Because, by)...), nil
	}
	refuse := func(err error) ([]Evidence, error) {
		s.Evidence = before
		s.fold()
		return nil, fmt.Errorf("%s: %w", target.Name(), err)
	}
	tr, err := s.conclude(target, outcome)
	if errors.Is(err, machine.ErrSpent) {
		return refuse(fmt.Errorf("%s: %w (%s)", outcome, errSpent, timesText(target.outcomeNamed(outcome).Max)))
	}
	if err != nil && !errors.Is(err, machine.ErrNoOutcome) {
		return refuse(fmt.Errorf("once the steps before it are skipped it is not needed: %w", err))
	}
	if err != nil {
		all := target.Choices()
		for _, o := range target.Outcomes {
			if !slices.Contains(all, o.Name) {
				all = append(all, o.Name)
			}
		}
		return refuse(fmt.Errorf("%w: %s; it ends as %s", errNoOutcome, quote(outcome), alternatives(all)))
	}
	var values map[string]string
	if target.owesValues(tr) {
		if values, err = givenByPerson(s, target, p.Values); err != nil {
			return refuse(err)
		}
	}
	e := Evidence{Step: target.ID, To: completed, Why: p.why(), By: by, Outcome: tr.Outcome, Reopens: tr.Reopens, NotNeeded: tr.NotNeeded,
		Values: values}
	if isBack(tr) {
		e.To, e.Files = pending, p.files
	}
	return append(lines, follow(s, e)...), nil
}

// follow completes the line of a person's decision, and folds it.
func follow(s *State, e Evidence) []Evidence {
	c := s.Step(e.Step)
	e.Time, e.From, e.Round, e.Verdict = s.Time, c.Status, c.Round, Override
	if c.Unread && e.To == completed {
		c.Status = completed // which is believed
	}
	s.Evidence = append(s.Evidence, e)
	s.fold()
	return []Evidence{e}
}

// skip returns the line that records that a person skipped the step, and folds it.
func skip(s *State, c *Current, because string, by By) []Evidence {
	_, tr, _ := s.flows[c.Workflow].Skip(c.ID)
	return follow(s, Evidence{Step: c.ID, To: completed, Why: skipWord + because, By: by, Outcome: machine.Skipped, NotNeeded: tr.NotNeeded})
}

// outcomeOf returns the outcome that a person said the step ends in.
func impliedOutcome(c *Current, p Past) (string, error) {
	choices := c.Choices()
	switch {
	case p.Outcome != "":
		return p.Outcome, nil // a person may take one that the agent cannot choose
	case len(choices) == 1:
		return choices[0], nil
	case slices.Contains(choices, machine.Done):
		return machine.Done, nil
	}
	return "", fmt.Errorf("%s: %w: say with --outcome whether it ends as %s", c.Name(), errNoOutcome, alternatives(choices))
}

// toSay returns the outcome if a person who marks the step as done has to say it, and else "".
func outcomeToSay(c *Current, outcome string) string {
	if implied, err := impliedOutcome(c, Past{}); err == nil && implied == outcome {
		return ""
	}
	return outcome
}

// DoneCommand returns the command with which a person marks a step as done, in the outcome about
// which they were asked. The command has NAME where they have to choose one.
func DoneCommand(s *State, c *Current) string {
	outcome := ""
	if _, err := impliedOutcome(c, Past{}); err != nil {
		outcome = "NAME"
	}
	if e, ok := s.lastEver(c.ID); ok && e.Verdict == Ask && e.Outcome != "" {
		outcome = outcomeToSay(c, e.Outcome)
	}
	return strings.TrimSpace(approveCommand(c.ID, outcome, ""))
}

// Reopen opens a step again, and every step that comes after it.
//
// Errors: errNoStep, errIsOpen, errClosed, those of Load and of tasks.List.Open.
func (f *Frame) Reopen(ctx context.Context, id int64, because string, by By) (*State, error) {
	files := f.filesBefore(ctx, id, func(s *State, c *Current) (machine.Transition, error) {
		_, tr, err := s.flows[c.Workflow].Reopen(id)
		return tr, err
	})
	return f.overrule(ctx, id, by, func(s *State, c *Current, by By) ([]Evidence, error) {
		switch {
		case c.Gone():
			return nil, passable(c)
		case c.Unread:
			return nil, fmt.Errorf("%s: %w", c.Name(), errUnread)
		case s.isClosed(c.Workflow):
			return nil, message.WithHint(fmt.Errorf("%s: %w%s", c.Name(), errClosed, s.whyClosed(c.Workflow)), howToOpen(s, c.Workflow))
		}
		_, tr, err := s.flows[c.Workflow].Reopen(id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name(), errIsOpen)
		}
		return follow(s, Evidence{Step: id, To: pending, Why: reopenWord + because, Reopens: tr.Reopens, NotNeeded: tr.NotNeeded, By: by,
			Files: files}), nil
	})
}

// howToOpen says which step a person opens again so that a closed workflow is needed again.
func howToOpen(s *State, w *Workflow) string {
	p := s.Parent(w)
	for s.isClosed(p.Workflow) {
		p = s.Parent(p.Workflow)
	}
	if !p.Done() {
		return "its skill has to be called again"
	}
	return fmt.Sprintf(`open that one again: fsmtx step reopen %d --because "..."`, p.ID)
}

// OpenedAgain returns the steps that the last decision of a person about the step has opened again.
func (s *State) OpenedAgain(id int64) []*Current {
	e, _ := s.lastOf(id, func(e Evidence) bool { return e.Verdict == Override })
	return s.numbered(e.Reopens)
}

// End ends the workflow of a step: its open steps, and what is under them, are not needed any
// more.
//
// Errors: errNoStep, those of Load and of tasks.List.Open.
func (f *Frame) End(ctx context.Context, id int64, because string, by By) (*State, error) {
	return f.overrule(ctx, id, by, func(s *State, c *Current, by By) ([]Evidence, error) {
		e := Evidence{Step: id, To: c.Status, Why: endWord + because, By: by}
		for _, b := range s.openIn(c.Workflow) {
			e.NotNeeded = append(e.NotNeeded, b.ID)
		}
		return follow(s, e), nil
	})
}

// overrule records a person's decision about a step, and makes the list show it. What the list showed before is made right even
// if the person is refused.
func (f *Frame) overrule(ctx context.Context, id int64, by By,
	decide func(*State, *Current, By) ([]Evidence, error)) (s *State, err error) {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return nil, err
	}
	if live.find(itoa(id)) == nil {
		return nil, fmt.Errorf("#%d: %w", id, errNoStep)
	}
	by.Session = cmp.Or(by.Session, f.Session)
	err = f.changing(ctx, live, "", func(c *call, dir *txn.Dir, now *State) error {
		if s = now; s.Step(id) == nil {
			return fmt.Errorf("#%d: %w", id, errNoStep)
		}
		lines := c.settled(s)
		decided, refused := decide(s, s.Step(id), by)
		x := Change{Lines: append(lines, decided...), Status: map[int64]string{}}
		for _, e := range decided {
			if s.Step(e.Step).Unread && e.To == completed { // what the list shows is believed
				x.Status[e.Step] = completed
			}
		}
		done, err := c.Store.Apply(ctx, dir, s, x)
		return cmp.Or(refused, err, done.NotYet, done.Unset)
	})
	return s, err
}
