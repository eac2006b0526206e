package steps

import (
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// decideEnd decides how the target ends, if the agent may complete it now.
func (c *call) decideEnd(s *State, target *Current, lines []Evidence) decision {
	e := &ending{c: c, s: s, step: target}
	tr, ok := e.end()
	switch {
	case !e.missing.decided():
		e.missing.lines, e.missing.claim = lines, []int64{target.ID}
		return e.missing
	case !ok && e.verdict.Decision == Ask:
		d := c.final(s, target, e.verdict, lines)
		d.lines[len(d.lines)-1].Outcome = tr.Outcome
		return d
	case !ok:
		return c.final(s, target, e.verdict, lines)
	}
	v := c.reasoned(target, e.verdict)
	v.Why = tr.Outcome + ": " + v.Why
	if isBack(tr) {
		v.Why = fmt.Sprintf("%s, time %d of %d", tr.Outcome, tr.Times, tr.Max)
		v.Turn = &Turn{Outcome: tr.Outcome, Text: s.turned(target, tr, v.Check)}
	}
	d := c.final(s, target, v, lines)
	e.sign(&d.lines[len(d.lines)-1], tr)
	return d
}

// sign adds the outcome to the line that records it.
func (e *ending) sign(line *Evidence, tr machine.Transition) {
	line.Outcome, line.Round, line.Reopens, line.NotNeeded = tr.Outcome, e.step.Round, tr.Reopens, tr.NotNeeded
	if isBack(tr) {
		line.To = pending
	}
	if e.step.Decides == machine.Person.String() {
		line.By.Who, line.By.How = ThePerson, ByQuestion
	}
}

// decideSeen decides about the steps of workflows with outcomes, except the target, that were
// completed in another way. ok is false if one of them is denied, or if something is missing.
func (c *call) decideSeen(s *State, target *Current, lines []Evidence) (d decision, ok bool) {
	for {
		i := slices.IndexFunc(s.unverified(), func(b *Current) bool { return b.flows() && b.ID != target.ID })
		if i < 0 {
			return decision{lines: lines}, true
		}
		b := s.unverified()[i]
		e := &ending{c: c, s: s, step: b, seen: true}
		tr, ok := e.end()
		if !e.missing.decided() {
			e.missing.lines, e.missing.claim = lines, []int64{b.ID}
			return e.missing, false
		}
		if !ok && e.verdict.Decision == Ask {
			e.verdict = unapproved(b)
		}
		line := c.seenLine(s, b, e.verdict)
		if !ok {
			return c.final(s, target, blamed(b, e.verdict), append(lines, line)), false
		}
		if line.Verdict = SeenDone; isBack(tr) {
			line.Verdict = Allow
		}
		e.sign(&line, tr)
		lines, s.Evidence = append(lines, line), append(s.Evidence, line)
		s.fold()
	}
}

// recorded returns the lines of a decision that are not part of the state yet.
func (d decision) recorded(s *State) []Evidence {
	return slices.DeleteFunc(slices.Clone(d.lines), func(e Evidence) bool {
		return slices.ContainsFunc(s.Evidence, func(o Evidence) bool {
			return o.Step == e.Step && o.Verdict == e.Verdict && o.Time.Equal(e.Time) && o.To == e.To
		})
	})
}

// maxTurn limits what the agent reads at a transition, beside a description, in characters.
const maxTurn = 600

// turned tells the agent what an outcome that leads back has opened, and what is ready.
func (s *State) turned(c *Current, tr machine.Transition, r *Result) string {
	text := fmt.Sprintf("%s: %s, time %d of %d. ", visible.Clip(visible.Words(c.Subject), maxSubject), tr.Outcome, tr.Times, tr.Max)
	after, _, _ := s.flows[c.Workflow].Conclude(c.ID, tr.Outcome)
	ready := s.numbered(after.Ready())
	text = visible.Clip(text+names(s.numbered(tr.Reopens))+" "+areOpen(len(tr.Reopens))+" again", maxTurn) + "."
	if len(ready) > 0 {
		text += " Ready: " + withDescription(ready[0])
		if len(ready) > 1 {
			text += "\nAlso ready: " + names(ready[1:])
		}
	}
	if r != nil && tr.Outcome == machine.Failed {
		if tail := lastLines(r.output); tail != "" {
			text += "\nThe check failed. The end of its output:\n" + tail
		}
	}
	return text
}

func areOpen(n int) string {
	if n == 1 {
		return "is open"
	}
	return "are open"
}

// numbered returns the steps with these numbers.
func (s *State) numbered(ids []int64) (all []*Current) {
	for _, id := range ids {
		if c := s.Step(id); c != nil {
			all = append(all, c)
		}
	}
	return all
}

// variables returns what the commands of a step get in their environment: its round, and how
// the steps before it ended, by their ids in the fsm.json.
func (s *State) variables(c *Current) []string {
	all := []string{fmt.Sprintf("FSM_ROUND=%d", c.Round)}
	for _, b := range s.Steps {
		if b.Workflow == c.Workflow && b.Outcome != "" {
			all = append(all, fmt.Sprintf("FSM_OUTCOME_%d=%s", b.Local, b.Outcome))
		}
	}
	return all
}
