package steps

import (
	"fmt"
	"strings"
)

// resumed tells an agent that has forgotten it where its workflow stands. It is empty if
// every step is done.
func resumed(s *State) string {
	var underWay, ready, waiting []*Current
	for _, c := range s.Ready() {
		switch {
		case s.awaited(c) || s.checking(c.ID):
			waiting = append(waiting, c)
		case c.Status == inProgress:
			underWay = append(underWay, c)
		default:
			ready = append(ready, c)
		}
	}
	if s.DoneCount() == len(s.Steps) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The task list holds a workflow that is not done (%s). Its steps are held to their order: one can be started when those before it are done.\n", s.counted())
	for i, c := range underWay {
		if i == maxDescribed {
			fmt.Fprintf(&b, "Also in progress: %s\n", names(underWay[i:]))
			break
		}
		fmt.Fprintf(&b, "In progress: %s\n", described(c))
	}
	switch {
	case len(ready) == 1:
		fmt.Fprintf(&b, "Ready: %s\n", described(ready[0]))
	case len(ready) > 1:
		fmt.Fprintf(&b, "Ready: %s\nAlso ready: %s\n", described(ready[0]), names(ready[1:]))
	}
	for _, c := range waiting {
		what := "a person"
		if s.checking(c.ID) {
			what = "its check, which is running"
		}
		fmt.Fprintf(&b, "%s waits for %s.\n", c.Name(), what)
	}
	if len(underWay)+len(ready)+len(waiting) == 0 {
		b.WriteString("No step is ready, because each open one comes after another open one: only a person can go past that.\n")
	}
	return b.String()
}

// maxDescribed is how many steps in progress are described in full.
const maxDescribed = 2
