package steps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// StopMode is what to do when an agent stops while steps are ready.
type StopMode string

const (
	Remind  StopMode = "remind" // send it back once for each stall
	Hold    StopMode = "hold"   // send it back until nothing is ready; the client stops it after eight times (fact 40)
	StopOff StopMode = "off"    // let it stop
)

// Stopping describes an agent that is about to stop.
type Stopping struct {
	Agent      string         // the id of the subagent; empty for the session's own agent
	Background jsontext.Value // what runs in the background, as the client's event has it
	Mode       StopMode
}

// stop returns the steps to which the agent is sent back, or none if it may stop. reminded
// is the progress at which it was last sent back.
//
// A subagent is sent back only to steps that it started itself.
func stop(s *State, x Stopping, reminded string) []*Current {
	if x.Mode == StopOff || othersRun(x) || x.Mode != Hold && reminded == s.progress() {
		return nil
	}
	var left []*Current
	for _, c := range s.Ready() {
		if s.checking(c.ID) || s.awaitsPerson(c) || x.Agent != "" && !s.startedBy(c, x.Agent) {
			continue
		}
		left = append(left, c)
	}
	slices.SortStableFunc(left, func(a, b *Current) int { return cmp.Compare(stopRank(a), stopRank(b)) })
	return left
}

// stopRank sorts steps in progress before the others.
func stopRank(c *Current) int {
	if c.Status == inProgress {
		return 0
	}
	return 1
}

// startedBy reports whether the step is in progress because the subagent started it.
func (s *State) startedBy(c *Current, agent string) bool {
	e, ok := s.last(c.ID)
	return ok && c.Status == inProgress && e.Agent == agent && e.To == inProgress
}

// progress returns a digest of the status of each step and of whether it has passed.
func (s *State) progress() string {
	var b strings.Builder
	for _, c := range s.Steps {
		fmt.Fprintf(&b, "%d %s %t\n", c.ID, c.Status, c.Passed)
	}
	return digest([]byte(b.String()))
}

// othersRun reports whether another agent is running in the background. Shells do not
// count, because a shell may be a server that never ends. The client still lists a
// subagent that is about to stop, so x.Agent itself is ignored.
func othersRun(x Stopping) bool {
	var all []struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		Status string `json:"status"`
	}
	if json.Unmarshal(x.Background, &all, jsonx.Tolerant) != nil {
		return false
	}
	for _, task := range all {
		if task.Type != "shell" && (task.ID == "" || task.ID != x.Agent) && (task.Status == "" || task.Status == "running") {
			return true
		}
	}
	return false
}

// sentBack returns the texts for an agent that may not stop, and for the person.
func sentBack(s *State, left []*Current, mode StopMode) (agent, person string) {
	next := left[0]
	what := "The next step is ready"
	switch {
	case next.Status == inProgress:
		what = "A step is in progress"
	case next.Status == completed:
		what = "A step was completed without passing its gates; complete it again, so that they are evaluated"
	}
	person = fmt.Sprintf("%s: %s; the agent was sent back to %s", s.summary(), strings.ToLower(what), next.Name())
	agent = fmt.Sprintf("The workflow is not done (%s). %s:\n%s\n", s.summary(), what, withDescription(next))
	if len(left) > 1 {
		agent += "Also ready: " + names(left[1:]) + ".\n"
	}
	agent += "Go on with it, and keep its status up to date. If it needs a person, say what you need from them and stop"
	if mode == Hold {
		agent += "; they can go past it"
	} else {
		agent += " again: the next stop is allowed"
	}
	return agent, person
}

// summary returns the names of the workflows and how many of their steps are done.
func (s *State) summary() string {
	return fmt.Sprintf("%s: %d of %d steps done", s.commands(), s.DoneCount(), len(s.Steps))
}
