package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

const (
	maxDescription = 3000 // the client truncates what a hook adds after about 10,000 (fact 22, client 2.1.197)
	MaxReason      = 2000
)

// Names returns steps as a list in a sentence.
func Names(all []*Current) string {
	var list []string
	for _, c := range all {
		list = append(list, c.Name())
	}
	return message.Sentence(list)
}

// Placed is Names with what each step is a part of, or which line it is for.
func (s *State) Placed(all []*Current) string {
	var list []string
	for _, c := range all {
		list = append(list, c.Name()+s.Belongs(c))
	}
	return message.Sentence(list)
}

// withDescription returns the name of the step, where it belongs, and its description.
func withDescription(c *Current, place, description string) string {
	text := message.Block(description)
	if text == "" {
		return c.Name() + place
	}
	return c.Name() + place + ": " + message.Clip(text, maxDescription)
}

// OverrideCommands returns the commands with which a person goes past the step.
func OverrideCommands(id int64, list string) string {
	return fmt.Sprintf(`fsmtx step skip %d --because "..." %s (or done instead of skip)`, id, list)
}

// SameText compares texts as the client and this program may have written them: invalid
// UTF-8 becomes U+FFFD.
func SameText(a, b string) bool {
	return strings.ToValidUTF8(a, "\uFFFD") == strings.ToValidUTF8(b, "\uFFFD")
}

// ApproveCommand returns the command with which a person approves the step, in the outcome if they
// have to say it.
func ApproveCommand(id int64, outcome, list string) string {
	return fmt.Sprintf(`fsmtx step done %d%s --because "..." %s`, id, OutcomeFlag(outcome), list)
}

// OutcomeFlag returns the flag with which a person says an outcome, unless that is empty.
func OutcomeFlag(outcome string) string {
	if outcome == "" {
		return ""
	}
	return " --outcome " + outcome
}

// FirstUnverified returns the first step, except some, that was completed in another way, or nil.
func (s *State) FirstUnverified(except func(*Current) bool) *Current {
	all := s.unverified()
	i := slices.IndexFunc(all, func(b *Current) bool { return !except(b) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// maxTurn limits what the agent reads at a transition, in characters, beside the description
// of what is ready and the output of a check that failed.
const maxTurn = 600

// Turned tells the agent what an outcome that leads back has opened, and what is ready then. asked
// is the outcome that was spent, so that this one was taken; empty if it was chosen itself.
func (s *State) Turned(c *Current, tr machine.Transition, asked string, ready []*Current, r *Result) string {
	text := fmt.Sprintf("%s: %s, time %d of %d. ", message.Clip(message.Words(c.Subject), maxTurn/6), tr.Outcome, tr.Times, tr.Max) +
		brief(s.Numbered(tr.Reopens)) + " " + message.IsOrAre(len(tr.Reopens)) + " open" + " again."
	if asked != "" {
		text = SpentText(c, asked) + ". " + text
	}
	description := ""
	if len(ready) > 0 {
		if description = ready[0].Description; !slices.Contains(tr.Reopens, ready[0].ID) {
			description = s.ToDo(ready[0])
		}
	}
	return text + nowReady(ready, description) + Failure(cmp.Or(asked, tr.Outcome), r)
}

// SpentText tells the agent that an outcome has led back as often as it may.
func SpentText(c *Current, outcome string) string {
	return outcome + " has led back as often as it may (" + message.Times(c.OutcomeNamed(outcome).Max) + ")"
}

// Failure returns which check failed, how, and the end of its output, for an outcome that follows from that.
func Failure(outcome string, r *Result) string {
	if r == nil || outcome != machine.Failed {
		return ""
	}
	text := fmt.Sprintf("\nThe check failed (%s): %s\n", r.How(), message.Clip(message.Words(r.Run), message.MaxSubject))
	if tail := LastLines(r.Output); tail != "" {
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
		return "#" + message.Itoa(all[0].ID) + ` "` + message.Clip(message.Words(all[0].Subject), room-20) + `"`
	}
	return Numbers(all)
}

// Numbered returns the steps with these numbers.
func (s *State) Numbered(ids []int64) (all []*Current) {
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
func (s *State) item(w *workflow.Workflow) string {
	for p := s.Parent(w); p != nil && w.Item == ""; p = s.Parent(w) {
		w = p.Workflow
	}
	return w.Item
}

// Variables returns what the commands of a step get in their environment: its round, how
// the steps before it ended, by their ids in the fsm.json, and the values, with those that it
// gives now.
func (s *State) Variables(c *Current, given map[string]string) []string {
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

// First returns the step that comes first of open ones and those before them, nil if they wait
// for one another.
func (s *State) First(open []*Current) *Current {
	for range s.Steps {
		before := s.OpenBlockers(open[0])
		if len(before) == 0 {
			return open[0]
		}
		open = before
	}
	return nil
}

// Next tells the agent what it can do instead.
func (s *State) Next(open []*Current) string {
	for _, b := range open {
		switch {
		case s.Checking(b.ID):
			return "The check of " + b.Name() + " is running in another call: wait until it ends, then try again"
		case s.aboutToBeCompleted(b):
			return "Another update is about to complete " + b.Name() + ": try again in the next message, not in the same one"
		}
	}
	return s.Possible()
}

// Possible names the steps that can be worked on.
func (s *State) Possible() string {
	return cmp.Or(s.PossibleOf(func(*Current) bool { return true }), NoneReady+": only a person can go past that")
}

// PossibleOf names those of the steps that can be worked on; empty if there are none.
func (s *State) PossibleOf(is func(*Current) bool) string {
	var parts []string
	for _, word := range []Word{InProgress, Unchecked, Checking, Awaits, OffRecord, Ready} {
		if of := slices.DeleteFunc(s.WorkThatIs(word), func(c *Current) bool { return !is(c) }); len(of) > 0 {
			parts = append(parts, word.Title()+map[bool]string{true: " now"}[word == Ready]+": "+Names(of))
		}
	}
	return strings.Join(parts, ". ")
}

// WorkThatIs returns the steps that can be worked on and are in this state. Beside an unchecked step none can be started: that one is
// looked at first.
func (s *State) WorkThatIs(word Word) []*Current {
	all := s.Ready()
	if word == Ready && slices.ContainsFunc(all, func(c *Current) bool { return s.Word(c) == Unchecked }) {
		return nil
	}
	return slices.DeleteFunc(all, func(c *Current) bool { return s.Word(c) != word })
}

// NoneReady tells an agent that a workflow cannot go on by itself.
const NoneReady = "No step is ready, because every open step waits for another open step"

// Numbers returns the numbers of steps as a list in a sentence.
func Numbers(all []*Current) string {
	var list []string
	for _, c := range all {
		list = append(list, "#"+message.Itoa(c.ID))
	}
	return message.Sentence(list)
}

// SeenText tells the agent what follows from steps that were seen done, and what is ready unless
// another text says with what to go on.
func (s *State) SeenText(seen []Evidence, goOn bool) string {
	var left []*Current
	over := ""
	for _, e := range seen {
		if len(e.Reopens) > 0 {
			return s.TurnedBy(e)
		}
		left = append(left, s.Numbered(e.NotNeeded)...)
		if c := s.Step(e.Step); c != nil {
			if o := c.OutcomeNamed(e.Outcome); o != nil && o.Stop {
				over = "The workflow is"
				if s.Parent(c.Workflow) != nil {
					over = c.Workflow.TitleIs()
				}
			}
		}
	}
	switch {
	case len(left) == 0:
		return ""
	case over != "":
		return over + " over: " + brief(left) + " " + message.IsOrAre(len(left)) + " not needed."
	}
	text, ready := "Not needed: "+brief(left)+".", s.Ready()
	if !goOn || len(ready) == 0 {
		return text
	}
	return text + nowReady(ready, s.ToDo(ready[0]))
}

// ReadyAfter returns the steps of a workflow that will be ready after an outcome of it that leads back: in place of a step with parts those
// of its parts.
func (s *State) ReadyAfter(after machine.State, tr machine.Transition) (all []*Current) {
	for _, c := range s.Numbered(after.Ready()) {
		switch {
		case slices.Contains(tr.Reopens, c.ID):
			all = append(all, s.firstOf(c)...)
		case len(s.Unfinished(c)) == 0:
			all = append(all, c)
		default:
			all = append(all, slices.DeleteFunc(s.Ready(), func(x *Current) bool { return !slices.Contains(s.Above(x.Workflow), c) })...)
		}
	}
	return all
}

// firstOf returns the steps that are ready when a step is: those of its parts that wait for nothing, or itself if it has none.
func (s *State) firstOf(c *Current) (all []*Current) {
	for _, w := range s.OfList().under[c.ID] {
		if !w.Part || w.Item != "" { // what was called, or is for a line, is of an earlier round
			continue
		}
		for _, x := range s.In(w) {
			if len(x.BlockedBy) == 0 && !x.Gone() {
				all = append(all, s.firstOf(x)...)
			}
		}
	}
	if len(all) == 0 {
		all = append(all, c)
	}
	return all
}

// TurnedBy is turned for an outcome that is on record.
func (s *State) TurnedBy(e Evidence) string {
	c := s.Step(e.Step)
	state := s.Flows[c.Workflow]
	tr := machine.Transition{Outcome: e.Outcome, Times: state.Times(c.ID, e.Outcome), Max: c.OutcomeNamed(e.Outcome).Max,
		Reopens: e.Reopens}
	return s.Turned(c, tr, "", s.Ready(), nil)
}

// PersonDecides reports whether a person decides how one of the steps ends.
func (all RecordedSteps) PersonDecides() bool {
	return slices.ContainsFunc(all, func(r RecordedStep) bool { return r.Decides == fsmspec.ByPerson })
}

// OpenedAgain returns the steps that the last decision of a person about the step has opened again.
func (s *State) OpenedAgain(id int64) []*Current {
	e, _ := s.lastOf(id, Evidence.IsOverride)
	return s.Numbered(e.Reopens)
}
