package state

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// LogDecisions passes decisions on to Store.Log, once they are on record. s is the state after them.
func (st *Store) LogDecisions(s *State, lines []Evidence) {
	st.logDecisions(s, lines, st.following(s, lines))
}

// following returns of each line the steps whose states follow from it, for the log. s is the state after them that still has the copies of
// earlier rounds: the log tells that these do not count any more.
func (st *Store) following(s *State, lines []Evidence) (all [][]decisions.Other) {
	for _, e := range lines {
		var others []decisions.Other
		if c := s.Step(e.Step); st.Log != nil && c != nil {
			others = s.others(e, c)
		}
		all = append(all, others)
	}
	return all
}

func (st *Store) logDecisions(s *State, lines []Evidence, others [][]decisions.Other) {
	if st.Log == nil {
		return
	}
	for i, e := range lines {
		c := s.Step(e.Step)
		if c == nil || !e.isDecision() {
			continue
		}
		r := s.record(e, c)
		if i < len(others) {
			r.Others = others[i]
		}
		if !slices.ContainsFunc(lines[i+1:], func(o Evidence) bool { n := s.Step(o.Step); return n != nil && n.Workflow == c.Workflow }) {
			open := s.openOnce(c.Workflow, e)
			r.Steps, r.Open = len(c.Workflow.Steps), &open
			r.Finished = open == 0 && !c.Workflow.Part && (e.Completes() || e.Verdict == End)
		}
		r.List, r.Session = st.List.Dir, cmp.Or(r.Session, st.Session)
		st.Log.Add(r)
	}
}

// isDecision reports whether the line is more than a note on what the list shows by now.
func (e Evidence) isDecision() bool {
	return !e.IsQuiet()
}

// openOnce returns how many steps of the workflow are open once the last decision about it is
// carried out.
func (s *State) openOnce(w *workflow.Workflow, e Evidence) (n int) {
	for _, c := range s.In(w) {
		switch {
		case slices.Contains(e.Reopens, c.ID):
			n++
		case c.Done(), s.aboutToBeCompleted(c), slices.Contains(e.NotNeeded, c.ID),
			c.ID == e.Step && e.Lets() && e.To == workflow.Completed:
		default:
			n++
		}
	}
	return n
}

// record returns the line as it is in the log. step and w say what it is about; w is nil if
// that is not known any more.
func (e Evidence) record(step workflow.Step, w *workflow.Workflow) decisions.Record {
	r := decisions.Record{
		Time: e.Time, Source: decisions.Step, Decision: string(e.Verdict), Why: e.Said(),
		Session: e.By.Session, Agent: cmp.Or(e.By.Agent, e.Agent),
		Step: e.Step, From: e.From, To: e.To, Round: e.Round, Times: e.Times, Rule: e.Rule, Note: e.Note,
		Reopens: e.Reopens, NotNeeded: e.NotNeeded, Items: e.Items, Tree: e.Tree, Unchanged: e.Unchanged,
	}
	if len(step.Outcomes) > 0 {
		r.Outcome = e.Outcome
	}
	r.DecidedBy(e.By.Words())
	if e.Check != nil {
		r.Check, r.Exit, r.CheckTime = e.Check.Run, &e.Check.Exit, e.Check.Seconds*1000
	}
	return About(r, step, w)
}

// record returns the line as it is in the log, with what depends on the workflows around its step.
func (s *State) record(e Evidence, c *Current) decisions.Record {
	r := e.record(c.Step, c.Workflow)
	r.Place, r.Passed, r.Gate, r.Wrong = s.PlaceInFile(c), e.passed(c.Step), string(e.Gate), e.Wrong
	r.Unreached, r.Answer = e.unreached(c.Step), e.Answer()
	if e.Content != nil && len(e.Content.Trees) == 1 {
		r.Content = e.Content.Trees[0]
	}
	for _, g := range e.Gaps {
		r.Gaps = append(r.Gaps, string(g))
	}
	if e.Verdict == End && c.Workflow != nil && c.Workflow.Part {
		r.Ended = c.Workflow.Level()
	}
	r.Defined, r.Join = s.defined(c), s.CountsInCopies(c)
	if c.Workflow != nil && r.Run != 0 {
		r.Run = s.OfSkill(c.Workflow).Steps[0].ID
	}
	return r
}

// PlaceInFile returns the ids in the fsm.json by which a step is reached: 2, or 2.1 for part 1 of step 2. A copy of a step for a line has
// that of the step.
func (s *State) PlaceInFile(c *Current) string {
	own, p := message.Itoa(c.Local), s.Parent(c.Workflow)
	switch {
	case c.Local == 0: // nothing is on record of it any more
		return ""
	case !c.Workflow.Part || p == nil:
		return own
	case c.Workflow.Item != "" && p.Each != nil && p.Each.Itself:
		return s.PlaceInFile(p)
	}
	return s.PlaceInFile(p) + "." + own
}

// CountsInCopies reports whether the copies of a step for the lines of its present round count in its place.
func (s *State) CountsInCopies(c *Current) bool {
	return c.Each != nil && c.Each.Itself && slices.ContainsFunc(s.OfList().Steps,
		func(x *Current) bool {
			return x.Workflow.Parent == c.ID && x.Workflow.Item != "" && isOf(x.Workflow, c)
		})
}

// others returns the steps whose states follow from the line: those that it made unnecessary, and those that are open again; of those
// below them, and below its own, as far as the state is folded.
func (s *State) others(e Evidence, c *Current) (all []decisions.Other) {
	if !e.Lets() || !e.Completes() && len(e.NotNeeded)+len(e.Reopens) == 0 {
		return nil
	}
	isOver := func(p *Current) bool { return slices.Contains(e.NotNeeded, p.ID) || p == c && e.Completes() }
	isBack := func(p *Current) bool { return slices.Contains(e.Reopens, p.ID) }
	for _, x := range s.Steps {
		if s.CountsInCopies(x) {
			continue
		}
		above, word := s.Above(x.Workflow), IsNotNeeded
		switch {
		case slices.Contains(e.NotNeeded, x.ID):
		case (x.NotNeeded || !x.Done()) && slices.ContainsFunc(above, isOver):
		case isBack(x): // which the line names
			continue
		case !x.Done() && (slices.ContainsFunc(above, isBack) || e.IsReopen() && s.isAfter(x.Workflow, e.Step)),
			s.isOutdated(x.Workflow) && !s.isOutdated(s.OfSkill(x.Workflow)) && slices.ContainsFunc(above, isBack): // others come in its place
			word = Open
		case x.NotNeeded && s.IsClosed(x.Workflow) && slices.ContainsFunc(above, isBack): // it was called in a round that is over
		default:
			continue
		}
		all = append(all, decisions.Other{Run: s.OfSkill(x.Workflow).Steps[0].ID, Step: x.ID, Place: s.PlaceInFile(x),
			Subject: s.SubjectInFile(x), State: string(word)})
	}
	return all
}

// Completes reports whether the line lets the step end.
func (e Evidence) Completes() bool {
	return e.Lets() && e.To == workflow.Completed && len(e.Reopens) == 0 && e.Rule == ""
}

// SubjectInFile returns the subject that the fsm.json gives to a step: of a copy for a line that of the step, with the names of values.
func (s *State) SubjectInFile(c *Current) string { return cmp.Or(s.defined(c), c.Subject) }

// defined is SubjectInFile if that is not the subject of the step; else empty.
func (s *State) defined(c *Current) string {
	p := s.Parent(c.Workflow)
	switch {
	case p != nil && p.Each != nil && c.Workflow.Item != "":
		return p.Each.SubjectOf(c.Local)
	case c.Template != nil && c.Template.Subject != c.Subject:
		return c.Template.Subject
	}
	return ""
}

// passed returns the gates that let the step through; see decisions.Record.
func (e Evidence) passed(step workflow.Step) []string {
	if !e.Lets() || e.Gate != "" || e.GonePast() != "" || e.IsQuiet() || e.To == "" || e.Rule != "" {
		return nil
	}
	return e.judged(step)
}

// unreached returns the gates behind the one that would have refused, where nothing is refused: that one ended the judgement.
func (e Evidence) unreached(step workflow.Step) []string {
	if e.Verdict != Allow || e.Gate == "" || e.Rule != "" || !slices.Contains(e.Gaps, Observing) {
		return nil
	}
	gate := string(e.Gate)
	if step.OutcomeNamed(e.Outcome) != nil && strings.HasPrefix(gate, "outcome ") {
		gate += "/" + e.Outcome
	}
	all := e.judged(step)
	return all[slices.Index(all, gate)+1:] // all, if the step was not to be decided yet
}

// judged returns the gates that are to hold for the update, in the order in which they are judged.
func (e Evidence) judged(step workflow.Step) (names []string) {
	completes := e.To == workflow.Completed && len(e.Reopens) == 0
	for _, g := range step.Gates() {
		if g.When == fsmspec.AtCompletion && completes && (g.Check == nil || !slices.Contains(e.Gaps, ChecksOff)) ||
			g.When == fsmspec.AtStart && e.From == workflow.Pending {
			names = append(names, string(g.Kind))
		}
	}
	if o := step.OutcomeNamed(e.Outcome); o != nil && completes {
		for _, g := range o.Gates() {
			if g.Check == nil || !slices.Contains(e.Gaps, ChecksOff) {
				names = append(names, string(g.Kind)+"/"+o.Name)
			}
		}
	}
	return names
}

// About adds what a decision is about.
func About(r decisions.Record, step workflow.Step, w *workflow.Workflow) decisions.Record {
	r.Step, r.Task, r.Subject = cmp.Or(step.ID, r.Step), step.Local, step.Subject
	if w != nil {
		r.Workflow, r.Spec, r.Digest, r.Project, r.Parent = w.Command, w.Spec, w.SHA256, w.Dir, w.Parent
		if len(w.Steps) > 0 {
			r.Run = w.Steps[0].ID
		}
	}
	return r
}

// Decided returns the decisions about steps of the list that are on record, oldest first, also those of
// workflows that were replaced. It takes no lock and creates nothing. troubles are why some
// are missing, or what they are about.
//
// Errors: that S cannot be read. With no S there are no decisions.
func (st *Store) Decided() (all []decisions.Record, troubles []error, err error) {
	src, err := txn.OpenReader(st.List.Dir, txn.WithFS(st.List.Files()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	r := st.recorded(src, true)
	for _, b := range r.Broken {
		troubles = append(troubles, b.err)
	}
	s := State{values: map[*workflow.Workflow]map[string]string{}}
	for _, x := range r.known {
		s.Steps = append(s.Steps, &Current{Step: *x.Step, Workflow: x.Workflow})
	}
	slices.SortFunc(s.Steps, func(a, b *Current) int { return cmp.Compare(a.ID, b.ID) })
	st.readEvidence(&s, src, true)
	lines := slices.Concat(s.Evidence, s.Calls)
	slices.SortStableFunc(lines, func(a, b Evidence) int { return a.Time.Compare(b.Time) })
	for _, e := range lines {
		c := s.Step(e.Step)
		if c == nil {
			c = &Current{Step: workflow.Step{ID: e.Step}}
		} else {
			maps.Copy(s.own(c.Workflow), e.Values)
			c.Round = max(1, e.Round)
			s.Fill(c, nil)
		}
		if e.isDecision() && !(c.Workflow != nil && r.hasLeft(c.Workflow)) {
			r := s.record(e, c)
			r.List, r.Others = st.List.Dir, s.others(e, c)
			all = append(all, r)
		}
	}
	return all, append(troubles, s.Troubles...), nil
}
