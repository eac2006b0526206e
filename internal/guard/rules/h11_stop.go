package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/claude/transcript"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// stopRule fills in the fields that H11a and H11b share.
func stopRule(r guard.Rule) guard.Rule {
	r.Event, r.Flag, r.Timeout = event.Stop, "hooks_stop_guard", 5
	r.Binds = bindsBy((*call).inPlanningSession)
	r.Settings = []string{"feature_flags." + r.Flag, "feature_flags.hooks_enforcement", "workflow"}
	return r
}

// stopRows returns the rows that H11a and H11b share, in which the turn may always end,
// and then the rule's own.
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
	state    State
	running  bool      // a background agent is running
	held     ownership // of the lock
	lastText string    // the user's last message
	known    bool      // lastText is in the transcript already
	progress string    // changes when the workflow advances
	asked    string    // what the agent asks the user, otherwise empty
}

// stopFacts reads the facts. It reads the transcript only if row 4 is reached.
func (c *call) stopFacts() stopFacts {
	facts := stopFacts{state: c.readState()}
	if !facts.state.Exists {
		return facts
	}
	facts.running = isRunning(c.Event.BackgroundTasks)
	facts.held = c.lockState()
	c.Fact("lock", c.readLock().describe())
	if facts.running || facts.held == foreign || facts.held == stale {
		return facts
	}
	facts.lastText, facts.known = transcript.LastUserText(paths.Absolute(c.Event.TranscriptPath, c.place.cwd), c.Event.PromptID)
	c.Fact("last user message", guard.Truncate(facts.lastText, 200))
	facts.progress = c.progress()
	facts.asked = questionAtEnd(c.Event.LastAssistantMessage)
	return facts
}

// decide is the shared part of the tables. It returns false if none of its rows applies.
func (f stopFacts) decide(config Config) (guard.Verdict, bool) {
	switch {
	case !f.state.Exists:
		return guard.Pass(1, "No state file, planning not started"), true
	case f.running:
		return guard.Pass(2, "A background agent is running"), true
	case f.held == foreign || f.held == stale:
		return guard.Pass(3, "Another session holds the lock"), true
	case !f.known:
		return guard.Pass(4, "The user's message is not in the transcript yet"), true
	case config.Stop.requested(f.lastText):
		return guard.Pass(4, "The user asked to stop"), true
	}
	return guard.Verdict{}, false
}

// progress returns a hash of the phase, the audit log's checkpoints and the names of the
// artifacts that exist.
func (c *call) progress() string {
	sum := sha256.New()
	fmt.Fprintln(sum, phaseKey(strings.ToUpper(c.readState().Phase)))
	audit, _ := statefile.Tail(c.place.path(c.config.Names.Audit), auditTail) // a log that cannot be read has no checkpoints
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
	wanted := slices.Clone(c.config.Required)
	for _, a := range c.config.Artifacts {
		wanted = append(wanted, a.Name)
	}
	slices.Sort(wanted)
	return slices.DeleteFunc(slices.Compact(wanted), func(name string) bool {
		return !paths.HasContent(c.place.path(name))
	})
}

// maxAsked bounds an agent's question that is shown to the user, in characters.
const maxAsked = 300

// questionAtEnd returns the last line of a message if it ends with a question mark,
// otherwise "".
func questionAtEnd(message string) string {
	message = strings.TrimRight(message, " \t\r\n*_`\"')]}»”’")
	if !strings.HasSuffix(message, "?") && !strings.HasSuffix(message, "？") && !strings.HasSuffix(message, "؟") {
		return ""
	}
	last := message[strings.LastIndexByte(message, '\n')+1:]
	return guard.Truncate(strings.TrimSpace(guard.OneLine(last)), maxAsked)
}

// isRunning reports whether one of the event's background_tasks is a running agent (fact
// 40). Shells are ignored: one may run a development server, which never ends by itself.
func isRunning(backgroundTasks []byte) bool {
	var tasks []jsontext.Value
	_ = json.Unmarshal(backgroundTasks, &tasks, jsonx.Tolerant) // a value of another type has no tasks
	return slices.ContainsFunc(tasks, func(t jsontext.Value) bool {
		return jsonx.StringMember(t, "status") == "running" && !strings.Contains(jsonx.StringMember(t, "type"), "shell")
	})
}
