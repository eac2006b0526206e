package gates

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// News returns for the person what has come of the session's steps since they were last told, a line each: how many steps of a workflow
// are done, which was sent back, and which update, command or call of the server was refused, by itself or by the hook before it. At the
// end of a turn it also says which steps wait for them. What they have seen is not said: a question of the client. It is empty if there is
// nothing, or if it cannot be recorded that they are told.
func (f *Frame) News(ctx context.Context, turnEnds bool) (text message.ForPerson) {
	s, err := f.Now(ctx)
	if err != nil || len(s.Steps) == 0 {
		return ""
	}
	m, err := f.memory()
	m.Reminders, m.Told = maps.Clone(m.Reminders), slices.Clone(m.Told)    // which others read, too
	if err != nil || len(f.untold(s, &m, turnEnds)) == 0 || f.IsForged() { // what a forged hook prints does not reach the person
		return ""
	}
	var lines []string
	if f.Remember(ctx, func(m *state.Memory) { lines = f.untold(s, m, turnEnds) }) != nil { // two hooks may run at once: one of them tells
		return ""
	}
	return message.ForPerson(strings.Join(lines, "\n"))
}

// untold returns the lines that the person was not told yet, and notes in what is kept that they are told now.
func (f *Frame) untold(s *state.State, m *state.Memory, turnEnds bool) []string {
	lines, last := newsOf(s, f, m.Reminders[f.newsKey()])
	later := m.Reminders[f.laterKey()]
	if delete(m.Reminders, f.laterKey()); later != "" {
		lines = append(lines, "fsmtx: "+later)
	}
	if len(lines) > 0 {
		m.Reminders = reminders(m.Reminders).with(f.newsKey(), last.Format(time.RFC3339Nano))
	}
	if missed, ok := s.Missed(); ok && m.Tell(f.Session+"/missed/"+missed.Last.Format(time.RFC3339)) {
		lines = append(lines, "fsmtx: "+missed.String())
	}
	if turnEnds {
		lines = append(lines, untoldWaiting(s, f, m)...)
	}
	return lines
}

// SayLater keeps for the person what a command or a tool has told the agent alone. News says it.
func (f *Frame) SayLater(ctx context.Context, text message.ForPerson) {
	if f.Session == "" || f.Via.Who == state.ThePerson || text == "" {
		return
	}
	_ = f.Remember(ctx, func(m *state.Memory) { // else the agent alone says it
		later := message.Join(m.Reminders[f.laterKey()], string(text))
		m.Reminders = reminders(m.Reminders).with(f.laterKey(), message.Clip(later, maxLater))
	})
}

// maxLater limits what is kept for the person, in characters.
const maxLater = 2000

func (f *Frame) laterKey() string { return "later:" + f.Session + "/" }

// newsKey is the key of the time of the last line of evidence that the person was told of.
func (f *Frame) newsKey() string { return "told:" + f.Session + "/" }

// newsOf returns what to tell of the lines of evidence behind those of a time, and the time of the last of them. It ends before an
// update that was allowed and has not reached the list yet.
func newsOf(s *state.State, f *Frame, since string) (lines []string, last time.Time) {
	from, _ := time.Parse(time.RFC3339Nano, since) // the zero time if nothing was told yet
	last = from
	told := s.Told(from)
	open := s.NotCarriedOut()
	var done []*state.Current
	asides := map[*state.Current]string{}
	var ends []string
	for i, e := range s.Evidence[told:] {
		c := s.Step(e.Step)
		if e.By.Session != f.Session || c == nil {
			continue
		}
		// The lines of one decision have one time.
		if slices.ContainsFunc(open, func(o state.Evidence) bool { return o.Verdict == state.Allow && !o.Time.After(e.Time) }) {
			break
		}
		last = e.Time
		switch {
		case e.By.How == state.AtTerminal || e.IsQuiet() || e.IsReopen():
		case e.Verdict == state.End:
			if isEnded(s, c.Workflow) {
				ends = append(ends, endOf(s, c.Workflow, e))
			}
		case len(e.Reopens) > 0:
			lines = append(lines, lineOf(c, e))
		case e.Verdict == state.Deny && !c.Done() &&
			slices.Contains([]state.How{state.ByUpdate, state.ByApproval, state.ByMCP, state.ByShell, state.ByCommand}, e.By.How):
			if e.Times > 0 || isOver(e, s.Evidence[told+i+1:]) { // the same again
				break
			}
			line := lineOf(c, e)
			if e.Check != nil {
				line += message.Sprintf(" (%s)", message.Clip(e.Check.Run, message.MaxSubject))
			}
			if !slices.Contains(lines, line) { // of another outcome, or another transition
				lines = append(lines, line)
			}
		case e.Lets() && e.To == workflow.Completed && c.Done() && !slices.Contains(done, c):
			done, asides[c] = append(done, c), asideOf(e)
		}
	}
	return append(append(lines, progressOf(s, done, asides)...), ends...), last
}

// lineOf tells of a line of evidence.
func lineOf(c *state.Current, e state.Evidence) string {
	return message.Sprintf("%s: %s %s: %s", c.Workflow.Command, c.Name(), e.ForPerson(), e.Why)
}

// endOf says that a workflow was ended.
func endOf(s *state.State, w *workflow.Workflow, e state.Evidence) string {
	root, what := s.Root(w), ""
	if root != w {
		what = " " + message.Words(w.Title())
	}
	left := slices.DeleteFunc(s.Within(w), func(c *state.Current) bool { return !slices.Contains(e.NotNeeded, c.ID) })
	return message.Sprintf("%s: %s: %s%s; not needed: %s", root.Command, s.CountIn(root).News(), e.ForPerson(), what, state.Names(left))
}

// lacksCommand returns the command with which a person ends a step, if it was refused last because a command would have to be run for
// it, and none is; else it is empty.
func (f *Frame) lacksCommand(s *state.State, c *state.Current) string {
	e, _ := s.Latest(c.ID)
	value, list := e.Gate.Prints(), strings.TrimSpace(f.ListFlag())
	switch {
	case !e.Refuses() || len(s.OpenFor(c, e.To)) > 0 || !f.checksOff():
	case value != "":
		return strings.TrimSpace(state.SetCommand(c.ID, value, list))
	case e.Gate == fsmspec.CommandDecides || e.Gate == fsmspec.EachLine:
		return doneCommand(s, c, list)
	}
	return ""
}

// isOver reports whether a refusal has been followed by the same update, to which nothing stood in the way any more.
func isOver(e state.Evidence, later []state.Evidence) bool {
	return slices.ContainsFunc(later, func(o state.Evidence) bool {
		return o.Step == e.Step && o.To == e.To && (o.Verdict == state.Allow || o.Verdict == state.Ask)
	})
}

// untoldWaiting says which steps wait for the person, once each until they are asked again.
func untoldWaiting(s *state.State, f *Frame, m *state.Memory) (lines []string) {
	for _, c := range s.Steps {
		e, _ := s.Latest(c.ID)
		line := f.lacksCommand(s, c)
		if line == "" && s.Word(c) != state.Awaits || e.By.Session != f.Session ||
			!m.Tell(f.Session+"/waits/"+message.Itoa(c.ID)+"/"+message.Itoa(e.Time.UnixNano())) {
			continue
		}
		line = cmp.Or(line, doneCommand(s, c, strings.TrimSpace(f.ListFlag())))
		if back := s.BringsBack(c); back != "" {
			line = back + " brings its workflow back first"
		}
		lines = append(lines, message.Sprintf("%s: %s waits for you: %s", c.Workflow.Command, c.Name(), line))
	}
	return lines
}

// treesOf says in which linked work trees the gates of these steps have looked.
func treesOf(s *state.State, done []*state.Current) string {
	var trees []string
	for _, c := range done {
		if e, ok := s.Last(c.ID); ok && e.Tree != "" && !slices.Contains(trees, e.Tree) {
			trees = append(trees, e.Tree)
		}
	}
	if len(trees) == 0 {
		return ""
	}
	return "; the gates looked in the work tree " + message.Words(message.Sentence(trees))
}

// namesWith names steps, with what there is to say of each.
func namesWith(all []*state.Current, asides map[*state.Current]string) string {
	var names []string
	for _, c := range all {
		names = append(names, c.Name()+asides[c])
	}
	return message.Sentence(names)
}

// howEnded names the steps and says how each ended.
func howEnded(s *state.State, all []*state.Current, asides map[*state.Current]string) string {
	var parts []string
	for _, word := range []state.Word{state.IsDone, state.IsSkipped, state.IsGone, state.IsNotNeeded} {
		of := slices.DeleteFunc(slices.Clone(all), func(c *state.Current) bool { return s.Word(c) != word })
		switch {
		case len(of) == 0:
		case word == state.IsDone:
			parts = append(parts, namesWith(of, asides))
		default:
			parts = append(parts, string(word)+" "+state.Names(of))
		}
	}
	return strings.Join(parts, "; ")
}

// progressOf says which steps are done, a line for each workflow.
func progressOf(s *state.State, done []*state.Current, asides map[*state.Current]string) (lines []string) {
	for _, w := range s.Roots() {
		ended := slices.DeleteFunc(slices.Clone(done), func(c *state.Current) bool { return s.Root(c.Workflow) != w })
		if len(ended) == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s%s", message.Words(w.Command), s.CountIn(w).News(), howEnded(s, ended, asides),
			treesOf(s, ended)))
	}
	return lines
}
