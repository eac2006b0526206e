package guard

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

func checkpointLogger() Guard {
	return Guard{
		ID: "H05", Name: "H05_checkpoint_logger", Event: event.PostToolUse, Matcher: "Write|Edit",
		Timeout: 3,
		Brief:   "every change of phase leaves a line in the audit log and a fresh phase budget",
		Rows: []string{
			"the file written is no state file, or is not there",
			"its phase is unreadable",
			"the audit log's last phase is the previous one (UNKNOWN without any)",
			"the phase is the previous one",
			"anything else: the change is logged and the phase's research budget starts at 0",
		},
		judge: judgeCheckpoint,
	}
}

const malformedState = "ERROR: State file write detected but YAML frontmatter is malformed. Phase field missing."

func judgeCheckpoint(c *call) (Verdict, error) {
	path := absolute(orElse(inputText(c.event, "file_path"), textMember(c.event.ToolResponse, "filePath")), c.place.cwd)
	c.fact("file written", orElse(path, "none"))
	if filepath.Base(path) != stateName || !isFile(path) {
		return passed(1, "Not a state file"), nil
	}
	state := readState(path)
	c.fact("phase", orElse(state.Phase, "unknown"))
	if state.Phase == "" {
		return Verdict{Row: 2, Word: "FEEDBACK", Detail: malformedState, Message: malformedState, kind: feedback}, nil
	}
	step := transition{to: auditable(state.Phase), mode: state.Mode, session: c.event.SessionID}
	var err error
	step.from, err = c.audit(filepath.Join(filepath.Dir(path), auditName), step)
	c.fact("previous phase", step.from)
	if step.from == step.to {
		return passed(4, "Phase unchanged: "+step.to), nil
	}
	if err != nil {
		c.log("ERROR", "audit log not written: "+err.Error())
	}
	return step.verdict(), c.enterPhase(state.Phase, err == nil)
}

// verdict is row 5. The line in the decision log is the short one.
func (t transition) verdict() Verdict {
	return Verdict{
		Row: 5, Word: "LOG", Detail: fmt.Sprintf("Phase transition: %s → %s", t.from, t.to),
		Message: t.String(), kind: notice,
	}
}

// enterPhase starts the phase's research budget. A budget file that is missing
// or broken is left to the next research call, which starts it anew; a lock
// that cannot be had is left to it too, for it sees the new phase. A change that
// the audit log does not vouch for counts only if the budget is for another
// phase: or every write of the state would be a fresh budget.
func (c *call) enterPhase(phase string, audited bool) error {
	if !c.session.Known() {
		return nil
	}
	if data, err := readIfThere(c.session.Budget()); data == nil || err != nil {
		return err
	}
	err := c.update(c.session.Budget(), func(old []byte) ([]byte, error) {
		budget, err := parseBudget(old)
		if old == nil || err != nil || !audited && budget.CurrentPhase == phase {
			return nil, nil
		}
		return budget.enter(phase).encode()
	})
	if errors.Is(err, statefile.ErrBusy) {
		c.log("ERROR", "Lock contention on budget file, phase budget not reset")
		return nil
	}
	return err
}
