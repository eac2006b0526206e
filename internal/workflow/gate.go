package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Gate is a condition of a step, as a value: what it is, when it is evaluated, and what it
// looks at. That a step comes after others is not a Gate: it depends on the whole list.
type Gate struct {
	Kind     GateKind
	When     Moment
	Patterns []string // of readyFiles and producedFiles
	Check    *Check   // of the kinds with a command
	Question string   // of personApproves
	skill    string   // of skillCalled
}

// GateKind is what a gate demands.
type GateKind string

const (
	SkillCalled    GateKind = "do"       // a skill was called while the step was in progress, in this round
	ReadyFiles     GateKind = "ready"    // each pattern matches a regular file that is not empty
	ProducedFiles  GateKind = "produces" // the same
	CheckPasses    GateKind = "check"    // a command exits with 0
	CommandDecides GateKind = "decides"  // a command exits with 0, and says how the step ends
	EachLine       GateKind = "each"     // the lines for which the step is done can be read
	OutcomeFiles   GateKind = "outcome files"
	outcomeCheck   GateKind = "outcome check"
	PersonApproves GateKind = "approval" // a person says yes to a question
	InOrder        GateKind = "order"    // the steps before it, and those under it, are done; no Gate is of this kind

	// valueOf begins the kind of a command that prints a value, whose name follows.
	valueOf = "value "
)

// PrintedBy returns the kind of a command that prints a value.
func PrintedBy(name string) GateKind { return GateKind(valueOf + name) }

// Prints returns the name of the value that a command prints, or "".
func (k GateKind) Prints() string {
	name, _ := strings.CutPrefix(string(k), valueOf)
	if name == string(k) {
		return ""
	}
	return name
}

// Moment is when a gate is evaluated.
type Moment string

const (
	AtStart      Moment = "start" // completing a pending step starts it, too
	AtCompletion Moment = "completion"
)

// Gates returns the gates of the step in the order in which they are evaluated.
func (s Step) Gates() (all []Gate) {
	if len(s.Ready) > 0 {
		all = append(all, Gate{Kind: ReadyFiles, When: AtStart, Patterns: s.Ready})
	}
	if s.Do != "" {
		all = append(all, Gate{Kind: SkillCalled, When: AtCompletion, skill: s.Do})
	}
	if len(s.Produces) > 0 {
		all = append(all, Gate{Kind: ProducedFiles, When: AtCompletion, Patterns: s.Produces})
	}
	if s.Check != nil {
		all = append(all, Gate{Kind: CheckPasses, When: AtCompletion, Check: s.Check})
	}
	if s.Approval != "" {
		all = append(all, Gate{Kind: PersonApproves, When: AtCompletion, Question: s.Approval})
	}
	return all
}

// Demands returns what the step comes after, its gates and its rules, a line each.
func (s Step) Demands() (lines []string) {
	if len(s.BlockedBy) > 0 {
		var ids []string
		for _, id := range s.BlockedBy {
			ids = append(ids, "#"+message.Itoa(id))
		}
		lines = append(lines, "after "+strings.Join(ids, ", "))
	}
	for _, gate := range s.Gates() {
		lines = append(lines, gate.String())
	}
	if len(s.Only) > 0 {
		lines = append(lines, "only here: "+strings.Join(s.Only, ", "))
	}
	return lines
}

// Decider says how a step ends, as programs read it: the agent, a person, or a command.
type Decider struct {
	By  string `json:"by"`
	Run string `json:"run"`
}

// Decider returns who says how the step ends.
func (s Step) Decider() Decider {
	d := Decider{By: cmp.Or(s.Decides, "agent")}
	if s.Chooser != nil {
		d.Run = s.Chooser.Run
	}
	return d
}

// NeedsPerson reports whether the step, or one of its outcomes, needs the approval of a person.
func (s Step) NeedsPerson() bool {
	asks := func(g Gate) bool { return g.Kind == PersonApproves }
	return slices.ContainsFunc(s.Gates(), asks) ||
		slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return slices.ContainsFunc(o.Gates(), asks) })
}

// String describes the gate in a line, for people.
func (g Gate) String() string {
	if name := g.Kind.Prints(); name != "" {
		return fmt.Sprintf("sets %s by a command (%s): %s", name, g.Check.how(), g.Check.Run)
	}
	switch g.Kind {
	case SkillCalled:
		return "calls the skill " + g.skill
	case ReadyFiles:
		return "needs " + strings.Join(g.Patterns, ", ")
	case ProducedFiles, OutcomeFiles:
		return "produces " + strings.Join(g.Patterns, ", ")
	case CheckPasses, outcomeCheck, CommandDecides:
		text := "check (" + g.Check.how()
		if g.Kind == CommandDecides {
			text = "a command decides (" + g.Check.how()
		}
		if g.Check.Env != nil {
			text += ", with " + strings.Join(append(slices.Clone(*g.Check.Env), "no other variable"), ", ")
		}
		return text + "): " + g.Check.Run
	case PersonApproves:
		return "approval: " + g.Question
	}
	return string(g.Kind)
}

// Label describes the gate in a few words, for a drawing.
func (g Gate) Label() string {
	switch g.Kind {
	case SkillCalled:
		return "skill: " + g.skill
	case ReadyFiles:
		return "ready: " + strings.Join(g.Patterns, ", ")
	case ProducedFiles, OutcomeFiles:
		return "produces: " + strings.Join(g.Patterns, ", ")
	case CheckPasses, outcomeCheck:
		if g.Check.Shell != "" {
			return "check in PowerShell: " + g.Check.Run
		}
		return "check: " + g.Check.Run
	case PersonApproves:
		return string(g.Kind)
	}
	return g.String()
}

// Condition tells the agent what the gate demands. It is empty if the agent reads that elsewhere:
// in the step's description, or in the members of the kinds that have one of their own.
func (g Gate) Condition() string {
	switch g.Kind {
	case SkillCalled, ReadyFiles, ProducedFiles, CheckPasses, PersonApproves:
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
		all = append(all, ShownGate{g.Kind, g.When, g.String()})
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

// Filling replaces the names of values in what gates look at.
type Filling struct {
	Text     func(string) string
	Patterns func([]string) []string
	Command  func(*Check) *Check
}

// FillGates takes over the gates of t, with values in place of their names.
func (s *Step) FillGates(t Step, f Filling) {
	s.Produces, s.Ready, s.Check, s.Approval = f.Patterns(t.Produces), f.Patterns(t.Ready), f.Command(t.Check), f.Text(t.Approval)
}

// FillGates replaces the names of values in the gates.
func (o *Outcome) FillGates(f Filling) {
	o.Produces, o.Check, o.Approval = f.Patterns(o.Produces), f.Command(o.Check), f.Text(o.Approval)
}

// Looks reports whether the gate depends on a fact: on files, or on how a command ends.
func (g Gate) Looks() bool { return len(g.Patterns) > 0 || g.Check != nil }

// Command names the command of the gate in a sentence about its step.
func (g Gate) Command() string {
	switch name := g.Kind.Prints(); {
	case name != "":
		return "the command that gives " + name
	case g.Kind == CommandDecides:
		return "the command that decides how it ends"
	}
	return "its check"
}
