package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// stopRule fills in the fields that H11a and H11b share.
func stopRule(r guard.Rule) guard.Rule {
	r.Event, r.Flag, r.Timeout = client.Stop, "hooks_stop_guard", 5
	r.Binds = bindsBy((*call).inPlanningSession)
	return r
}

// stopRows returns the rows common to H11a and H11b, each of which lets the turn end, then own.
func stopRows(own ...string) []string {
	return append([]string{
		"no state file",
		"a background agent is running: the turn ends and is resumed",
		"another session holds the lock",
		"the user asked to stop, or the user's message is not known yet",
	}, own...)
}

// firstOwnRow is the number of the first row that H11a and H11b do not share.
const firstOwnRow = 5

// stopFacts are the facts of the shared rows, and the state of a block.
type stopFacts struct {
	state    stateFile
	running  bool        // a background agent is running
	held     ownership   // of the lock
	said     client.Said // the user's last message
	progress string      // changes when the workflow advances
	asked    string      // what the agent asks the user, otherwise empty
	steps    gates.TurnEnd
	always   bool // the rules bind by the letter, whatever the steps say
}

// stopFacts reads the facts. It reads the transcript only if row 4 is reached.
func (c *call) stopFacts() stopFacts {
	facts := stopFacts{state: c.readState()}
	if !facts.state.exists {
		return facts
	}
	facts.running = client.OthersRun(c.Event.BackgroundTasks, c.Event.AgentID)
	facts.held = c.lockState()
	c.Fact("lock", c.readLock().describe())
	if facts.running || facts.held == foreign || facts.held == stale {
		return facts
	}
	facts.said = client.LastSaid(safefile.Absolute(c.Event.TranscriptPath, c.place.cwd), c.Event.PromptID, c.config.stop)
	c.Fact("last user message", guard.Truncate(facts.said.Text, 200))
	facts.progress, facts.steps, facts.always = c.progress(), c.turnEnd(), c.config.always
	facts.asked = guard.Truncate(client.Question(c.Event.LastAssistantMessage), maxAsked)
	return facts
}

// decide is the shared part of the tables. It returns false if none of its rows applies.
func (f stopFacts) decide() (guard.Verdict, bool) {
	switch {
	case !f.state.exists:
		return guard.Pass(1, "No state file, planning not started"), true
	case f.running:
		return guard.Pass(2, "A background agent is running"), true
	case f.held == foreign || f.held == stale:
		return guard.Pass(3, "Another session holds the lock"), true
	case !f.said.Known:
		return guard.Pass(4, "The user's message is not in the transcript yet"), true
	case f.said.Stop:
		return guard.Pass(4, "The user asked to stop"), true
	}
	return guard.Verdict{}, false
}

// progress returns a hash of the phase, the audit log's checkpoints and the names of the
// artifacts that exist.
func (c *call) progress() string {
	sum := sha256.New()
	fmt.Fprintln(sum, phaseKey(strings.ToUpper(c.readState().phase)))
	audit, _ := statefile.Tail(c.place.path(c.config.names.audit), auditTail) // a log that cannot be read has no checkpoints
	for line := range strings.Lines(string(audit)) {
		if _, ok := phaseOf(line); ok {
			fmt.Fprintln(sum, strings.TrimSpace(line))
		}
	}
	for _, name := range c.artifacts() {
		fmt.Fprintln(sum, name)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// artifacts returns the names of the artifacts that exist and are not empty.
func (c *call) artifacts() []string {
	wanted := slices.Clone(c.config.required)
	for _, a := range c.config.artifacts {
		wanted = append(wanted, a.Name)
	}
	slices.Sort(wanted)
	return slices.DeleteFunc(slices.Compact(wanted), func(name string) bool {
		return !safefile.HasContent(c.place.path(name))
	})
}

// maxAsked bounds an agent's question that is shown to the user, in characters.
const maxAsked = 300
