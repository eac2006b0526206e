package rules

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

// State is the content of the workflow's state file.
type State struct {
	Exists    bool
	Err       error  // why an existing file cannot be read; the fields below are then empty
	Phase     string // empty if missing or not a scalar
	Mode      string
	Decisions []Decision // in the order of the file
	Gates     []gate

	byStep bool // Phase is that of the current step, not the file's word
}

// readable reports whether the file exists and was read.
func (s State) readable() bool { return s.Exists && s.Err == nil }

// Decision is one entry of user_decisions.
type Decision struct{ Key, Value string }

// gate is one entry of gate_results. Any field may be empty.
type gate struct{ Phase, Verdict, Status, Score string }

// readState returns the state file of the feature directory. It reads it only once.
func (c *call) readState() State {
	if c.state == nil {
		s := readState(c.place.path(c.config.Names.State))
		c.state = &s
		c.written = s.Phase
		c.followSteps(c.state)
	}
	s := *c.state
	switch {
	case !s.Exists:
		c.Fact("state file", "none")
	case s.Err != nil:
		c.Fact("state file", "unreadable: "+s.Err.Error())
	default:
		c.Fact("phase", cmp.Or(s.Phase, "unknown"))
	}
	if s.byStep {
		c.Fact("phase by the current step", s.Phase)
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
	s.Decisions = decisionsOf(v.At("user_decisions"))
	s.Gates = gatesOf(v.At("gate_results"))
	return s
}

// decisionsOf reads a mapping from questions to answers, or a list, because the model
// writes either. The items of a list are such mappings, mappings with the question and the
// answer under usual names, or texts.
func decisionsOf(v frontmatter.Value) []Decision {
	all := entriesOf(v)
	for _, item := range v.Items() {
		if question := member(item, "question", "key", "decision", "topic", "title", "name"); question != "" {
			all = append(all, Decision{question, member(item, "answer", "value", "choice", "decision", "resolution", "selected")})
		} else if text := scalar(item); text != "" {
			question, answer, _ := strings.Cut(text, ": ")
			all = append(all, Decision{question, answer})
		} else {
			all = append(all, entriesOf(item)...)
		}
	}
	return all
}

func entriesOf(v frontmatter.Value) []Decision {
	var all []Decision
	for _, m := range v.Members() {
		if !m.Value.Null() { // a key without a value is an open question
			all = append(all, Decision{guard.OneLine(m.Key), guard.OneLine(m.Value.String())})
		}
	}
	return all
}

// member returns the first of the named members that is a scalar, otherwise "".
func member(v frontmatter.Value, names ...string) string {
	for _, name := range names {
		if text := scalar(v.At(name)); text != "" {
			return text
		}
	}
	return ""
}

// scalar returns a scalar on one line, and "" for a sequence or mapping.
func scalar(v frontmatter.Value) string {
	text, _ := v.Text()
	return strings.TrimSpace(guard.OneLine(text))
}

// gatesOf reads a list of gates or a mapping from phases to gates, because the model writes
// either.
func gatesOf(v frontmatter.Value) []gate {
	var gates []gate
	for _, item := range v.Items() {
		gates = append(gates, gateOf(item, scalar(item.At("phase"))))
	}
	for _, m := range v.Members() {
		gates = append(gates, gateOf(m.Value, cmp.Or(scalar(m.Value.At("phase")), guard.OneLine(m.Key))))
	}
	return gates
}

func gateOf(v frontmatter.Value, phase string) gate {
	if text := scalar(v); text != "" {
		return gate{Phase: phase, Verdict: text}
	}
	return gate{Phase: phase, Verdict: scalar(v.At("verdict")), Status: scalar(v.At("status")), Score: scalar(v.At("score"))}
}

// failed reports whether the gate's verdict or status begins with one of the verdicts:
// "RED - needs revision" is RED.
func (g gate) failed(verdicts []string) bool {
	return slices.ContainsFunc(verdicts, func(verdict string) bool {
		return beginsWith(g.Verdict, verdict) || beginsWith(g.Status, verdict)
	})
}

// beginsWith reports whether the first words of a text are the given ones, in any case.
// Other characters before them are ignored.
func beginsWith(text, words string) bool {
	text = strings.TrimLeftFunc(text, notWordRune)
	if len(text) < len(words) || !strings.EqualFold(text[:len(words)], words) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[len(words):])
	return notWordRune(next) && next != '_'
}
