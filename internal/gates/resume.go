package gates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// resumed returns the state of the workflows as text for an agent that has lost its context.
// It is empty if every step is done.
func resumed(s *state.State) string {
	waits := func(c *state.Current) bool { return s.AwaitsPerson(c) || s.Checking(c.ID) }
	waiting := slices.DeleteFunc(s.Ready(), func(c *state.Current) bool { return !waits(c) })
	started, _ := s.Work()
	started, ready := slices.DeleteFunc(started, waits), append(s.WorkThatIs(state.Ready), s.WorkThatIs(state.OffRecord)...)
	if !s.HasOpen() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The task list has an unfinished workflow (%s). Its steps must be done in order: a step can be started when the "+
		"steps before it are done.\n", s.Summary())
	if again := openAgain(s); again != "" {
		fmt.Fprintf(&b, "Open again: %s\n", again)
	}
	for i, c := range started {
		if i == maxDescribed {
			fmt.Fprintf(&b, "Also in progress: %s\n", s.Placed(started[i:]))
			break
		}
		how := "In progress"
		if c.Status == workflow.Completed {
			how = "Completed without passing its gates, so complete it again"
		}
		fmt.Fprintf(&b, "%s%s: %s\n", how, s.OverLimit(c), s.Described(c))
	}
	switch {
	case len(ready) == 1:
		fmt.Fprintf(&b, "Ready: %s\n", s.Described(ready[0]))
	case len(ready) > 1:
		fmt.Fprintf(&b, "Ready: %s\nAlso ready: %s\n", s.Described(ready[0]), s.Placed(ready[1:]))
	}
	for _, c := range s.Startable() {
		if len(s.Unfinished(c)) > 0 {
			fmt.Fprintf(&b, "%s goes on when what is under it is done: %s.\n", c.Name(), s.DescribeUnder(c))
		}
	}
	for _, c := range waiting {
		what := "a person"
		if s.Checking(c.ID) {
			what = "its check, which is running"
		}
		fmt.Fprintf(&b, "%s waits for %s.\n", c.Name()+s.Belongs(c), what)
	}
	if len(slices.Concat(started, ready, waiting)) == 0 {
		if others := s.OfList().Ready(); len(others) > 0 {
			fmt.Fprintf(&b, "They wait for %s, in what another session has begun in this list.\n", state.Names(others))
		} else {
			b.WriteString(state.NoneReady + ": only a person can go past that.\n")
		}
	}
	return b.String()
}

// maxDescribed is how many steps in progress are described in full.
const maxDescribed = 2

// openAgain names the steps that an outcome or a person has opened again, with their rounds.
func openAgain(s *state.State) string {
	var list []string
	for _, c := range s.Steps {
		if !c.Done() && c.Round > 1 {
			list = append(list, c.Name()+s.Belongs(c)+c.Rounds())
		}
	}
	return message.Sentence(list)
}
