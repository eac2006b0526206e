package steps

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
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
		e.verdict.Outcome = outcomeToSay(target, tr.Outcome)
		d := c.final(s, target, e.verdict, lines)
		e.sign(&d.lines[len(d.lines)-1], machine.Transition{Outcome: tr.Outcome})
		return d
	case !ok:
		return c.final(s, target, e.verdict, lines)
	}
	files, known := c.facts[factKey{target.ID, filesBefore}]
	if patterns := filesOpened(s, tr.Reopens); len(patterns) > 0 && !known {
		return decision{lines: lines, claim: []int64{target.ID}, files: []lookup{{step: target, kind: filesBefore, wanted: wanted{patterns: patterns, every: true}}}}
	}
	v := c.reasoned(target, e.verdict)
	if len(target.Outcomes) > 0 {
		v.Why = tr.Outcome + ": " + v.Why
	}
	if items, ok := s.Expansion(target); ok {
		v.Why += fmt.Sprintf(", for %d items", len(items))
	}
	if isBack(tr) {
		v.Why = fmt.Sprintf("%s, time %d of %d", tr.Outcome, tr.Times, tr.Max)
		after, _, _ := s.flows[target.Workflow].Conclude(target.ID, tr.Outcome)
		v.Turn = &Turn{Outcome: tr.Outcome, Text: s.turned(target, tr, e.asked, s.numbered(after.Ready()), v.Check)}
	} else if e.asked != "" {
		v = v.telling(spentText(target, e.asked) + ": " + target.Name() + " ends as " + tr.Outcome + "." + failure(e.asked, v.Check))
	}
	d := c.final(s, target, v, lines)
	line := &d.lines[len(d.lines)-1]
	if e.sign(line, tr); isBack(tr) {
		line.Files = files.digests
	}
	return d
}

// sign adds the outcome to the line that records it.
func (e *ending) sign(line *Evidence, tr machine.Transition) {
	line.Outcome, line.Round, line.Reopens, line.NotNeeded = tr.Outcome, e.step.Round, tr.Reopens, tr.NotNeeded
	if isBack(tr) {
		line.To = pending
	} else {
		line.Values = e.given
	}
	if e.step.Decides == machine.Person.String() {
		line.By.Who, line.By.How = ThePerson, cmp.Or(e.s.answer(e.step).By.How, ByQuestion)
	}
}

// decideSeen decides about the steps, except the target, that were completed in another way. ok is false if one
// of them is denied, or if something is missing.
func (c *call) decideSeen(s *State, target *Current, lines []Evidence) (d decision, ok bool) {
	for {
		b := s.unjudged(func(b *Current) bool { return b.ID == target.ID })
		if b == nil {
			return decision{lines: lines}, true
		}
		e, line, ok := c.endSeen(s, b)
		if !e.missing.decided() {
			e.missing.lines, e.missing.claim = lines, []int64{b.ID}
			return e.missing, false
		}
		if !ok {
			return c.final(s, target, blamed(b, e.verdict), append(append(lines, e.expand...), line)), false
		}
		lines = append(append(lines, e.expand...), line)
	}
}

// judgeSeen is decideSeen at an event that runs no gate: it leaves the steps out about which
// that does not suffice.
func (c *call) judgeSeen(s *State) (lines []Evidence) {
	left := map[int64]bool{}
	for {
		b := s.unjudged(func(b *Current) bool { return left[b.ID] })
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

// unjudged returns the first step, except some, that was completed in another way, or nil.
func (s *State) unjudged(except func(*Current) bool) *Current {
	all := s.unverified()
	i := slices.IndexFunc(all, func(b *Current) bool { return !except(b) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// endSeen decides how a step ends that was completed in another way, and folds that. ok is
// false if it is denied or something is missing; the line then records the denial.
func (c *call) endSeen(s *State, b *Current) (e *ending, line Evidence, ok bool) {
	e = &ending{c: c, s: s, step: b, seen: true}
	tr, ok := e.end()
	if !ok && e.verdict.Decision == Ask {
		e.verdict = unapproved(b)
	}
	line = c.seenLine(s, b, e.verdict)
	if !ok || !e.missing.decided() {
		return e, line, false
	}
	if line.Verdict = SeenDone; isBack(tr) {
		line.Verdict = Allow
	}
	e.sign(&line, tr)
	s.Evidence = append(s.Evidence, line)
	s.fold()
	return e, line, true
}

// maxTurn limits what the agent reads at a transition, in characters, beside the description
// of what is ready and the output of a check that failed.
const maxTurn = 600

// turned tells the agent what an outcome that leads back has opened, and what is ready then. asked
// is the outcome that was spent, so that this one was taken; empty if it was chosen itself.
func (s *State) turned(c *Current, tr machine.Transition, asked string, ready []*Current, r *Result) string {
	text := fmt.Sprintf("%s: %s, time %d of %d. ", message.Clip(message.Words(c.Subject), maxTurn/6), tr.Outcome, tr.Times, tr.Max) +
		brief(s.numbered(tr.Reopens)) + " " + areOpen(len(tr.Reopens)) + " again."
	if asked != "" {
		text = spentText(c, asked) + ". " + text
	}
	description := ""
	if len(ready) > 0 {
		if description = ready[0].Description; !slices.Contains(tr.Reopens, ready[0].ID) {
			description = s.ToDo(ready[0])
		}
	}
	return text + nowReady(ready, description) + failure(cmp.Or(asked, tr.Outcome), r)
}

// spentText tells the agent that an outcome has led back as often as it may.
func spentText(c *Current, outcome string) string {
	return outcome + " has led back as often as it may (" + timesText(c.outcomeNamed(outcome).Max) + ")"
}

// failure returns which check failed, how, and the end of its output, for an outcome that follows from that.
func failure(outcome string, r *Result) string {
	if r == nil || outcome != machine.Failed {
		return ""
	}
	text := fmt.Sprintf("\nThe check failed (%s): %s\n", r.how(), message.Clip(message.Words(r.Run), maxSubject))
	if tail := lastLines(r.output); tail != "" {
		return text + "The end of its output:\n" + tail
	}
	return text + "It printed nothing."
}

// nowReady tells the agent what is ready after a transition, with the description of the first.
func nowReady(ready []*Current, description string) string {
	if len(ready) == 0 {
		return ""
	}
	text := " Ready: " + brief(ready[:1])
	if d := message.Block(description); d != "" {
		text += ": " + message.Clip(d, maxDescription)
	}
	if len(ready) > 1 {
		text += "\nAlso ready: " + brief(ready[1:])
	}
	return text
}

// brief names steps in a part of maxTurn. Those for whose subjects it has no room are numbers,
// and those beyond a few only counted: TaskList shows them all.
func brief(all []*Current) string {
	const room = maxTurn / 5
	if text := Names(all); utf8.RuneCountInString(text) <= room {
		return text
	}
	if len(all) == 1 {
		return "#" + itoa(all[0].ID) + ` "` + message.Clip(message.Words(all[0].Subject), room-20) + `"`
	}
	var numbers []string
	for _, c := range all {
		numbers = append(numbers, "#"+itoa(c.ID))
	}
	return sentence(numbers)
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

// Item returns the line for which a step, or one that it is under, is the copy; or "".
func (s *State) Item(c *Current) string { return s.item(c.Workflow) }

// item returns the line for which a workflow, or one that it is under, is the copy; or "".
func (s *State) item(w *Workflow) string {
	for p := s.Parent(w); p != nil && w.Item == ""; p = s.Parent(w) {
		w = p.Workflow
	}
	return w.Item
}

// variables returns what the commands of a step get in their environment: its round, how
// the steps before it ended, by their ids in the fsm.json, and the values, with those that it
// gives now.
func (s *State) variables(c *Current, given map[string]string) []string {
	all := []string{fmt.Sprintf("FSM_ROUND=%d", c.Round)}
	values := s.valuesOf(c, given)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, fsmspec.Variable(name)+"="+values[name])
	}
	for _, b := range s.In(c.Workflow) {
		if b.Outcome != "" {
			all = append(all, fmt.Sprintf("FSM_OUTCOME_%d=%s", b.Local, b.Outcome))
		}
	}
	return all
}
