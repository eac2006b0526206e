package fsmspec

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Versions of the format.
const (
	// Plain is a file that holds an array of tasks: they go forward once.
	Plain = 1
	// WithOutcomes is a file that holds an object, {"fsm": 2, "steps": […]}: the tasks have
	// outcomes.
	WithOutcomes = 2
)

// objectForm is how messages write a file of version WithOutcomes.
const objectForm = `{"fsm": 2, "steps": […]}`

// objectVersion reads the version of a file that holds an object. It reports false, and notes why,
// if the object is not a workflow that this package can read.
func (p *parser) objectVersion(t token) bool {
	keys := topLevel(p.data[t.start:])
	version, hasVersion := keys["fsm"]
	_, hasSteps := keys["steps"]
	switch {
	case !hasVersion && !hasSteps:
		if _, whole := objectEnd(p.data[t.start:]); !whole && len(keys) == 0 {
			return false // what it holds is not known: the mistake in its JSON is told
		}
		p.problem(t.start, "the file must hold an array of tasks, not %s%s", p.describe(t), objectRemedy(p.data[t.start:]))
		return false
	case !hasVersion:
		p.problem(t.start, `missing "fsm", the version of the format: write %s`, objectForm)
	case integer(string(version.Value)) == Plain:
		p.problem(t.start+version.Offset, `"fsm": 1 is not written as an object: write the array of the steps alone, or %s`, objectForm)
	case integer(string(version.Value)) > WithOutcomes:
		p.problem(t.start+version.Offset, "this file needs a newer fsmtx: it has version %s of the format, and this program knows up to %d",
			short(string(version.Value)), WithOutcomes)
		return false
	case integer(string(version.Value)) != WithOutcomes:
		p.problem(t.start+version.Offset, `fsm must be the number %d, not %s`, WithOutcomes, short(string(version.Value)))
	}
	p.version, p.root = WithOutcomes, "/steps"
	if jsonx.Text(keys["shell"].Value) == PowerShell { // the steps may come before it
		p.commands = PowerShell
	}
	return true
}

var objectMembers = []string{"fsm", "shell", "vars", "steps"}

// object reads the members of the outermost object.
func (p *parser) object(t token) {
	found := false
	for key, value := range p.members {
		switch name := p.text(key); {
		case name == "fsm":
		case name == "steps" && value.kind == '[':
			found = true
			p.tasks()
		case name == "steps":
			found = true
			p.problem(value.start, "steps must be an array of steps, not %s", p.describe(value))
		case name == "vars":
			p.readVars(value)
		case name == "shell" && value.kind == 'n':
		case name == "shell":
			p.shell(name, value)
		default:
			p.problem(key.start, "unknown member %s: the object has only %s%s", quoted(name), strings.Join(objectMembers, ", "),
				didYouMean(near(name, objectMembers)))
		}
	}
	if !found && !p.broken {
		p.problem(t.start, `missing "steps", the array of steps`)
	}
}

// topLevel returns the members of the object with which data begins, up to a syntax error.
func topLevel(data []byte) map[string]jsonx.Part {
	members := map[string]jsonx.Part{}
	for p, err := range jsonx.Parts(data) {
		if err == nil || p.Name != "" {
			members[p.Name] = p
		}
	}
	return members
}

// reserved notes a field that only the object form has, in a file that holds an array. An
// older program would ignore the field and run every branch at once, so the array is refused.
func (p *parser) reserved(e *entry, at int, name string) {
	p.problems.note(at, e, keepsMeaning, func() (pointer, text string) {
		return e.pointer(name), fmt.Sprintf("%s needs %s instead of an array", name, objectForm)
	})
}

// isReserved reports whether the field with this index needs the object form.
func isReserved(i int) bool {
	return i >= 0 && fields[i].use == outcomesOnly
}
