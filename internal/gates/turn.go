package gates

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// decideEnd decides how the target ends, if the agent may complete it now.
func (c *call) decideEnd(s *state.State, target *state.Current, lines []state.Evidence) decision {
	e := &ending{c: c, s: s, step: target}
	tr, ok := e.end()
	switch {
	case !e.missing.decided():
		e.missing.lines, e.missing.claim = lines, []int64{target.ID}
		return e.missing
	case (ok && !state.IsBack(tr) || !ok && e.verdict.Decision == state.Ask) && c.content(target) == nil && !c.looked:
		return decision{lines: lines, claim: []int64{target.ID}, content: true}
	case !ok && e.verdict.Decision == state.Ask && !c.observes():
		e.verdict.Outcome = outcomeToSay(target, tr.Outcome)
		d := c.finalDecision(s, target, e.verdict, lines)
		line := &d.lines[len(d.lines)-1]
		line.Outcome, line.Round, line.Values = tr.Outcome, target.Round, e.given
		return d
	case !ok:
		return c.finalDecision(s, target, e.verdict, lines)
	case c.observes() && state.IsBack(tr) && tr.Outcome == machine.Failed: // nobody has asked for that
		v := check(target, *e.verdict.Check)
		v.gate = fsmspec.CheckPasses
		return c.finalDecision(s, target, v, lines)
	}
	files, known := c.facts[factKey{target.ID, filesBefore}]
	if patterns := filesOpened(s, tr.Reopens); len(patterns) > 0 && !known {
		return decision{lines: lines, claim: []int64{target.ID},
			files: []lookup{{step: target, kind: filesBefore, Wanted: facts.Wanted{Patterns: patterns, Every: true}}}}
	}
	v := c.reasoned(target, e.verdict)
	if len(target.Outcomes) > 0 {
		v.Why = strings.TrimSuffix(tr.Outcome+": "+v.Why, ": ")
	}
	if items, ok := s.Expansion(target); ok {
		v.Why = strings.TrimPrefix(v.Why+", for "+state.CountItems(len(items)), ", ")
	}
	if state.IsBack(tr) {
		v.Why = fmt.Sprintf("%s, time %d of %d", tr.Outcome, tr.Times, tr.Max)
		after, _, _ := s.Flows[target.Workflow].Conclude(target.ID, tr.Outcome)
		v.Turn = &Turn{Outcome: tr.Outcome, Text: message.ForAgent(s.Turned(target, tr, e.asked, s.ReadyAfter(after, tr), v.Check))}
	} else if e.asked != "" {
		v = v.telling(message.ForAgent(state.SpentText(target, e.asked) + ": " + target.Name() + " ends as " + tr.Outcome + "." +
			state.Failure(e.asked, v.Check)))
	}
	d := c.finalDecision(s, target, v, lines)
	line := &d.lines[len(d.lines)-1]
	if e.sign(line, tr); state.IsBack(tr) {
		line.Files = files.Digests
	}
	return d
}

// sign adds the outcome to the line that records it.
func (e *ending) sign(line *state.Evidence, tr machine.Transition) {
	line.Outcome, line.Round, line.Reopens, line.NotNeeded = tr.Outcome, e.step.Round, tr.Reopens, tr.NotNeeded
	if state.IsBack(tr) {
		line.To = workflow.Pending
	} else {
		line.Values = e.given
	}
	if e.step.Decides == machine.Person {
		line.By.Who, line.By.How = state.ThePerson, cmp.Or(e.s.LastChoice(e.step).By.How, state.ByQuestion)
	}
}

// decideSeen decides about the steps, except the target, that were completed in another way. ok is false if one
// of them is denied, or if something is missing.
func (c *call) decideSeen(s *state.State, target *state.Current, lines []state.Evidence) (d decision, ok bool) {
	for !c.agreed {
		b := s.FirstUnverified(func(b *state.Current) bool { return b.ID == target.ID })
		if b == nil {
			return decision{lines: lines}, true
		}
		e, line, ok := c.endSeen(s, b)
		if !e.missing.decided() {
			e.missing.lines, e.missing.claim = lines, []int64{b.ID}
			return e.missing, false
		}
		if !ok {
			return c.finalDecision(s, target, blamed(b, e.verdict), append(append(lines, e.expand...), line)), false
		}
		lines = append(append(lines, e.expand...), line)
	}
	return decision{lines: lines}, true
}

// decideSeenUngated is decideSeen at an event that runs no gate: it leaves the steps out about which
// that does not suffice.
func (c *call) decideSeenUngated(s *state.State) (lines []state.Evidence) {
	left := map[int64]bool{}
	for {
		b := s.FirstUnverified(func(b *state.Current) bool { return left[b.ID] })
		if b == nil {
			return lines
		}
		if e, line, ok := c.endSeen(s, b); ok {
			lines = append(append(lines, e.expand...), line)
		} else {
			left[b.ID] = true
		}
	}
}

// endSeen decides how a step ends that was completed in another way, and folds that. ok is
// false if it is denied or something is missing; the line then records the denial.
func (c *call) endSeen(s *state.State, b *state.Current) (e *ending, line state.Evidence, ok bool) {
	e = &ending{c: c, s: s, step: b, seen: true}
	tr, ok := e.end()
	line = c.seenLine(s, b, e.verdict)
	if !ok || !e.missing.decided() {
		return e, line, false
	}
	if line.Verdict = state.SeenDone; state.IsBack(tr) {
		line.Verdict = state.Allow
	}
	e.sign(&line, tr)
	s.Evidence = append(s.Evidence, line)
	s.Fold()
	return e, line, true
}

// lateText tells the agent which steps the clock has ended, by the lines that record it, and what
// follows from that.
func lateText(s *state.State, lines []state.Evidence) (text message.ForAgent) {
	var late []state.Evidence
	for _, e := range lines {
		if c := s.Step(e.Step); c != nil && e.IsLate() {
			text = message.Join(text,
				message.ForAgent(c.Name()+" ended as late: its time limit of "+fsmspec.Duration(c.Within)+" has passed."))
			late = append(late, e)
		}
	}
	if text == "" {
		return ""
	}
	if more := s.SeenText(late, true); more != "" {
		return text + message.ForAgent(" "+more)
	}
	if ready := s.Ready(); len(ready) > 0 {
		text += message.ForAgent(" Ready: " + s.Described(ready[0]))
	}
	return text
}
