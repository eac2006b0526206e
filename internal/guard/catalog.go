package guard

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// Guard is one of the fourteen guards.
type Guard struct {
	ID      string // as on the command line: H01 … H13
	Name    string // as in logs, messages and the breaker's file
	Event   string // the client's event it answers
	Matcher string // what the client matches, empty where the event has nothing to match
	Flag    string // its own switch under feature_flags, empty if there is only the master switch
	Timeout int    // in seconds, for the client's configuration
	Brief   string // what it holds, as a phrase
	Rows    []string
	judge   func(*call) (Verdict, error)
}

// All returns the guards in the order of their ids.
func All() []Guard {
	return []Guard{
		immutableDecisions(), planningLock(), researchBudget(), specProtection(), checkpointLogger(),
		contextInjection(), techLead(), architect(), qaStrategist(), anyAgent(),
		requiredArtifacts(), workflowCompleteness(), contextPreservation(), environment(),
	}
}

// Find returns the guard with that id.
func Find(id string) (Guard, bool) {
	all := All()
	i := slices.IndexFunc(all, func(g Guard) bool { return g.ID == id })
	if i < 0 {
		return Guard{}, false
	}
	return all[i], true
}

// stops reports whether the guard can keep an agent or a turn from ending.
func (g Guard) stops() bool { return g.Event == event.Stop || g.Event == event.SubagentStop }

// passes is the log's word for "no objection".
func (g Guard) passes() string {
	switch g.Event {
	case event.PreToolUse:
		return "ALLOW"
	case event.Stop, event.SubagentStop:
		return "APPROVE"
	}
	return "SILENT"
}
