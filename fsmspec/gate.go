package fsmspec

import (
	"fmt"
	"slices"
	"strings"
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

// Gates returns the gates of the task in the order in which they are evaluated.
func (t Task) Gates() (all []Gate) {
	if len(t.Ready) > 0 {
		all = append(all, Gate{Kind: ReadyFiles, When: AtStart, Patterns: t.Ready})
	}
	if t.Skill != "" {
		all = append(all, Gate{Kind: SkillCalled, When: AtCompletion, skill: t.Skill})
	}
	if len(t.Produces) > 0 {
		all = append(all, Gate{Kind: ProducedFiles, When: AtCompletion, Patterns: t.Produces})
	}
	if t.Check != nil {
		all = append(all, Gate{Kind: CheckPasses, When: AtCompletion, Check: t.Check})
	}
	if t.Approval != "" {
		all = append(all, Gate{Kind: PersonApproves, When: AtCompletion, Question: t.Approval})
	}
	return all
}

// Gates returns the gates of an outcome.
func (o Outcome) Gates() (all []Gate) {
	if len(o.Produces) > 0 {
		all = append(all, Gate{Kind: OutcomeFiles, When: AtCompletion, Patterns: o.Produces})
	}
	if o.Check != nil {
		all = append(all, Gate{Kind: outcomeCheck, When: AtCompletion, Check: o.Check})
	}
	if o.Approval != "" {
		all = append(all, Gate{Kind: PersonApproves, When: AtCompletion, Question: o.Approval})
	}
	return all
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
