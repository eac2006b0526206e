package rules

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// stateFile is the content of the workflow's state file.
type stateFile struct {
	exists    bool
	err       error  // why an existing file cannot be read; the fields below are then empty
	phase     string // empty if missing or not a scalar
	mode      string
	decisions []userDecision // in the order of the file
	gates     []gate

	byStep bool // phase is that of the current step, not the file's word
}

// readable reports whether the file exists and was read.
func (s stateFile) readable() bool { return s.exists && s.err == nil }

// userDecision is one entry of user_decisions.
type userDecision struct{ key, value string }

// gate is one entry of gate_results. Any field may be empty.
type gate struct{ phase, verdict, status, score string }

// readState returns the state file of the feature directory. It reads it only once.
func (c *call) readState() stateFile {
	if c.state == nil {
		s := readState(c.place.path(c.config.names.state))
		c.state = &s
		c.written = s.phase
		c.followSteps(c.state)
	}
	s := *c.state
	switch {
	case !s.exists:
		c.Fact("state file", "none")
	case s.err != nil:
		c.Fact("state file", "unreadable: "+s.err.Error())
	default:
		c.Fact("phase", cmp.Or(s.phase, "unknown"))
	}
	if s.byStep {
		c.Fact("phase by the current step", s.phase)
	}
	return s
}

func readState(path string) stateFile {
	if !safefile.IsFile(path) {
		return stateFile{}
	}
	v, err := frontmatter.Read(path)
	if err != nil {
		return stateFile{exists: true, err: err}
	}
	return stateOf(v)
}

func stateOf(v frontmatter.Value) stateFile {
	s := stateFile{exists: true, phase: scalar(v.At("phase")), mode: scalar(v.At("mode"))}
	s.decisions = decisionsOf(v.At("user_decisions"))
	s.gates = gatesOf(v.At("gate_results"))
	return s
}

// decisionsOf reads a mapping from questions to answers, or a list, because the model
// writes either. The items of a list are such mappings, mappings with the question and the
// answer under usual names, or texts.
func decisionsOf(v frontmatter.Value) []userDecision {
	all := entriesOf(v)
	for _, item := range v.Items() {
		if question := member(item, "question", "key", "decision", "topic", "title", "name"); question != "" {
			all = append(all, userDecision{question, member(item, "answer", "value", "choice", "decision", "resolution", "selected")})
		} else if text := scalar(item); text != "" {
			question, answer, _ := strings.Cut(text, ": ")
			all = append(all, userDecision{question, answer})
		} else {
			all = append(all, entriesOf(item)...)
		}
	}
	return all
}

func entriesOf(v frontmatter.Value) []userDecision {
	var all []userDecision
	for _, m := range v.Members() {
		if !m.Value.Null() { // a key without a value is an open question
			all = append(all, userDecision{guard.OneLine(m.Key), guard.OneLine(m.Value.String())})
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
		return gate{phase: phase, verdict: text}
	}
	return gate{phase: phase, verdict: scalar(v.At("verdict")), status: scalar(v.At("status")), score: scalar(v.At("score"))}
}

// failed reports whether the gate's verdict or status begins with one of the verdicts:
// "RED - needs revision" is RED.
func (g gate) failed(verdicts []string) bool {
	return slices.ContainsFunc(verdicts, func(verdict string) bool {
		return beginsWith(g.verdict, verdict) || beginsWith(g.status, verdict)
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
