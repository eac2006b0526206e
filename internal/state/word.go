package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Word is the state of a step, in the words that every reader has for it.
type Word string

const (
	Blocked    Word = "blocked" // a step before it, or under it, is open
	Ready      Word = "ready"
	InProgress Word = "in progress"
	Checking   Word = "checking"             // its check is running
	Awaits     Word = "waiting for a person" // for their yes, or for how it ends
	Unchecked  Word = "unchecked"            // completed without its gates; the next update looks at them
	OffRecord  Word = "not on record"        // the list has it, and what is on record of it cannot be read

	Open Word = "open" // of a task of which only the file is known

	IsDone      Word = "done"
	IsSkipped   Word = "skipped"
	IsNotNeeded Word = "not needed"
	IsGone      Word = "gone" // from the list, without having been done; counts as skipped
)

// Words are all words, in the order in which a legend has them.
func Words() []Word {
	return []Word{IsDone, IsSkipped, InProgress, Ready, Awaits, Checking, Unchecked, Blocked, IsNotNeeded, IsGone, OffRecord}
}

// IsOpen reports whether a step in this state is open: every state is but four.
func (w Word) IsOpen() bool {
	switch w {
	case IsDone, IsSkipped, IsNotNeeded, IsGone:
		return false
	}
	return true
}

// Title returns the word with a capital letter.
func (w Word) Title() string { return strings.ToUpper(string(w[:1])) + string(w[1:]) }

// Word returns the state of the step.
func (s *State) Word(c *Current) Word {
	switch {
	case c.NotNeeded:
		return IsNotNeeded
	case s.IsMissing(c):
		return IsGone
	case c.Done() && (s.skipped(c.ID) || c.Outcome == machine.Skipped):
		return IsSkipped
	case c.Done():
		return IsDone
	case s.Checking(c.ID):
		return Checking
	case len(s.OpenBlockers(c)) > 0:
		return Blocked
	case c.Status == workflow.Completed:
		return Unchecked
	case s.awaits(c):
		return Awaits
	case c.Status == workflow.InProgress:
		return InProgress
	case len(s.Unfinished(c)) > 0: // as Ready and the list have it
		return Blocked
	case c.Unread:
		return OffRecord
	}
	return Ready
}

// awaits reports whether the work on a step waits for a person: they are asked about it, or they decide how it ends.
func (s *State) awaits(c *Current) bool {
	return s.AwaitsPerson(c) || s.Undecided(c) && (c.Status == workflow.InProgress || s.lacksChoice(c))
}

// lacksChoice reports whether the step was to be completed last, and no gate but the person's choice stood in the way.
func (s *State) lacksChoice(c *Current) bool {
	e, ok := s.Latest(c.ID)
	return ok && e.Verdict == Deny && e.To == workflow.Completed && e.Gate == ""
}

// IsEarlier reports whether others have come in the place of the step: it is a copy for a line of an earlier round, or of a skill that
// was called anew under its step, or under such a one.
func (s *State) IsEarlier(c *Current) bool {
	if s.Left {
		return s.isOutdated(c.Workflow)
	}
	for w := c.Workflow; ; {
		p := s.Parent(w)
		if p == nil {
			return s.isOutdated(c.Workflow)
		}
		if s.replaced[w] {
			return true
		}
		w = p.Workflow
	}
}

// Count is how many steps are in which state. One that is gone counts as skipped.
type Count struct {
	Done, Skipped, NotNeeded, Open int
	Gone                           int // of those that are skipped
}

// Count counts the steps of the list.
func (s *State) Count() Count { return s.CountOf(s.Steps) }

// CountIn counts the steps of a workflow with those under them, of which it consists for everybody.
func (s *State) CountIn(w *workflow.Workflow) Count {
	all := s.OfList()
	return all.CountOf(all.Within(w))
}

// Roots returns the workflows in which the steps are, of which none is under a step.
func (s *State) Roots() (all []*workflow.Workflow) {
	for _, w := range s.Workflows() {
		if root := s.Root(w); !slices.Contains(all, root) {
			all = append(all, root)
		}
	}
	return all
}

// Counted says how many steps are in which state, of each workflow by its name if there are several.
func (s *State) Counted(say func(Count) string) string {
	return s.countsOf(say, len(s.Roots()) > 1)
}

// Summary is Counted with the name also of a single workflow.
func (s *State) Summary() string { return s.countsOf(Count.String, true) }

func (s *State) countsOf(say func(Count) string, named bool) string {
	var parts []string
	for _, w := range s.Roots() {
		text := say(s.CountIn(w))
		if named {
			text = message.Clip(message.Words(w.Command), message.MaxSubject) + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// CountOf counts some of the steps, without those of earlier rounds.
func (s *State) CountOf(steps []*Current) (n Count) {
	for _, c := range steps {
		if !s.IsEarlier(c) {
			n.Add(s.Word(c))
		}
	}
	return n
}

// Add counts a step more.
func (n *Count) Add(word Word) {
	switch {
	case word.IsOpen():
		n.Open++
	case word == IsDone:
		n.Done++
	case word == IsNotNeeded:
		n.NotNeeded++
	case word == IsGone:
		n.Gone++
		fallthrough
	default:
		n.Skipped++
	}
}

// All returns how many steps there are.
func (n Count) All() int { return n.Done + n.Skipped + n.NotNeeded + n.Open }

// String returns, for example, "2 of 5 steps done, 1 skipped, 1 not needed".
func (n Count) String() string {
	return fmt.Sprintf("%d of %d steps done%s", n.Done, n.All(), n.Others())
}

// Short is String without the word steps.
func (n Count) Short() string { return fmt.Sprintf("%d of %d done%s", n.Done, n.All(), n.Others()) }

// News returns, for example, "2 of 5 done (1 skipped)", and that nothing is open if the count does not show it.
func (n Count) News() string {
	text := fmt.Sprintf("%d of %d done", n.Done, n.All())
	if rest := n.Others(); rest != "" {
		text += " (" + rest[len(", "):] + ")"
		if n.Open == 0 {
			text += ", nothing is open"
		}
	}
	return text
}

// Brief returns, for example, "2/5, 1 skipped".
func (n Count) Brief() string { return fmt.Sprintf("%d/%d%s", n.Done, n.All(), n.Others()) }

// Sentence is String with a verb.
func (n Count) Sentence() string {
	return fmt.Sprintf("%d of %d steps are done%s", n.Done, n.All(), n.Others())
}

// Others returns what is neither done nor open, such as ", 1 skipped, 1 not needed".
func (n Count) Others() (text string) {
	if skipped := n.Skipped - n.Gone; skipped > 0 {
		text += fmt.Sprintf(", %d skipped", skipped)
	}
	if n.Gone > 0 {
		text += fmt.Sprintf(", %d gone", n.Gone)
	}
	if n.NotNeeded > 0 {
		text += fmt.Sprintf(", %d not needed", n.NotNeeded)
	}
	return text
}

// HowEnded says of a step that is not open whether it was done, skipped or not needed.
func (s *State) HowEnded(id int64) string {
	c := s.Step(id)
	if c == nil {
		return "#" + message.Itoa(id) + " is gone"
	}
	return c.Name() + " " + s.Ended(c)
}

// Ended is HowEnded without the name of the step.
func (s *State) Ended(c *Current) string {
	switch s.Word(c) {
	case IsNotNeeded:
		return "is not needed" + c.because
	case IsSkipped:
		return "was skipped"
	case IsGone:
		return "is gone from the list, and counts as skipped"
	}
	return "is done"
}
