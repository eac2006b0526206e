package steps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// StopMode says what happens when an agent stops while steps are ready.
type StopMode string

const (
	Remind  StopMode = "remind" // it is sent back once for each stall
	Hold    StopMode = "hold"   // it is sent back until nothing is ready; the client lets go after eight times (fact 40)
	StopOff StopMode = "off"
)

// Stopping is an agent that stops.
type Stopping struct {
	Agent      string         // the id of the subagent; empty for the session's own agent
	Background jsontext.Value // what runs in the background, as the client has it
	Mode       StopMode
}

// stop returns the steps to which the agent is sent back, none if it may stop. reminded
// is the progress at which it was sent back last.
//
// A subagent is answerable only for what it started itself.
func stop(s *State, x Stopping, reminded string) []*Current {
	if x.Mode == StopOff || agentsRun(x) || x.Mode != Hold && reminded == s.progress() {
		return nil
	}
	var left []*Current
	for _, c := range s.Ready() {
		if s.checking(c.ID) || s.awaited(c) || x.Agent != "" && !s.startedBy(c, x.Agent) {
			continue
		}
		left = append(left, c)
	}
	// What is under way comes first.
	slices.SortStableFunc(left, func(a, b *Current) int { return begun(b) - begun(a) })
	return left
}

func begun(c *Current) int {
	if c.Status == inProgress {
		return 1
	}
	return 0
}

// startedBy reports whether the subagent set the step to in_progress, where it still is.
func (s *State) startedBy(c *Current, agent string) bool {
	e, ok := s.last(c.ID)
	return ok && c.Status == inProgress && e.Agent == agent && e.To == inProgress
}

// progress changes whenever a step does: each step's status and whether it was let
// through.
func (s *State) progress() string {
	var b strings.Builder
	for _, c := range s.Steps {
		fmt.Fprintf(&b, "%d %s %t\n", c.ID, c.Status, c.Passed)
	}
	return digest([]byte(b.String()))
}

// agentsRun reports whether another agent runs in the background. A shell there may be a
// server that never ends. A subagent that stops is still among what runs.
func agentsRun(x Stopping) bool {
	var all []struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		Status string `json:"status"`
	}
	if json.Unmarshal(x.Background, &all, jsonx.Tolerant) != nil {
		return false
	}
	for _, one := range all {
		if one.Type != "shell" && (one.ID == "" || one.ID != x.Agent) && (one.Status == "" || one.Status == "running") {
			return true
		}
	}
	return false
}

// sentBack is what an agent reads that is kept from stopping, and what the person reads.
func sentBack(s *State, left []*Current, mode StopMode) (agent, person string) {
	next := left[0]
	what := "The next step is ready"
	switch {
	case next.Status == inProgress:
		what = "A step is in progress"
	case next.Status == completed:
		what = "A step was completed without being let through; complete it again, so that its gates are asked"
	}
	person = fmt.Sprintf("%s: %s; the agent was sent back to %s", s.counted(), strings.ToLower(what), next.Name())
	agent = fmt.Sprintf("The workflow is not done (%s). %s:\n%s\n", s.counted(), what, described(next))
	if len(left) > 1 {
		agent += "Also ready: " + names(left[1:]) + ".\n"
	}
	agent += "Go on with it, and keep its status up to date. If it needs a person, say what you need from them and stop"
	if mode == Hold {
		agent += "; they can go past it"
	} else {
		agent += " again: the next stop is let go"
	}
	return agent, person
}

// counted says how much of the workflows is done.
func (s *State) counted() string {
	return fmt.Sprintf("%s: %d of %d steps done", s.commands(), s.DoneCount(), len(s.Steps))
}
