package gates

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
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// Redo makes the list show the state of its workflows, if a crash or the end of a
// process has kept another event from that: what is on record counts. It runs no gate. It
// returns what the person has to know. It takes no lock if the list shows the state.
//
// Errors: those of Load and of tasks.List.Open.
func (f *Frame) Redo(ctx context.Context) (trouble string, err error) { return f.redo(ctx, false) }

// redo is Redo. first is as in state.Change.
func (f *Frame) redo(ctx context.Context, first bool) (trouble string, err error) {
	s, err := f.Now(ctx)
	if err != nil || !isBehind(s) {
		return "", err
	}
	err = f.changing(ctx, "", func(c *call, dir *txn.Dir, s *state.State) error {
		done, err := c.Store.Apply(ctx, dir, s, state.Change{Lines: c.shownLines(s), First: first})
		trouble = done.PutRight
		return cmp.Or(err, done.NotYet)
	})
	return trouble, err
}

// changing calls do with the state of the list, under its lock, unless it has no steps.
//
// Errors: those of tasks.List.Open.
func (f *Frame) changing(ctx context.Context, agent string, do func(*call, *txn.Dir, *state.State) error) error {
	r, err := f.OnRecord()
	if err != nil || len(r.Steps) == 0 {
		return err
	}
	c := &call{Frame: f, steps: r.Steps, target: &r.Steps[0], update: Update{Agent: agent}}
	dir, s, err := f.Open(ctx)
	if err != nil {
		return err
	}
	defer f.Release(dir)
	return do(c, dir, s)
}

// isBehind reports whether the list does not show the state of a workflow, or shows more than is on record. A task
// that cannot be read may be one that a power cut has damaged: opening the list writes it again.
func isBehind(s *state.State) bool {
	return s.Interrupted || len(s.Unseen)+len(s.EndedOtherwise) > 0 || s.Unshown || s.Misshapen() || s.Unticked() ||
		slices.ContainsFunc(s.Steps, func(c *state.Current) bool {
			return c.File == nil && !c.Gone() || len(c.Wrong(s)) > 0 || c.Status == workflow.Completed && c.Outcome == ""
		})
}

// shownLines returns the lines that record what the list shows to be carried out.
func (c *call) shownLines(s *state.State) []state.Evidence {
	lines := s.RecordSeen(c.sender(c.update))
	return append(lines, c.decideSeenUngated(s)...)
}

// Seen records which decisions the list shows to be carried out, after an update of the agent, and makes the
// list show what follows from them.
// It returns what the agent has to know of that: the steps that turned out not to be needed,
// and what is ready; or the step with which to go on, if the updated task was the last step
// of a workflow under it. It does nothing, and takes no lock, if there is no workflow.
func (f *Frame) Seen(ctx context.Context, task, agent string) (text message.ForAgent, v Verdict) {
	if _, err := f.OnRecord(); err != nil {
		return "", Verdict{}
	}
	err := f.changing(ctx, agent, func(c *call, dir *txn.Dir, s *state.State) error {
		seen := slices.DeleteFunc(slices.Clone(s.Unseen), state.Evidence.IsLate)
		lines := s.RecordSeen(c.sender(c.update))
		decided := c.decideSeenUngated(s)
		v = c.carryOut(ctx, dir, s, decision{lines: append(lines, decided...), verdict: Verdict{Step: c.target.ID}})
		returned := ""
		if b := s.Find(task); b != nil && b.Done() {
			returned = s.Returned(b.ID)
		}
		text = message.Join(v.Told, message.ForAgent(message.Join(s.SeenText(append(seen, decided...), returned == ""), returned)))
		return nil
	})
	if err != nil {
		return "", f.trouble(err)
	}
	return text, v
}

// Choice is a question that a person was asked, and what they chose.
type Choice struct {
	Question string
	Options  []string // the labels that they could choose from; empty if unknown
	Chosen   string
	Step     int64  // number of the step that fsmtx has asked them about; 0 if only the question tells
	Use      string // id of the tool call that asked; empty if unknown
}

// Chosen records what a person chose, for a step that they decide, and that is in progress or ready: if the question is
// fsmspec.Question, and the options are its outcomes. It returns what the agent has to know of it, or
// "" if the question was about no step. how is the way in which the person was asked.
func (f *Frame) Chosen(ctx context.Context, choices []Choice, how state.How, agent string) (text message.ForAgent, v Verdict) {
	r, err := f.OnRecord()
	if err != nil {
		return "", Verdict{}
	}
	switch {
	case r.Steps.PersonDecides():
	case r.Unread && !f.AlreadyTold(ctx, f.Session+"/choice"): // only the record says whether a person decides
		return "", f.trouble(errors.Join(r.Troubles()...))
	default:
		return "", f.repaired(ctx)
	}
	err = f.changing(ctx, agent, func(c *call, dir *txn.Dir, s *state.State) error {
		lines := c.shownLines(s)
		trouble := ""
		for _, x := range choices {
			e, told := c.chosen(s, x, how)
			if text = message.Join(text, message.ForAgent(told)); e.Verdict == state.Deny {
				trouble = told
			}
			if e.Step != 0 {
				lines = append(lines, e)
			}
		}
		if v = c.carryOut(ctx, dir, s, decision{lines: lines, verdict: Verdict{Step: c.target.ID}}); v.unrecorded {
			text = ""
		} else {
			v.Trouble = message.Join(v.Trouble, message.ForPerson(trouble))
		}
		return nil
	})
	if err != nil {
		return "", f.trouble(err)
	}
	return text, v
}

// chosen returns the line that records what a person chose, if that is about a step, and what the agent has to know of it.
func (c *call) chosen(s *state.State, x Choice, how state.How) (e state.Evidence, told string) {
	if x.Use != "" && slices.ContainsFunc(s.Evidence, func(e state.Evidence) bool { return e.Use == x.Use && e.Question == x.Question }) {
		return e, "" // the hook is registered twice
	}
	b := stepAsked(s, x)
	if b == nil {
		return e, cmp.Or(decidedMeanwhile(s, x), askedOtherwise(s, x))
	}
	e = state.Evidence{Time: s.Time, Step: b.ID, From: b.Status, To: b.Status, Question: x.Question, Use: x.Use}
	if another := c.mayBeAnother(s, b); another != nil {
		e.Verdict, e.Why, e.By = state.Deny, another.Why, state.By{Who: state.TheCommand, How: how, Session: c.Session,
			Agent: c.update.Agent}
		return e, another.Reason
	}
	x.Chosen = outcomeOf(b, x.Chosen)
	e.Verdict, e.Why, e.Outcome, e.Round = state.Chosen, "the person chose "+x.Chosen, x.Chosen, b.Round
	e.By = c.person(how, c.update.Agent)
	if s.IsSpent(b, x.Chosen) {
		return e, fmt.Sprintf("The person chose %s for %s. %sThey have to choose %s: ask them again.", x.Chosen, b.Name(),
			s.SpentChoices(b), message.Alternatives(s.Offered(b)))
	}
	return e, fmt.Sprintf("%s ends as %s: the person chose it. Complete it now.", b.Name(), x.Chosen)
}

// PersonDecides reports whether a person decides how a step of the list ends.
func (f *Frame) PersonDecides() bool {
	r, err := f.OnRecord()
	return err == nil && r.Steps.PersonDecides()
}

// Asking decides about a question that the agent is about to ask the person: with some of the outcomes of a step, which it names or
// which are its only options, it is refused, because they would choose from what the agent has left.
func (f *Frame) Asking(ctx context.Context, choices []Choice) Verdict {
	if !f.PersonDecides() {
		return Verdict{}
	}
	s, err := f.Now(ctx)
	if err != nil {
		return Verdict{} // the answer is judged, too
	}
	for _, x := range choices {
		for _, c := range s.Ready() {
			if c.Decides == fsmspec.ByPerson && leavesOut(s, c, x) && !slices.ContainsFunc(s.Ready(), func(other *state.Current) bool {
				return offers(s, other, x.Options)
			}) {
				return deny(c, "the question has other options", "The question does not have exactly the outcomes of "+askWith(c))
			}
		}
	}
	return Verdict{}
}

// leavesOut reports whether a question about the step has other options than its outcomes.
func leavesOut(s *state.State, c *state.Current, x Choice) bool {
	isOutcome := func(label string) bool { return outcomeOf(c, label) != "" }
	if offers(s, c, x.Options) || !slices.ContainsFunc(x.Options, isOutcome) {
		return false
	}
	return names(x.Question, c) || !slices.ContainsFunc(x.Options, func(label string) bool { return !isOutcome(label) })
}

// stepAsked returns the step about which a person was asked and for which their answer counts, or nil.
func stepAsked(s *state.State, x Choice) *state.Current {
	var meant, named []*state.Current
	for _, c := range s.Ready() {
		switch {
		case x.Step != 0 && c.ID != x.Step || !choosesFrom(s, c, x):
		case x.Step != 0:
			return c
		default:
			meant = append(meant, c)
			if names(x.Question, c) {
				named = append(named, c)
			}
		}
	}
	switch {
	case len(named) == 1:
		return named[0]
	case len(meant) == 1 && len(named) == 0 && namesNone(x.Question):
		return meant[0] // its outcomes tell it from the others
	}
	return nil
}

// names reports whether a question has the number of the step.
func names(question string, c *state.Current) bool {
	_, rest, ok := strings.Cut(question, "#"+message.Itoa(c.ID))
	return ok && (rest == "" || rest[0] < '0' || rest[0] > '9')
}

// choosesFrom reports whether a person decides how the step ends, and the options are exactly the outcomes among which they can choose:
// of fewer they would choose what the agent has left. In a form of the server there are no other options.
func choosesFrom(s *state.State, c *state.Current, x Choice) bool {
	if c.Decides != fsmspec.ByPerson || outcomeOf(c, x.Chosen) == "" {
		return false
	}
	if len(x.Options) == 0 {
		return x.Step != 0
	}
	return offers(s, c, x.Options)
}

// offers reports whether the options are exactly the outcomes of the step among which a person can choose.
func offers(s *state.State, c *state.Current, options []string) bool {
	var chosen []string
	for _, label := range options {
		name := outcomeOf(c, label)
		if name == "" {
			return false
		}
		chosen = append(chosen, name)
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	return slices.Equal(chosen, slices.Sorted(slices.Values(c.Choices()))) ||
		slices.Equal(chosen, slices.Sorted(slices.Values(s.Offered(c))))
}

// outcomeOf returns the outcome that a label stands for; empty if it is none. What is added to a name could say the opposite.
func outcomeOf(c *state.Current, label string) string {
	for _, name := range c.Choices() {
		if strings.EqualFold(strings.TrimSpace(label), name) {
			return name
		}
	}
	return ""
}

// decidedMeanwhile tells the agent that the step ended in a terminal before the question about it was answered. It is empty if none did.
func decidedMeanwhile(s *state.State, x Choice) string {
	meant := slices.DeleteFunc(slices.Clone(s.Steps), func(c *state.Current) bool {
		return !s.EndedInTerminal(c) || c.ID != x.Step && !names(x.Question, c) && !namesNone(x.Question) || !choosesFrom(s, c, x)
	})
	if len(meant) != 1 {
		return ""
	}
	how := s.HowEnded(meant[0].ID)
	if s.Word(meant[0]) == state.IsDone {
		how += " as " + meant[0].Outcome
	}
	return how + " already: " + saidInTerminal + ". Go on"
}

// namesNone reports whether a question has no number of a step.
func namesNone(question string) bool { return !strings.Contains(question, "#") }

// askedOtherwise tells the agent that an answer does not count, if the question may have been meant for a step.
func askedOtherwise(s *state.State, x Choice) string {
	for _, c := range s.Ready() {
		isOption := func(label string) bool { return outcomeOf(c, label) != "" }
		if c.Decides == fsmspec.ByPerson && s.Choice(c) == "" && (names(x.Question, c) || namesNone(x.Question)) &&
			slices.ContainsFunc(x.Options, isOption) {
			return "This does not count for " + askWith(c)
		}
	}
	return ""
}

// askWith says how the person is asked about the step.
func askWith(c *state.Current) string {
	return fmt.Sprintf("%s: ask the person %q, with exactly these options: %s.", c.Name(), state.Question(c),
		strings.Join(c.Choices(), ", "))
}

// linesPast returns the lines that record that a person ends a step, and folds them. If they
// are refused, there are none.
func linesPast(s *state.State, p Past, by state.By) (lines []state.Evidence, err error) {
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
	lines = skipBlockers(s, target, p.Because, by)
	refuse := func(err error) ([]state.Evidence, error) {
		s.Evidence = before
		s.Fold()
		return nil, fmt.Errorf("%s: %w", target.Name(), err)
	}
	switch {
	case p.Done:
	case !target.Done():
		skipped := skip(s, target, p.Because, by)
		skipped[0].Wrong = p.Wrong
		return append(lines, skipped...), nil
	case p.Wrong:
		return refuse(errors.New("once the steps before it are skipped it is not needed: leave --wrong out"))
	default: // it is not needed once the steps before it are skipped
		return lines, nil
	}
	tr, err := s.Conclude(target, outcome)
	if errors.Is(err, machine.ErrSpent) {
		return refuse(fmt.Errorf("%s: %w (%s)", outcome, errSpent, message.Times(target.OutcomeNamed(outcome).Max)))
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
		return refuse(fmt.Errorf("%w: %s; it ends as %s", ErrNoOutcome, message.Quote(outcome), message.Alternatives(all)))
	}
	var values map[string]string
	if target.OwesValues(tr) {
		if values, err = givenByPerson(s, target, p.Values); err != nil {
			return refuse(err)
		}
	}
	e := state.Evidence{Step: target.ID, To: workflow.Completed, Verdict: state.CallsIt, Why: p.Because, By: by,
		Outcome: tr.Outcome, Reopens: tr.Reopens,
		NotNeeded: tr.NotNeeded,
		Values:    values}
	if state.IsBack(tr) {
		e.To, e.Files = workflow.Pending, p.files
	}
	return append(lines, follow(s, e)...), nil
}

// skipBlockers returns the lines that record that a person skipped the open steps before one, and folds them.
func skipBlockers(s *state.State, c *state.Current, because string, by state.By) (lines []state.Evidence) {
	for open := s.OpenBlockers(c); len(open) > 0; open = s.OpenBlockers(c) {
		lines = append(lines, skip(s, cmp.Or(s.First(open), open[0]), because, by)...)
	}
	return lines
}

// follow completes the line of a person's decision, and folds it.
func follow(s *state.State, e state.Evidence) []state.Evidence {
	c := s.Step(e.Step)
	e.Time, e.From, e.Round = s.Time, c.Status, c.Round
	if c.Unread && e.To == workflow.Completed {
		c.Status = workflow.Completed // which is believed
	}
	s.Evidence = append(s.Evidence, e)
	s.Fold()
	return []state.Evidence{e}
}

// skip returns the line that records that a person skipped the step, and folds it.
func skip(s *state.State, c *state.Current, because string, by state.By) []state.Evidence {
	_, tr, _ := s.Flows[c.Workflow].Skip(c.ID)
	return follow(s, state.Evidence{Step: c.ID, To: workflow.Completed, Verdict: state.Skip, Why: because, By: by, Outcome: machine.Skipped,
		NotNeeded: tr.NotNeeded})
}

// impliedOutcome returns the outcome that a person said the step ends in.
func impliedOutcome(c *state.Current, p Past) (string, error) {
	choices := c.Choices()
	switch {
	case p.Outcome != "":
		return p.Outcome, nil // a person may take one that the agent cannot choose
	case len(choices) == 1:
		return choices[0], nil
	case slices.Contains(choices, machine.Done):
		return machine.Done, nil
	}
	return "", fmt.Errorf("%s: %w: say with --outcome whether it ends as %s", c.Name(), ErrNoOutcome, message.Alternatives(choices))
}

// outcomeToSay returns the outcome if a person who marks the step as done has to say it, and else "".
func outcomeToSay(c *state.Current, outcome string) string {
	if implied, err := impliedOutcome(c, Past{}); err == nil && implied == outcome {
		return ""
	}
	return outcome
}

// doneCommand returns the command with which a person marks a step as done, in the outcome about
// which they were asked. The command has NAME where they have to choose one, and the flag of the list, if there is one.
func doneCommand(s *state.State, c *state.Current, list string) string {
	outcome := ""
	if _, err := impliedOutcome(c, Past{}); err != nil {
		outcome = "NAME"
	}
	if e, ok := s.LastEver(c.ID); ok && e.Verdict == state.Ask && e.Outcome != "" {
		outcome = outcomeToSay(c, e.Outcome)
	}
	return strings.TrimSpace(state.ApproveCommand(c.ID, outcome, list))
}

// DoneCommands returns the commands of doneCommand, one for each outcome where a person has to choose one.
func DoneCommands(s *state.State, c *state.Current, list string) (all []string) {
	if e, ok := s.LastEver(c.ID); ok && e.Verdict == state.Ask && e.Outcome != "" {
		return []string{doneCommand(s, c, list)}
	}
	if _, err := impliedOutcome(c, Past{}); err == nil {
		return []string{doneCommand(s, c, list)}
	}
	for _, outcome := range c.Choices() {
		all = append(all, strings.TrimSpace(state.ApproveCommand(c.ID, outcome, list)))
	}
	return all
}

// Reopen opens a step again, and every step that comes after it.
//
// Errors: those of MayReopen, errUnread, errClosed, those of Load and of tasks.List.Open.
func (f *Frame) Reopen(ctx context.Context, id int64, because string, by state.By) (*state.State, error) {
	files := f.filesBefore(ctx, id, func(s *state.State, c *state.Current) (machine.Transition, error) {
		_, tr, err := s.Flows[c.Workflow].Reopen(id)
		return tr, err
	})
	return f.overrule(ctx, id, by, func(s *state.State, c *state.Current, by state.By) ([]state.Evidence, error) {
		if err := MayReopen(s, id, f.listFlag()); err != nil {
			return nil, err
		}
		switch {
		case c.Unread:
			return nil, fmt.Errorf("%s: %w", c.Name(), errUnread)
		case s.IsClosed(c.Workflow):
			return nil, message.WithHint(fmt.Errorf("%s: %w%s", c.Name(), errClosed, s.WhyClosed(c.Workflow)), f.howToOpen(s, c.Workflow))
		}
		_, tr, _ := s.Flows[c.Workflow].Reopen(id)
		return follow(s, state.Evidence{Step: id, To: workflow.Pending, Verdict: state.Reopen, Why: because, Reopens: tr.Reopens,
			NotNeeded: tr.NotNeeded, By: by,
			Files: files}), nil
	})
}

// howToOpen says which step a person opens again so that a closed workflow is needed again.
func (f *Frame) howToOpen(s *state.State, w *workflow.Workflow) string {
	p := s.Parent(w)
	for s.IsClosed(p.Workflow) {
		p = s.Parent(p.Workflow)
	}
	if !p.Done() {
		return "its skill has to be called again"
	}
	return fmt.Sprintf(`open that one again: fsmtx step reopen %d --because "..."%s`, p.ID, f.ListFlag())
}

// End ends the workflow of a step: its open steps, and what is under them, are not needed any
// more.
//
// Errors: those of MayEnd, of Load and of tasks.List.Open.
func (f *Frame) End(ctx context.Context, id int64, because string, by state.By) (*state.State, error) {
	return f.overrule(ctx, id, by, func(s *state.State, c *state.Current, by state.By) ([]state.Evidence, error) {
		e := state.Evidence{Step: id, To: c.Status, Verdict: state.End, Why: because, By: by}
		for _, b := range EndedWith(s, c.Workflow) {
			e.NotNeeded = append(e.NotNeeded, b.ID)
		}
		if err := MayEnd(s, id); err != nil {
			return nil, err
		}
		return follow(s, e), nil
	})
}

// overrule records a person's decision about a step, and makes the list show it. What the list showed before is made right even
// if the person is refused.
func (f *Frame) overrule(ctx context.Context, id int64, by state.By,
	decide func(*state.State, *state.Current, state.By) ([]state.Evidence, error)) (s *state.State, err error) {
	r, err := f.OnRecord()
	if err != nil {
		return nil, err
	}
	target := r.Steps.Find(message.Itoa(id))
	if target == nil {
		return nil, noStep(r.Departed, id)
	}
	stood := state.ContentNow(ctx, target.Workflow.Dir, state.ObjectsOf(f.List.Dir))
	by.Session = cmp.Or(by.Session, f.Session)
	err = f.changing(ctx, "", func(c *call, dir *txn.Dir, now *state.State) error {
		if s = now; s.Step(id) == nil {
			return fmt.Errorf("#%d: %w", id, errNoStep)
		}
		lines := c.shownLines(s)
		decided, refused := decide(s, s.Step(id), by)
		x := state.Change{Status: map[int64]string{}}
		for i, e := range decided {
			if e.To == workflow.Completed || e.Verdict == state.End { // the run may end with it
				decided[i].Content = stood
			}
			if s.Step(e.Step).Unread && e.To == workflow.Completed { // what the list shows is believed
				x.Status[e.Step] = workflow.Completed
			}
		}
		x.Lines = append(lines, decided...)
		done, err := c.Store.Apply(ctx, dir, s, x)
		return cmp.Or(refused, err, done.NotYet, done.Unset)
	})
	return s, err
}
