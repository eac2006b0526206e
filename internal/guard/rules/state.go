package rules

import (
	"cmp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

// The workflow's own files in the feature directory.
const (
	stateName = ".planning-state.local.md"
	lockName  = ".planning.lock"
	auditName = ".planning-audit.log"
	specName  = "spec.md"
)

// State is the content of the workflow's state file.
type State struct {
	Exists    bool
	Err       error  // why an existing file cannot be read; the rest is then empty
	Phase     string // empty if missing or not a scalar
	Mode      string
	Decisions []Decision // in the order of the file
	Gates     []Gate
}

// Readable reports whether the file exists and was read.
func (s State) Readable() bool { return s.Exists && s.Err == nil }

// Decision is one entry of user_decisions.
type Decision struct{ Key, Value string }

// Gate is one entry of gate_results. Any field may be empty.
type Gate struct{ Phase, Verdict, Status, Score string }

// readState reads the state file of the feature directory.
func (c *call) readState() State {
	s := readState(c.place.path(stateName))
	switch {
	case !s.Exists:
		c.Fact("state file", "none")
	case s.Err != nil:
		c.Fact("state file", "unreadable: "+s.Err.Error())
	default:
		c.Fact("phase", cmp.Or(s.Phase, "unknown"))
	}
	return s
}

func readState(path string) State {
	if !paths.IsFile(path) {
		return State{}
	}
	v, err := frontmatter.Read(path)
	if err != nil {
		return State{Exists: true, Err: err}
	}
	return stateOf(v)
}

func stateOf(v frontmatter.Value) State {
	s := State{Exists: true, Phase: scalar(v.At("phase")), Mode: scalar(v.At("mode"))}
	for _, m := range v.At("user_decisions").Members() {
		if !m.Value.Null() { // a key without a value is an open question
			s.Decisions = append(s.Decisions, Decision{guard.OneLine(m.Key), guard.OneLine(m.Value.String())})
		}
	}
	s.Gates = gatesOf(v.At("gate_results"))
	return s
}

// scalar returns a scalar on one line, "" for a sequence or mapping.
func scalar(v frontmatter.Value) string {
	text, _ := v.Text()
	return strings.TrimSpace(guard.OneLine(text))
}

// gatesOf reads a list of gates or a mapping from phase to gate, because the model
// writes either.
func gatesOf(v frontmatter.Value) []Gate {
	var gates []Gate
	for _, item := range v.Items() {
		gates = append(gates, gateOf(item, scalar(item.At("phase"))))
	}
	for _, m := range v.Members() {
		gates = append(gates, gateOf(m.Value, cmp.Or(scalar(m.Value.At("phase")), guard.OneLine(m.Key))))
	}
	return gates
}

func gateOf(v frontmatter.Value, phase string) Gate {
	if text := scalar(v); text != "" {
		return Gate{Phase: phase, Verdict: text}
	}
	return Gate{Phase: phase, Verdict: scalar(v.At("verdict")), Status: scalar(v.At("status")), Score: scalar(v.At("score"))}
}

// has reports whether the gate's verdict or status is the given one.
func (g Gate) has(verdict string) bool {
	return strings.EqualFold(g.Verdict, verdict) || strings.EqualFold(g.Status, verdict)
}
