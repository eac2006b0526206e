package guard

import (
	"strings"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

const (
	stateName = ".planning-state.local.md"
	lockName  = ".planning.lock"
	auditName = ".planning-audit.log"
)

// State is what the workflow's state file says.
type State struct {
	Exists    bool
	Err       error  // why an existing file cannot be read; the rest is then empty
	Phase     string // empty if missing or no scalar
	Mode      string
	Decisions []Decision // in the order of the file
	Gates     []Gate
}

// Decision is one entry of user_decisions.
type Decision struct{ Key, Value string }

// Gate is one entry of gate_results. Any part may be empty.
type Gate struct {
	Phase, Verdict, Score string
	red                   bool // verdict or status is RED
}

// completion is the phase in which the workflow is done.
const completion = "COMPLETION"

// readState reads the state file of the feature directory.
func (c *call) readState() State {
	s := readState(c.place.in(stateName))
	switch {
	case !s.Exists:
		c.fact("state file", "none")
	case s.Err != nil:
		c.fact("state file", "unreadable: "+s.Err.Error())
	default:
		c.fact("phase", orElse(s.Phase, "unknown"))
	}
	return s
}

func readState(path string) State {
	if !isFile(path) {
		return State{}
	}
	v, err := frontmatter.Read(path)
	if err != nil {
		return State{Exists: true, Err: err}
	}
	return stateOf(v)
}

func stateOf(v frontmatter.Value) State {
	s := State{Exists: true, Phase: word(v.At("phase")), Mode: word(v.At("mode"))}
	for _, m := range v.At("user_decisions").Members() {
		if !m.Value.Null() { // a name without a value is a question still open
			s.Decisions = append(s.Decisions, Decision{oneLine(m.Key), oneLine(m.Value.String())})
		}
	}
	s.Gates = gatesOf(v.At("gate_results"))
	return s
}

// word is a scalar on one line. A list or mapping where a word is wanted is no
// word.
func word(v frontmatter.Value) string {
	text, _ := v.Text()
	return strings.TrimSpace(oneLine(text))
}

// gatesOf reads a list of gates or a mapping from phase to gate; the model
// writes either.
func gatesOf(v frontmatter.Value) []Gate {
	var gates []Gate
	for _, item := range v.Items() {
		gates = append(gates, gateOf(item, word(item.At("phase"))))
	}
	for _, m := range v.Members() {
		gates = append(gates, gateOf(m.Value, orElse(word(m.Value.At("phase")), oneLine(m.Key))))
	}
	return gates
}

func gateOf(v frontmatter.Value, phase string) Gate {
	if text := word(v); text != "" {
		return Gate{Phase: phase, Verdict: text, red: isRed(text)}
	}
	verdict, status := word(v.At("verdict")), word(v.At("status"))
	return Gate{
		Phase:   phase,
		Verdict: orElse(verdict, status),
		Score:   word(v.At("score")),
		red:     isRed(verdict) || isRed(status),
	}
}

func isRed(verdict string) bool { return strings.EqualFold(verdict, "RED") }
