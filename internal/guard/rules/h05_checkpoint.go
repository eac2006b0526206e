package rules

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

var checkpointRows = []string{
	"the written file is not a state file, or does not exist",
	"its phase is unreadable",
	"the audit log's last phase is the previous one (UNKNOWN without any)",
	"the phase is the previous one",
	"anything else: the change is logged and the phase's research budget starts at 0",
}

// checkpoint holds the audit log's lock while it reads the facts, decides and
// appends, so that parallel calls do not log a change twice.
func checkpoint(c *call) (guard.Verdict, error) {
	facts, audit := c.checkpointFacts()
	v, step := facts.decide()
	var auditErr error
	if step != nil && !c.DryRun {
		auditErr = audit.append(guard.Timestamp(c.Time), *step)
	}
	audit.release()
	if step == nil {
		return v, nil
	}
	if auditErr != nil {
		c.Log("ERROR", "audit log not written: "+auditErr.Error())
	}
	return v, c.enterPhase(facts.phase, auditErr == nil)
}

type checkpointFacts struct {
	isState     bool // a state file was written and exists
	phase, mode string
	previous    string // the audit log's last phase, read only if there is a phase
	session     string
}

// checkpointFacts also returns the audit log, which is locked if there is a phase.
func (c *call) checkpointFacts() (checkpointFacts, auditLog) {
	audit := auditLog{release: func() {}}
	written := cmp.Or(jsonx.StringMember(c.Event.ToolInput, "file_path"), jsonx.StringMember(c.Event.ToolResponse, "filePath"))
	path := paths.Absolute(written, c.place.cwd)
	c.Fact("file written", cmp.Or(path, "none"))
	if filepath.Base(path) != stateName || !paths.IsFile(path) {
		return checkpointFacts{}, audit
	}
	state := readState(path)
	c.Fact("phase", cmp.Or(state.Phase, "unknown"))
	facts := checkpointFacts{isState: true, phase: state.Phase, mode: state.Mode, session: c.Event.SessionID}
	if state.Phase != "" {
		audit = c.openAudit(filepath.Join(filepath.Dir(path), auditName))
		facts.previous = lastPhase(audit.tail)
		c.Fact("previous phase", facts.previous)
	}
	return facts, audit
}

const malformedState = "ERROR: State file write detected but YAML frontmatter is malformed. Phase field missing."

// decide returns the verdict, and the transition to be logged if there is one.
func (f checkpointFacts) decide() (guard.Verdict, *transition) {
	if !f.isState {
		return guard.Pass(1, "Not a state file"), nil
	}
	if f.phase == "" {
		return guard.Feedback(2, malformedState), nil
	}
	step := transition{from: f.previous, to: auditable(f.phase), mode: f.mode, session: f.session}
	if step.from == step.to {
		return guard.Pass(4, "Phase unchanged: "+step.to), nil
	}
	return guard.Notice(5, "LOG", fmt.Sprintf("Phase transition: %s → %s", step.from, step.to), step.String()), &step
}

// enterPhase sets the phase's research budget to 0. If the budget file is missing,
// broken or locked, the next research call does it, because it sees the new phase.
// A change that is not in the audit log is only believed if the budget is for
// another phase; otherwise every write of the state file would reset the budget.
func (c *call) enterPhase(phase string, audited bool) error {
	if !c.Session.Known() {
		return nil
	}
	file := BudgetFile(c.Session)
	if data, err := c.Read(file); data == nil || err != nil {
		return err
	}
	err := c.Update(file, func(old []byte) ([]byte, error) {
		budget, err := parseBudget(old)
		if old == nil || err != nil || !audited && budget.CurrentPhase == phase {
			return nil, nil
		}
		return budget.enter(phase).encode()
	})
	if errors.Is(err, statefile.ErrBusy) {
		c.Log("ERROR", "Lock contention on budget file, phase budget not reset")
		return nil
	}
	return err
}
