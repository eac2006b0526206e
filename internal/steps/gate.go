package steps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// Gate is a condition of a step, as a value: what it is, when it is evaluated, and what it
// looks at. That a step comes after others is not a Gate: it depends on the whole list.
type Gate struct {
	kind     GateKind
	when     Moment
	patterns []string // of readyFiles and producedFiles
	check    *Check   // of the kinds with a command
	question string   // of personApproves
	skill    string   // of skillCalled
}

// GateKind is what a gate demands.
type GateKind string

const (
	skillCalled    GateKind = "do"       // a skill was called while the step was in progress, in this round
	readyFiles     GateKind = "ready"    // each pattern matches a regular file that is not empty
	producedFiles  GateKind = "produces" // the same
	checkPasses    GateKind = "check"    // a command exits with 0
	commandDecides GateKind = "decides"  // a command exits with 0, and says how the step ends
	eachLine       GateKind = "each"     // the lines for which the step is done can be read
	outcomeFiles   GateKind = "outcome files"
	outcomeCheck   GateKind = "outcome check"
	personApproves GateKind = "approval" // a person says yes to a question

	// valueOf begins the kind of a command that prints a value, whose name follows.
	valueOf = "value "
)

// printedBy returns the kind of a command that prints a value.
func printedBy(name string) GateKind { return GateKind(valueOf + name) }

// prints returns the name of the value that a command prints, or "".
func (k GateKind) prints() string {
	name, _ := strings.CutPrefix(string(k), valueOf)
	if name == string(k) {
		return ""
	}
	return name
}

// Moment is when a gate is evaluated.
type Moment string

const (
	atStart      Moment = "start" // completing a pending step starts it, too
	atCompletion Moment = "completion"
)

// Gates returns the gates of the step in the order in which they are evaluated.
func (s Step) Gates() (all []Gate) {
	if len(s.Ready) > 0 {
		all = append(all, Gate{kind: readyFiles, when: atStart, patterns: s.Ready})
	}
	if s.Do != "" {
		all = append(all, Gate{kind: skillCalled, when: atCompletion, skill: s.Do})
	}
	if len(s.Produces) > 0 {
		all = append(all, Gate{kind: producedFiles, when: atCompletion, patterns: s.Produces})
	}
	if s.Check != nil {
		all = append(all, Gate{kind: checkPasses, when: atCompletion, check: s.Check})
	}
	if s.Approval != "" {
		all = append(all, Gate{kind: personApproves, when: atCompletion, question: s.Approval})
	}
	return all
}

// NeedsPerson reports whether the step, or one of its outcomes, needs the approval of a person.
func (s Step) NeedsPerson() bool {
	asks := func(g Gate) bool { return g.kind == personApproves }
	return slices.ContainsFunc(s.Gates(), asks) ||
		slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return slices.ContainsFunc(o.Gates(), asks) })
}

// String describes the gate in a line, for people.
func (g Gate) String() string {
	if name := g.kind.prints(); name != "" {
		return fmt.Sprintf("sets %s by a command (at most %v): %s", name, g.check.Limit(), g.check.Run)
	}
	switch g.kind {
	case skillCalled:
		return "calls the skill " + g.skill
	case readyFiles:
		return "needs " + strings.Join(g.patterns, ", ")
	case producedFiles, outcomeFiles:
		return "produces " + strings.Join(g.patterns, ", ")
	case checkPasses, outcomeCheck, commandDecides:
		text := fmt.Sprintf("check (at most %v", g.check.Limit())
		if g.kind == commandDecides {
			text = fmt.Sprintf("a command decides (at most %v", g.check.Limit())
		}
		if g.check.Env != nil {
			text += ", with " + strings.Join(append(slices.Clone(*g.check.Env), "no other variable"), ", ")
		}
		return text + "): " + g.check.Run
	case personApproves:
		return "approval: " + g.question
	}
	return string(g.kind)
}

// Label describes the gate in a few words, for a drawing.
func (g Gate) Label() string {
	switch g.kind {
	case skillCalled:
		return "skill: " + g.skill
	case readyFiles:
		return "ready: " + strings.Join(g.patterns, ", ")
	case producedFiles, outcomeFiles:
		return "produces: " + strings.Join(g.patterns, ", ")
	case checkPasses, outcomeCheck:
		return "check: " + g.check.Run
	case personApproves:
		return string(g.kind)
	}
	return g.String()
}

// Condition tells the agent what the gate demands. It is empty if the agent reads that elsewhere:
// in the step's description, or in the members of the kinds that have one of their own.
func (g Gate) Condition() string {
	switch g.kind {
	case skillCalled, readyFiles, producedFiles, checkPasses, personApproves:
		return ""
	}
	return g.String()
}

// ShownGate is a gate as programs read it, the same for every kind.
type ShownGate struct {
	Kind GateKind `json:"kind"`
	When Moment   `json:"when"`
	Text string   `json:"text"` // what Gate.String says
}

// ShownGates returns gates as programs read them, never nil.
func ShownGates(gates []Gate) []ShownGate {
	all := make([]ShownGate, 0, len(gates))
	for _, g := range gates {
		all = append(all, ShownGate{g.kind, g.when, g.String()})
	}
	return all
}

// GatesOf returns the gates that an entry of an fsm.json declares.
func GatesOf(t fsmspec.Task) []Gate { return stepOf(t, 0).Gates() }

// GatesOfOutcome returns those of an outcome.
func GatesOfOutcome(o fsmspec.Outcome) []Gate {
	var declared Outcome
	declared.declareGates(o.Gates)
	return declared.Gates()
}

// declareGates takes over what an entry declares.
func (s *Step) declareGates(g fsmspec.Gates) {
	s.Produces, s.Ready, s.Check, s.Approval = g.Produces, g.Ready, checkOf(g.Check), g.Approval
}

func (o *Outcome) declareGates(g fsmspec.Gates) {
	o.Produces, o.Check, o.Approval = g.Produces, checkOf(g.Check), g.Approval
}

// filling replaces the names of values in what gates look at.
type filling struct {
	text     func(string) string
	patterns func([]string) []string
	command  func(*Check) *Check
}

// fillGates takes over the gates of t, with values in place of their names.
func (s *Step) fillGates(t Step, f filling) {
	s.Produces, s.Ready, s.Check, s.Approval = f.patterns(t.Produces), f.patterns(t.Ready), f.command(t.Check), f.text(t.Approval)
}

func (o *Outcome) fillGates(f filling) {
	o.Produces, o.Check, o.Approval = f.patterns(o.Produces), f.command(o.Check), f.text(o.Approval)
}

// fact is what was found out about a gate of a step outside of every lock.
type fact struct {
	dir    string  // where it was looked for, or where the check ran
	away   string  // what has become of that directory, so that nothing was looked for and nothing ran; usually empty
	result *Result // of the check

	sight
	said []string // files of which it was said before that they are unchanged

	text []byte // of the file with the lines for which a step is done
	sum  string // its digest
	err  error  // why it cannot be read
}

// factKey names the fact about a gate.
type factKey struct {
	step int64
	kind GateKind
}

// looks reports whether the gate depends on a fact: on files, or on how a command ends.
func (g Gate) looks() bool { return len(g.patterns) > 0 || g.check != nil }

// evaluate decides whether the gate lets its step pass. f is the fact that it depends on.
func evaluate(g Gate, c *Current, f fact) Verdict {
	switch g.kind {
	case skillCalled:
		return called(c)
	case readyFiles, producedFiles, outcomeFiles:
		return files(c, g.when, f)
	case personApproves:
		return approval(c)
	}
	return command(c, g.command(), *f.result)
}

// command names the command of the gate in a sentence about its step.
func (g Gate) command() string {
	switch name := g.kind.prints(); {
	case name != "":
		return "the command that gives " + name
	case g.kind == commandDecides:
		return "the command that decides how it ends"
	}
	return "its check"
}
