package fsmspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Demands returns what the step comes after, its gates and its rules, a line each.
func (t Task) Demands() (lines []string) {
	if len(t.BlockedBy) > 0 {
		var ids []string
		for _, id := range t.BlockedBy {
			ids = append(ids, "#"+message.Itoa(id))
		}
		lines = append(lines, "after "+strings.Join(ids, ", "))
	}
	for _, gate := range t.Gates() {
		lines = append(lines, gate.String())
	}
	if len(t.Only) > 0 {
		lines = append(lines, "only here: "+strings.Join(t.Only, ", "))
	}
	return lines
}

// Choice says who decides how a step ends, as programs read it: the agent, a person, or a command.
type Choice struct {
	By  string `json:"by"`
	Run string `json:"run"`
}

// Choice returns who says how the step ends.
func (t Task) Choice() Choice {
	c := Choice{By: t.Decides.String()}
	if t.Chooser != nil {
		c.Run = t.Chooser.Run
	}
	return c
}

// NeedsPerson reports whether the step, or one of its outcomes, needs the approval of a person.
func (t Task) NeedsPerson() bool {
	asks := func(g Gate) bool { return g.Kind == PersonApproves }
	return slices.ContainsFunc(t.Gates(), asks) ||
		slices.ContainsFunc(t.Outcomes, func(o Outcome) bool { return slices.ContainsFunc(o.Gates(), asks) })
}

// Ends describes, a line each, when the step is needed, how it can end, and the gates of its
// outcomes. partOf is the number of the step that it is
// a part of, or 0.
func (t Task) Ends(partOf int64) (lines []string) {
	if t.Each != nil {
		lines = append(lines, "for "+t.Each.String())
	}
	for _, c := range t.When {
		lines = append(lines, fmt.Sprintf("needed if #%d ends as %s", c.Step, message.Alternatives(c.Outcomes)))
	}
	for _, o := range t.Outcomes {
		line := "outcome " + o.Name
		switch {
		case o.Back != 0:
			line += fmt.Sprintf(" ↺ #%d, %s at most", o.Back, message.Times(o.Max))
		case o.Stop:
			line += " ends the workflow"
			if partOf != 0 {
				line = "outcome " + o.Name + " ends the parts of #" + message.Itoa(partOf)
			}
		}
		if o.Then != "" {
			line += ", then " + o.Then
		}
		for _, g := range o.Gates() {
			line += "; " + g.String()
		}
		lines = append(lines, line)
	}
	if t.Chooser != nil {
		lines = append(lines, t.ChooserText())
	} else if t.Decides != ByAgent {
		lines = append(lines, "a "+t.Decides.String()+" decides")
	}
	for _, v := range t.Set {
		lines = append(lines, v.String())
	}
	if t.Within > 0 {
		lines = append(lines, "within "+Duration(t.Within))
	}
	return lines
}

// ChooserText describes the command that decides how the step ends.
func (t Task) ChooserText() string { return Gate{Kind: CommandDecides, Check: t.Chooser}.String() }

// OutcomeNamed returns the outcome with that name, or nil: done may be implied.
func (t Task) OutcomeNamed(name string) *Outcome {
	if i := slices.IndexFunc(t.Outcomes, func(o Outcome) bool { return o.Name == name }); i >= 0 {
		return &t.Outcomes[i]
	}
	return nil
}

// Declared returns the outcome with that name, the zero value for an implied done.
func (t Task) Declared(name string) Outcome {
	if o := t.OutcomeNamed(name); o != nil {
		return *o
	}
	return Outcome{}
}

// Given returns the names of the values that the agent gives when it completes the step.
func (t Task) Given() (names []string) {
	for _, v := range t.Set {
		if v.Command == nil {
			names = append(names, v.Name)
		}
	}
	return names
}

// HasCheck reports whether a command is a check of the step or of one of its outcomes, and not one
// that decides or prints a value.
func (t Task) HasCheck(command string) bool {
	return slices.ContainsFunc(t.checks(), func(c *Check) bool { return c.Run == command })
}

// checks returns the checks of the step, however it ends.
func (t Task) checks() (all []*Check) {
	if t.Check != nil {
		all = append(all, t.Check)
	}
	for _, o := range t.Outcomes {
		if o.Check != nil {
			all = append(all, o.Check)
		}
	}
	return all
}

// Produced returns the patterns of the files that a step produces, however it ends, and on which its checks stand.
func (t Task) Produced() []string {
	all := slices.Concat(t.Produces, t.Watching())
	for _, o := range t.Outcomes {
		all = append(all, o.Produces...)
	}
	return all
}

// Watching returns the patterns of the files on which the checks of a step stand, however it ends.
func (t Task) Watching() (patterns []string) {
	for _, c := range t.checks() {
		patterns = append(patterns, c.Watch...)
	}
	return patterns
}

// Paths returns the paths of a step in which values can be.
func (t Task) Paths() (all []string) {
	gates := t.Gates()
	for _, o := range t.Outcomes {
		gates = append(gates, o.Gates()...)
	}
	for _, g := range gates {
		all = append(all, g.Patterns...)
	}
	for _, c := range t.Commands() {
		all = append(all, c.Dir)
	}
	return all
}

// String says what the value has to be, for people.
func (v Value) String() string {
	if v.Command != nil {
		return Gate{Kind: PrintedBy(v.Name), Check: v.Command}.String()
	}
	return "sets " + v.Name + " (" + v.Wants() + ")"
}

// Rule says what a value has to be, after its name.
func (v Value) Rule() string {
	if v.OneOf != nil {
		return "is " + message.Clip(message.Words(message.Alternatives(v.OneOf)), message.MaxSubject)
	}
	return "matches " + message.Clip(message.Words(v.Pattern), message.MaxSubject)
}

// Hint says what the value has to be, for the end of a refusal.
func (v Value) Hint() string {
	if v.Command != nil {
		return " (its command is not run)"
	}
	return ", which " + v.Rule()
}

// String returns, for example, "each line of packages.txt, in turn".
func (e Each) String() string {
	text := "each line of " + e.Lines
	if e.Run != nil {
		text = fmt.Sprintf("each line (%s) of: %s", e.Run.how(), e.Run.Run)
	}
	if e.InTurn {
		text += ", in turn"
	}
	return text
}

// Source returns where the lines come from.
func (e *Each) Source() string {
	if e.Run != nil {
		return "its command"
	}
	return message.Words(e.Lines)
}

// ForEachLine returns the steps that are done for each line of a step, with the parts of those that have some, and
// with [AnyLine] in the place of the line. Their numbers, and so their order, are those of the file.
func (e *Each) ForEachLine() []Task {
	spec, err := ForItem(e.Workflow, AnyLine)
	if err != nil {
		return nil // it was parsed before, for another line
	}
	p, err := spec.Plan("", Snapshot{}, Policy{})
	if err != nil {
		return nil
	}
	return p.Tasks()
}

// AnyLine stands for a line.
const AnyLine = "ITEM"

// how says for people in which shell the command runs, unless that is sh, and how long.
func (c Check) how() string {
	text := fmt.Sprintf("at most %v", c.Timeout)
	if c.Shell == PowerShell {
		text = "in PowerShell, " + text
	}
	return text
}

// Environ returns those of the variables NAME=VALUE that the check gets.
func (c Check) Environ(all []string) []string {
	if c.Env == nil {
		return all
	}
	kept := []string{} // nil would be the environment of this process
	for _, v := range all {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(*c.Env, name) {
			kept = append(kept, v)
		}
	}
	return kept
}
