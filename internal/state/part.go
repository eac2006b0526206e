package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Of returns the state of those workflows that belong to the session: it called their
// skill. called reports whether it called a skill of that name without the hydration that
// the record tells of, because the workflow was in the list already.
func (s *State) Of(session string, called func(command string) bool) *State {
	return s.Only(func(w *workflow.Workflow) bool { return w.Session == session || called(w.Command) })
}

// OnlyCalled returns the state of the workflows of the skills for which called returns true.
func (s *State) OnlyCalled(called func(command string) bool) *State {
	return s.Only(func(w *workflow.Workflow) bool { return called(w.Command) })
}

// Only returns the state of the workflows for which wanted returns true.
func (s *State) Only(wanted func(*workflow.Workflow) bool) *State {
	mine, known := *s, map[*workflow.Workflow]bool{}
	mine.whole = s
	for _, w := range s.Workflows() {
		known[w] = wanted(w)
	}
	mine.Steps = slices.DeleteFunc(slices.Clone(s.Steps), func(c *Current) bool { return !known[c.Workflow] })
	return &mine
}

// StopRank sorts steps in progress before the others.
func StopRank(c *Current) int {
	if c.Status == workflow.InProgress {
		return 0
	}
	return 1
}

// ProgressDigest returns a digest of the status of each step and of how it ended.
func (s *State) ProgressDigest() string {
	var b strings.Builder
	for _, c := range s.Steps {
		fmt.Fprintf(&b, "%d %s %s\n", c.ID, c.Status, c.Outcome)
	}
	return digest([]byte(b.String()))
}

// CommandsOf returns the names of the skills whose workflows are in the list.
func CommandsOf(s *State) (names []string) {
	for _, w := range s.Workflows() {
		names = append(names, w.Command)
	}
	return names
}
