package rules

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/transcript"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// The rules hold those who plan and leave others alone. Planning is under way where the
// feature directory has a state file in a phase before the last, and in a session that
// has called a command or skill of the plugin and has completed nothing since.

// The values of workflow.binds and PLANNING_BINDS.
const (
	always   = "always"
	planning = "planning"
)

// underWay reports whether planning is under way for this call. Whether the session has
// called the plugin is in its transcript, which is only read thoroughly.
func (c *call) underWay(thoroughly bool) bool {
	return c.config.Always || c.active() || thoroughly && c.hasCalled()
}

// active reports whether the state file has a phase, and not the last.
func (c *call) active() bool {
	phase := c.readState().Phase
	return phase != "" && !c.config.isLast(phase)
}

// ownTurn reports whether the turn that ends is one of planning: of the session that
// holds the lock or, while nobody does, of one that has called the plugin. The turn of
// another session ends freely.
func (c *call) ownTurn(thoroughly bool) bool {
	if c.config.Always {
		return true
	}
	if !c.active() && !(thoroughly && c.hasCalled()) {
		return false
	}
	return c.lockState() == mine || thoroughly && c.hasCalled()
}

// completing reports whether planning is under way or has been until the state file was
// written: the step to the last phase belongs to it.
func (c *call) completing(thoroughly bool) bool {
	if c.underWay(thoroughly) {
		return true
	}
	if path := c.place.path(c.config.Names.State); !thoroughly || c.written() != path && !paths.Same(c.written(), path) {
		return false
	}
	tail, err := statefile.Tail(c.place.path(c.config.Names.Audit), auditTail)
	phase := lastPhase(tail)
	return err == nil && phase != noPhase && !c.config.isLast(phase)
}

// hasCalled reports whether this session has called a command or skill of the plugin,
// and nothing was completed since.
func (c *call) hasCalled() bool {
	if c.called == nil {
		c.identify()
		at, found := transcript.LastCall(paths.Absolute(c.Event.TranscriptPath, c.place.cwd), c.Event.PromptID, c.config.isCommand)
		found = found && !c.completedSince(at)
		c.called = &found
	}
	return *c.called
}

// isCommand reports whether a command or skill is the plugin's.
func (config Config) isCommand(name string) bool {
	return strings.HasPrefix(name, config.Plugin+":")
}

// completedSince reports whether a workflow has reached its last phase after that time:
// the one of this feature, or another in this session. A call without a time is taken
// for an earlier one.
func (c *call) completedSince(at time.Time) bool {
	if phase := c.readState().Phase; phase != "" && c.config.isLast(phase) {
		info, err := os.Stat(c.place.path(c.config.Names.State))
		if err == nil && (at.IsZero() || info.ModTime().After(at)) {
			return true
		}
	}
	return c.Session.Known() && c.lastCompletion().After(at)
}

// lastCompletion returns when the decision log last has a change to the last phase,
// zero if it has none.
func (c *call) lastCompletion() time.Time {
	tail, _ := statefile.Tail(c.Session.Log(), auditTail) // without a log there was none
	mark := []byte(": " + phaseLogged + " | ")
	for {
		i := bytes.LastIndex(tail, mark)
		if i < 0 {
			return time.Time{}
		}
		begin := bytes.LastIndexByte(tail[:i], '\n') + 1
		entry, _, _ := strings.Cut(string(tail[begin:]), "\n")
		_, phase, ok := strings.Cut(entry, auditArrow)
		if at, err := guard.ParseTimestamp(entry); ok && err == nil && c.config.isLast(strings.TrimSpace(phase)) {
			return at
		}
		tail = tail[:begin]
	}
}

// written returns the path of the file that a tool has written, "" if there is none.
func (c *call) written() string {
	path := paths.Absolute(c.writtenName(), c.place.cwd)
	if path == "" {
		return ""
	}
	return filepath.Clean(path)
}
