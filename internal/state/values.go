package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Values are given by completing a step, and kept as evidence. They replace their names in
// texts and paths, and commands get them as environment variables; they are never put into a
// command.

// ended keeps the values that a step gave.
func (f *folding) ended(e Evidence) {
	if len(e.Values) > 0 {
		f.given = append(f.given, e)
	}
}

// began keeps when a step was started: a later start in the same round is no new one.
func (f *folding) began(e Evidence) {
	if f.begun[e.Step].IsZero() {
		f.begun[e.Step] = e.Time
	}
}

// again forgets the times of a step that was opened again.
func (f *folding) again(id int64) {
	f.opened[id] = true
	delete(f.started, id)
	delete(f.begun, id)
	delete(f.told, id)
}

// value computes the values of the workflows from the lines that gave them, and puts them into
// the texts and paths of the steps. Each stays until it is set anew.
func (s *State) value(given []Evidence) {
	s.values = map[*workflow.Workflow]map[string]string{}
	of := map[int64]map[string]string{}
	slices.SortStableFunc(given, func(a, b Evidence) int { return a.Time.Compare(b.Time) })
	for _, e := range given {
		of[e.Step] = e.Values
		maps.Copy(s.own(s.Step(e.Step).Workflow), e.Values)
	}
	for _, c := range s.Steps {
		c.Values = of[c.ID]
		s.Fill(c, nil)
	}
}

// scope returns the workflow to which the values belong that the steps of a workflow give. The
// parts of a step share those of its workflow; a copy has its own.
func (s *State) scope(w *workflow.Workflow) *workflow.Workflow {
	for w.Part && w.Item == "" && s.Parent(w) != nil {
		w = s.Parent(w).Workflow
	}
	return w
}

// own returns the values that belong to the scope of a workflow alone.
func (s *State) own(w *workflow.Workflow) map[string]string {
	w = s.scope(w)
	if s.values[w] == nil {
		s.values[w] = map[string]string{}
		maps.Copy(s.values[w], w.Vars)
		if !w.Part {
			s.values[w][fsmspec.Args] = w.Args
		}
		if w.Item != "" {
			s.values[w][fsmspec.Item] = w.Item
		}
	}
	return s.values[w]
}

// Values returns the values of a workflow, by their names: the arguments of the skill's call,
// those that it has from its beginning, and those that its steps gave. A copy for an item has
// those of the workflow around it, too.
func (s *State) Values(w *workflow.Workflow) map[string]string {
	w = s.scope(w)
	all := map[string]string{}
	if p := s.Parent(w); w.Part && p != nil {
		all = s.Values(p.Workflow)
	}
	maps.Copy(all, s.OfList().own(w))
	return all
}

// valuesOf returns what is known to a step, with the values that it gives now.
func (s *State) valuesOf(c *Current, given map[string]string) map[string]string {
	all := s.Values(c.Workflow)
	maps.Copy(all, given)
	return all
}

// Fill replaces the names of values in the texts and paths of a step, with those that it gives
// now.
func (s *State) Fill(c *Current, given map[string]string) {
	if !c.Workflow.Values {
		return
	}
	values := s.valuesOf(c, given)
	values[fsmspec.Round] = strconv.Itoa(c.Round)
	c.fill(values)
}

// fill replaces the names of values in the texts and paths of the step. A path with a value
// that cannot be in it stays as it is declared.
func (c *Current) fill(values map[string]string) {
	if c.Template == nil {
		declared := c.Step
		c.Template = &declared
	}
	c.PathFaults = map[string]error{}
	c.Step = c.Template.Filled(values, c.PathFaults)
	c.Description = cmp.Or(c.Step.Description, c.Description)
}

// GivenBy says how a value can be given anew.
func (s *State) GivenBy(c *Current, name, list string) string {
	for _, b := range s.OfList().Steps {
		if s.scope(b.Workflow) == s.scope(c.Workflow) && slices.ContainsFunc(b.Set, func(v fsmspec.Value) bool { return v.Name == name }) {
			return fmt.Sprintf(`%s gives it. Tell the person, who can open that step again in a terminal: fsmtx step reopen %d --because "..." %s`,
				b.Name(), b.ID, list)
		}
	}
	return "Tell the person: the skill has to be called with other arguments"
}

// WithoutOurs removes the variables that the workflow sets itself: a value that is
// not set must not come from the environment of the hook.
func (c *Current) WithoutOurs(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return c.Workflow.OurVariable(name)
	})
}

// activeFormIsOld reports whether the task's activeForm has a name that is replaced now, or an
// earlier value. The agent may have changed it to something else, which stays.
func (c *Current) activeFormIsOld() bool {
	return c.Template != nil && len(fsmspec.Named(c.Template.ActiveForm)) > 0 && c.File.ActiveForm != c.ActiveForm &&
		begins(c.File.ActiveForm, c.Template.ActiveForm)
}

// hasShown reports whether the list can have shown a text of the step: it begins with now, or
// with what is declared, whatever the values were.
func (c *Current) hasShown(text, now string, of func(*workflow.Step) string) bool {
	return strings.HasPrefix(text, now) || c.Template != nil && begins(text, of(c.Template))
}

// begins reports whether a text begins with a declared one, in which each name stands for any
// text.
func begins(text, declared string) bool {
	for i, literal := range fsmspec.Literals(declared) {
		at := strings.Index(text, literal)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		text = text[at+len(literal):]
	}
	return true
}

// OwesValues reports whether the step has to give its values at a transition: it does unless that leads
// back, or ends the workflow or item and no gate may need them. Behind parts that end a step may use them.
func (c *Current) OwesValues(tr machine.Transition) bool {
	o := c.OutcomeNamed(tr.Outcome)
	if o == nil || !o.Stop {
		return !IsBack(tr)
	}
	parts := c.Workflow.Part && c.Workflow.Item == ""
	return parts || len(c.Gates()) > 0 || len(o.Gates()) > 0
}

// ValueText returns the value that a text, a number or a boolean of JSON is.
func ValueText(raw jsontext.Value) (string, bool) {
	switch raw.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		return string(text), err == nil
	case '0', 't', 'f':
		return string(raw), true
	}
	return "", false
}

// SetCommand returns the command with which a person gives a value.
func SetCommand(id int64, name, list string) string {
	return fmt.Sprintf(`fsmtx step done %d --set %s=... --because "..." %s`, id, name, list)
}
