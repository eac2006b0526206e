package steps

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
	Patterns []string // of ReadyFiles and ProducedFiles
	Check    *Check   // of the kinds with a command
	Question string   // of PersonApproves
	Skill    string   // of SkillCalled
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
	OutcomeCheck   GateKind = "outcome check"
	PersonApproves GateKind = "approval" // a person says yes to a question

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
	AtStart      Moment = "start" // completing a pending step starts it, too
	AtCompletion Moment = "completion"
)

// Gates returns the gates of the step in the order in which they are evaluated.
func (s Step) Gates() (all []Gate) {
	if len(s.Ready) > 0 {
		all = append(all, Gate{Kind: ReadyFiles, When: AtStart, Patterns: s.Ready})
	}
	if s.Do != "" {
		all = append(all, Gate{Kind: SkillCalled, When: AtCompletion, Skill: s.Do})
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

// String describes the gate in a line, for people.
func (g Gate) String() string {
	if name := g.Kind.prints(); name != "" {
		return fmt.Sprintf("sets %s by a command (at most %v): %s", name, g.Check.Limit(), g.Check.Run)
	}
	switch g.Kind {
	case SkillCalled:
		return "calls the skill " + g.Skill
	case ReadyFiles:
		return "needs " + strings.Join(g.Patterns, ", ")
	case ProducedFiles, OutcomeFiles:
		return "produces " + strings.Join(g.Patterns, ", ")
	case CheckPasses, OutcomeCheck, CommandDecides:
		text := fmt.Sprintf("check (at most %v", g.Check.Limit())
		if g.Kind == CommandDecides {
			text = fmt.Sprintf("a command decides (at most %v", g.Check.Limit())
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

// fact is what was found out about a gate of a step outside of every lock.
type fact struct {
	dir     string   // where it was looked for, or where the check ran
	missing []string // patterns without a file
	limit   string   // why not every pattern was looked for; empty if each was
	result  *Result  // of the check

	text []byte // of the file with the lines for which a step is done
	err  error  // why it cannot be read
}

// factKey names the fact about a gate.
type factKey struct {
	step int64
	kind GateKind
}

// evaluate decides whether the gate lets its step pass. known reports whether the fact that
// it depends on is known; if not, the verdict means nothing.
func (g Gate) evaluate(c *Current, f fact, known bool) (v Verdict, ok bool) {
	switch g.Kind {
	case SkillCalled:
		return called(c), true
	case ReadyFiles, ProducedFiles, OutcomeFiles:
		if !known {
			return Verdict{}, false
		}
		return files(c, g.When, f), true
	case PersonApproves:
		return approval(c), true
	}
	if !known {
		return Verdict{}, false
	}
	return check(c, *f.result), true
}
