package gates

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// pathFault denies what depends on a path in which the name of a value cannot be replaced.
func pathFault(s *state.State, c *state.Current, g fsmspec.Gate, list string) Verdict {
	paths := g.Patterns
	if g.Check != nil {
		paths = []string{g.Check.Dir}
	}
	for _, path := range paths {
		fault, ok := errors.AsType[*fsmspec.PathError](c.PathFaults[path])
		if !ok {
			continue
		}
		verb := "completed"
		if g.When == fsmspec.AtStart {
			verb = "started"
		}
		text := fmt.Sprintf("%s cannot be %s: in %s, %v", c.Name(), verb, message.Quote(path), fault)
		if fault.Value != "" {
			text += " (" + message.Quote(fault.Value) + ")"
		}
		return deny(c, "no path with {"+fault.Name+"}", text+". "+s.GivenBy(c, fault.Name, list))
	}
	return Verdict{}
}

// owesValues reports whether a step that ends in an outcome has to give its values: it does
// unless Current.owesValues says otherwise. An empty name is for a command to decide.
func (e *ending) owesValues(name string) bool {
	if name == "" {
		return true
	}
	tr, err := e.s.Conclude(e.step, name)
	return err == nil && e.step.OwesValues(tr)
}

// values checks the values that completing the step gives, which ends in an outcome; "" if a
// command decides. It reports false if they are denied
// or a command has to print one first.
func (e *ending) values(outcome string) bool {
	if len(e.step.Set) == 0 {
		return !e.unknownValues(nil)
	}
	e.given = map[string]string{}
	var wrong []string
	for _, v := range e.step.Set {
		if v.Command != nil {
			continue
		}
		text, fault := e.said(v)
		if fault != "" {
			wrong = append(wrong, fault)
		}
		e.given[v.Name] = text
	}
	if e.unknownValues(e.step.Set) {
		return false
	}
	if len(wrong) > 0 {
		e.verdict = deny(e.step, "values: "+strings.Join(wrong, "; "), e.step.Name()+" cannot be completed: "+strings.Join(wrong, "; ")+
			". "+e.howToGive(outcome))
		return false
	}
	for _, v := range e.step.Set {
		if v.Command != nil && !e.printed(v) {
			return false
		}
	}
	filled := *e.step
	e.s.Fill(&filled, e.given)
	e.step = &filled
	return true
}

// said returns the value that was said with the update, or what is wrong with it.
func (e *ending) said(v fsmspec.Value) (text, fault string) {
	raw := jsonx.Member(e.c.update.Values, v.Name)
	if raw == nil {
		raw = jsonx.Member(e.c.update.Metadata, v.Name)
	}
	if e.seen {
		raw = jsonx.Member(e.step.File.Metadata, v.Name)
	}
	text, ok := state.ValueText(raw)
	switch {
	case raw == nil || raw.Kind() == 'n':
		return "", "it has to give " + v.Name + ", which " + v.Rule()
	case !ok:
		return "", v.Name + " has to be a text, a number or a boolean"
	}
	if fault := v.Fault(text, e.step.Workflow.InPaths(v.Name)); fault != "" {
		return "", v.Name + " is " + message.Quote(text) + ", and " + message.Clip(message.Words(fault), message.MaxSubject)
	}
	return text, ""
}

// unknownValues refuses values that were given and that the agent cannot give: by the members
// of Update.Values those which the step does not set, and by any way those of a command.
func (e *ending) unknownValues(declared []fsmspec.Value) bool {
	if e.seen {
		return false
	}
	var names []string
	for _, v := range declared {
		if v.Command == nil {
			names = append(names, v.Name)
			continue
		}
		if jsonx.Member(e.c.update.Values, v.Name) != nil || jsonx.Member(e.c.update.Metadata, v.Name) != nil {
			e.verdict = deny(e.step, "a command gives "+v.Name, e.step.Name()+" cannot be completed so: a command gives "+v.Name+". Leave it out")
			return true
		}
	}
	members, _ := jsonx.Members(e.c.update.Values)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(names, name) {
			continue
		}
		what := "it sets no values"
		if len(names) > 0 {
			what = "it sets " + message.Sentence(nearestFirst(name, names))
		}
		e.verdict = deny(e.step, "no value "+message.Quote(name),
			e.step.Name()+" has no value "+message.Quote(name)+": "+what+". Leave the others out")
		e.verdict.past.forbidden = true
		return true
	}
	return false
}

// howToGive tells the agent how to give the values.
func (e *ending) howToGive(outcome string) string {
	if e.c.Apply || e.step.Decides != fsmspec.ByAgent || outcome == machine.Done {
		outcome = ""
	}
	return "Complete it with " + Say(e.c.Via.How, outcome, e.step.Given()...)
}

// printed takes a value from what a command prints. It reports false if the command has to run
// first, or what it printed is refused.
func (e *ending) printed(v fsmspec.Value) bool {
	kind := fsmspec.PrintedBy(v.Name)
	if e.c.checksOff() {
		e.verdict = deny(e.step, "checks are off", e.step.Name()+" takes "+v.Name+
			" from a command, and commands are not run here (--checks off). A person can give it: "+
			state.SetCommand(e.step.ID, v.Name, e.c.listFlag()))
		e.verdict.gate = kind
		return false
	}
	if !e.pass(fsmspec.Gate{Kind: kind, When: fsmspec.AtCompletion, Check: v.Command}) {
		return false
	}
	r := e.c.facts[factKey{e.step.ID, kind}].result
	text := outputOf(r)
	fault := v.Fault(text, e.step.Workflow.InPaths(v.Name))
	if text == "" {
		fault = "it printed nothing"
	}
	if fault != "" {
		e.verdict = deny(e.step, "its command gave no "+v.Name,
			fmt.Sprintf("%s cannot be completed: the output of its command is %s, which has to be %s: one line. %s. The command: %s", e.step.Name(),
				message.Quote(text), v.Name, strings.ToUpper(fault[:1])+fault[1:], message.Clip(message.Words(r.Run),
					message.MaxSubject)+r.Complaint()))
		return false
	}
	e.given[v.Name] = text
	return true
}

// outputOf returns what a command printed, without a byte order mark, which files have that PowerShell wrote.
func outputOf(r *state.Result) string {
	return strings.TrimSpace(strings.TrimPrefix(r.Output, "\ufeff"))
}

// givenByPerson returns the values that a person gives for the step when they say that it is done. What
// they do not say is what the agent said when it asked them, or stays as it is.
func givenByPerson(s *state.State, c *state.Current, said map[string]string) (given map[string]string, err error) {
	asked, _ := s.Latest(c.ID)
	known := s.Values(c.Workflow)
	given = map[string]string{}
	for _, v := range c.Set {
		text, ok := said[v.Name]
		if !ok && asked.Verdict == state.Ask {
			text, ok = asked.Values[v.Name]
		}
		if _, known := known[v.Name]; !ok && known {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("%w: say with --set %s=TEXT what %s is%s", errNoValue, v.Name, v.Name, v.Hint())
		}
		if fault := v.Fault(text, c.Workflow.InPaths(v.Name)); fault != "" {
			return nil, fmt.Errorf("%w: %s is %s, and %s", errNoValue, v.Name, message.Quote(text), fault)
		}
		given[v.Name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if !slices.ContainsFunc(c.Set, func(v fsmspec.Value) bool { return v.Name == name }) {
			return nil, fmt.Errorf("%w: it does not set %s", errNoValue, message.Quote(name))
		}
	}
	return given, nil
}
