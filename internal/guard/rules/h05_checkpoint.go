package rules

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// h05 appends every change of phase to the audit log and resets the phase's research
// budget. audit.go reads and writes the log.
func h05() guard.Rule {
	return guard.Rule{
		ID: "H05", Name: "H05_checkpoint_logger", Event: client.PostToolUse, Matcher: "Write|Edit",
		Timeout: 3,
		Brief:   "every change of phase is logged and resets the phase's research budget",
		Rows:    checkpointRows, Decide: decideBy(runH05),
		Binds: bindsBy((*call).underWayOrCompleted),
	}
}

var checkpointRows = []string{
	"the written file is not the state file of the feature directory, or does not exist",
	"its phase is unreadable",
	"the previous phase is the last one in the audit log (UNKNOWN if there is none)",
	"the phase is the previous one",
	"the workflow has no such phase: the change is logged",
	"anything else: the change is logged and the phase's research budget starts at 0",
}

// runH05 reads the facts, decides, logs the change and resets the budget. It holds the
// audit log's lock until the change is logged, so that parallel calls do not log it twice.
func runH05(c *call) (guard.Verdict, error) {
	facts, audit := c.checkpointFacts()
	defer audit.release()
	v, step := facts.decide(c.config)
	if step == nil || c.DryRun {
		return v, nil
	}
	err := audit.append(guard.Timestamp(c.Time), *step)
	audit.release()
	if err != nil {
		c.Log("ERROR", "audit log not written: "+err.Error())
	}
	return v, c.resetBudget(facts.phase, err == nil)
}

type checkpointFacts struct {
	isState     bool // the event wrote the state file, and it exists
	phase, mode string
	previous    string // the audit log's last phase, read only if there is a phase
	session     string
}

// checkpointFacts reads the facts. It also returns the audit log, which is locked if there
// is a phase.
func (c *call) checkpointFacts() (checkpointFacts, auditLog) {
	c.Fact("file written", cmp.Or(c.writtenFile(), "none"))
	if !c.wroteState() {
		return checkpointFacts{}, noAudit()
	}
	read := c.readState()
	facts := checkpointFacts{isState: true, phase: read.phase, mode: read.mode, session: c.Event.SessionID}
	if c.written == "" {
		facts.phase = "" // the agent hears that the file has none, whatever the steps show
	}
	if facts.phase == "" {
		return facts, noAudit()
	}
	audit := c.openAudit(c.place.path(c.config.names.audit))
	facts.previous = lastPhase(audit.tail)
	c.Fact("previous phase", facts.previous)
	return facts, audit
}

// writtenFile returns the path of the file that the tool call wrote, from the tool's input
// or else its response. It returns "" if neither names a file.
func (c *call) writtenFile() string {
	name := cmp.Or(jsonx.StringMember(c.Event.ToolInput, "file_path"), jsonx.StringMember(c.Event.ToolResponse, "filePath"))
	return safefile.Absolute(name, c.place.cwd)
}

// wroteState reports whether the tool call wrote the state file of the feature directory,
// and the file exists.
func (c *call) wroteState() bool {
	written, state := c.writtenFile(), c.place.path(c.config.names.state)
	return written != "" && safefile.IsFile(state) && safefile.Same(safefile.Resolve(written), safefile.Resolve(state))
}

const malformedState = "ERROR: State file write detected but YAML frontmatter is malformed. Phase field missing."

// phaseLogged is the word in the decision log for a change of phase.
const phaseLogged = "LOG"

// decide also returns the transition to be logged, nil if there is none.
func (f checkpointFacts) decide(config configuration) (guard.Verdict, *transition) {
	if !f.isState {
		return guard.Pass(1, "Not the state file"), nil
	}
	if f.phase == "" {
		return guard.Feedback(2, malformedState), nil
	}
	step := transition{from: f.previous, to: auditable(f.phase), mode: f.mode, session: f.session}
	if step.from == step.to {
		return guard.Pass(4, "Phase unchanged: "+step.to), nil
	}
	if !config.knows(f.phase) {
		return guard.Feedback(5, unknownPhase(f.phase, config)), &step
	}
	return guard.Notice(6, phaseLogged, fmt.Sprintf("Phase transition: %s → %s", step.from, step.to), step.String()), &step
}

// resetBudget sets the count of the phase's research calls to 0. audited reports whether
// the change of phase is in the audit log. If the budget file is missing, broken or
// locked, the next research call resets the count, because it sees the new phase.
func (c *call) resetBudget(phase string, audited bool) error {
	if !c.Session.Known() {
		return nil
	}
	file := BudgetFile(c.Session)
	if data, err := c.Read(file); data == nil || err != nil {
		return err
	}
	err := c.Update(file, func(old []byte) ([]byte, error) {
		budget, changed := budgetAfter(old, phase, audited)
		if !changed {
			return nil, nil
		}
		return budget.encode()
	})
	if errors.Is(err, safefile.ErrBusy) {
		c.Log("ERROR", "Lock contention on budget file, phase budget not reset")
		return nil
	}
	return err
}

// budgetAfter returns the budget at the beginning of the phase, and whether it has to be
// written. A change that is not in the audit log counts only if the budget is for another
// phase; otherwise every write of the state file would reset the count.
func budgetAfter(old []byte, phase string, audited bool) (b Budget, changed bool) {
	before, err := parseBudget(old)
	if old == nil || err != nil || !audited && before.CurrentPhase == phase {
		return before, false
	}
	return before.enter(phase), true
}
