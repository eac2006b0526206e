package rules

import (
	"bytes"
	"os"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// The rules apply only while planning is under way. It is under way in a feature
// directory whose state file has a phase before the last one, and in a session that has
// called a command or skill of the plugin and has not completed a workflow since.

// The values of workflow.binds and PLANNING_BINDS.
const (
	bindsAlways   = "always"
	bindsPlanning = "planning"
)

// underWay reports whether planning is under way at this call. Only with thoroughly does
// it read the transcript, to find out whether the session has called the plugin.
func (c *call) underWay(thoroughly bool) bool {
	return c.config.always || c.active() || thoroughly && c.hasCalled()
}

// active reports whether the state file has a phase before the last one.
func (c *call) active() bool {
	phase := c.readState().phase
	return phase != "" && !c.config.isLast(phase)
}

// inPlanningSession reports whether planning is under way and this session takes part: it
// holds the lock or has called the plugin. H11a and H11b do not bind the turns of other
// sessions.
func (c *call) inPlanningSession(thoroughly bool) bool {
	return c.config.always || c.active() && c.lockState() == mine || thoroughly && c.hasCalled()
}

// underWayOrCompleted reports whether planning is under way, or was until the event wrote
// the last phase into the state file. H05 logs that change too.
func (c *call) underWayOrCompleted(thoroughly bool) bool {
	if c.underWay(thoroughly) {
		return true
	}
	if !thoroughly || !c.wroteState() {
		return false
	}
	tail, err := statefile.Tail(c.place.path(c.config.names.audit), auditTail)
	phase := lastPhase(tail)
	return err == nil && phase != noPhase && !c.config.isLast(phase)
}

// hasCalled reports whether this session has called a command or skill of the plugin and
// has not completed a workflow since.
func (c *call) hasCalled() bool {
	if c.called == nil {
		c.readPluginName()
		at, found := client.LastCall(safefile.Absolute(c.Event.TranscriptPath, c.place.cwd), c.Event.PromptID, c.config.isCommand)
		found = found && !c.completedSince(at)
		c.called = &found
	}
	return *c.called
}

// isCommand reports whether a command or skill belongs to the plugin.
func (config configuration) isCommand(name string) bool {
	return strings.HasPrefix(name, config.plugin+":")
}

// completedSince reports whether the workflow of this feature, or any workflow in this
// session, has reached its last phase after that time. A zero time is before any other.
func (c *call) completedSince(at time.Time) bool {
	if phase := c.readState().phase; phase != "" && c.config.isLast(phase) {
		info, err := os.Stat(c.place.path(c.config.names.state))
		if err == nil && info.ModTime().After(at) {
			return true
		}
	}
	return c.Session.Known() && c.lastCompletion().After(at)
}

// lastCompletion returns the time of the latest change to the last phase in the decision
// log, the zero time if there is none.
func (c *call) lastCompletion() time.Time {
	tail, _ := statefile.Tail(c.Session.Log(), auditTail) // a log that cannot be read has no changes
	return c.config.lastCompletion(tail)
}

func (config configuration) lastCompletion(tail []byte) time.Time {
	mark := []byte(": " + phaseLogged + " | ")
	for {
		i := bytes.LastIndex(tail, mark)
		if i < 0 {
			return time.Time{}
		}
		begin := bytes.LastIndexByte(tail[:i], '\n') + 1
		entry, _, _ := strings.Cut(string(tail[begin:]), "\n")
		_, phase, ok := strings.Cut(entry, auditArrow)
		if at, err := guard.ParseTimestamp(entry); ok && err == nil && config.isLast(strings.TrimSpace(phase)) {
			return at
		}
		tail = tail[:begin]
	}
}
