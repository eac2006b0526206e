package steps

import (
	"fmt"
	"slices"
	"strings"
)

// resumed returns the state of the workflows as text for an agent that has lost its context.
// It is empty if every step is done.
func resumed(s *State) string {
	waits := func(c *Current) bool { return s.AwaitsPerson(c) || s.checking(c.ID) }
	waiting := slices.DeleteFunc(s.Ready(), func(c *Current) bool { return !waits(c) })
	started, ready := s.Work()
	started, ready = slices.DeleteFunc(started, waits), slices.DeleteFunc(ready, waits)
	if !s.HasOpen() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The task list has an unfinished workflow (%s). Its steps must be done in order: a step can be started when the "+
		"steps before it are done.\n", s.summary())
	if again := openAgain(s); again != "" {
		fmt.Fprintf(&b, "Open again: %s\n", again)
	}
	for i, c := range started {
		if i == maxDescribed {
			fmt.Fprintf(&b, "Also in progress: %s\n", s.Placed(started[i:]))
			break
		}
		fmt.Fprintf(&b, "In progress%s: %s\n", s.overLimit(c), s.described(c))
	}
	switch {
	case len(ready) == 1:
		fmt.Fprintf(&b, "Ready: %s\n", s.described(ready[0]))
	case len(ready) > 1:
		fmt.Fprintf(&b, "Ready: %s\nAlso ready: %s\n", s.described(ready[0]), s.Placed(ready[1:]))
	}
	for _, c := range s.startable() {
		if len(s.unfinished(c)) > 0 {
			fmt.Fprintf(&b, "%s goes on when what is under it is done: %s.\n", c.Name(), s.describeUnder(c))
		}
	}
	for _, c := range waiting {
		what := "a person"
		if s.checking(c.ID) {
			what = "its check, which is running"
		}
		fmt.Fprintf(&b, "%s waits for %s.\n", c.Name()+s.belongs(c), what)
	}
	if len(started)+len(ready)+len(waiting) == 0 {
		if others := s.ofList().Ready(); len(others) > 0 {
			fmt.Fprintf(&b, "They wait for %s, in what another session has begun in this list.\n", Names(others))
		} else {
			b.WriteString(NoneReady + ": only a person can go past that.\n")
		}
	}
	return b.String()
}

// maxDescribed is how many steps in progress are described in full.
const maxDescribed = 2

// openAgain names the steps that an outcome or a person has opened again, with their rounds.
func openAgain(s *State) string {
	var list []string
	for _, c := range s.Steps {
		if !c.Done() && c.Round > 1 {
			list = append(list, c.Name()+s.belongs(c)+c.Rounds())
		}
	}
	return sentence(list)
}
