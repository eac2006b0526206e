package workflow

import (
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Given returns the names of the values that the agent gives when it completes the step.
func (s Step) Given() (names []string) {
	for _, v := range s.Set {
		if v.Command == nil {
			names = append(names, v.Name)
		}
	}
	return names
}

// HasCheck reports whether a command is a check of the step or of one of its outcomes, and not one
// that decides or prints a value.
func (s Step) HasCheck(command string) bool {
	is := func(c *Check) bool { return c != nil && c.Run == command }
	return is(s.Check) || slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return is(o.Check) })
}

// Source returns where the lines come from.
func (e *Each) Source() string {
	if e.Run != nil {
		return "its command"
	}
	return message.Words(e.Lines)
}

// Produced returns the patterns of the files that a step produces, however it ends, and on which its checks stand.
func (s Step) Produced() []string {
	all := slices.Concat(s.Produces, s.Watching())
	for _, o := range s.Outcomes {
		all = append(all, o.Produces...)
	}
	return all
}

// Watching returns the patterns of the files on which the checks of a step stand, however it ends.
func (s Step) Watching() (patterns []string) {
	checks := []*Check{s.Check}
	for _, o := range s.Outcomes {
		checks = append(checks, o.Check)
	}
	for _, c := range checks {
		if c != nil {
			patterns = append(patterns, c.Watch...)
		}
	}
	return patterns
}

// OurVariable reports whether commands of the workflow get a variable of that name from it, so
// that one from elsewhere must not reach them.
func (w *Workflow) OurVariable(name string) bool {
	name, ok := strings.CutPrefix(name, "FSM_")
	if !ok {
		return false
	}
	name = strings.ToLower(name)
	n, outcome := strings.CutPrefix(name, "outcome_")
	_, isVar := w.Vars[name]
	return name == fsmspec.Args || name == fsmspec.Round || name == fsmspec.Item || isVar || outcome && strings.Trim(n, "0123456789") == "" ||
		slices.ContainsFunc(w.Steps, func(s Step) bool {
			return slices.ContainsFunc(s.Set, func(v Value) bool { return v.Name == name })
		})
}

// InPaths reports whether a path of the workflow names the value.
func (w *Workflow) InPaths(name string) bool {
	return slices.ContainsFunc(w.Steps, func(s Step) bool {
		return slices.ContainsFunc(s.paths(), func(path string) bool { return slices.Contains(fsmspec.Named(path), name) })
	})
}

// paths returns the paths of a step in which values can be.
func (s Step) paths() (all []string) {
	gates := s.Gates()
	for _, o := range s.Outcomes {
		gates = append(gates, o.Gates()...)
	}
	commands := []*Check{s.Chooser}
	for _, g := range gates {
		all, commands = append(all, g.Patterns...), append(commands, g.Check)
	}
	for _, v := range s.Set {
		commands = append(commands, v.Command)
	}
	for _, c := range commands {
		if c != nil {
			all = append(all, c.Dir)
		}
	}
	return all
}

// Wants says what a value has to be.
func (v Value) Wants() string {
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
	return ", which " + v.Wants()
}
