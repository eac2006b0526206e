package steps

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Values are given by completing a step, and kept as evidence. They replace their names in
// texts and paths, and commands get them as environment variables; they are never put into a
// command.

// valuation is the part of a fold that is about values and times.
type valuation struct {
	given []Evidence          // the lines that gave values
	begun map[int64]time.Time // when a step was started in its present round
	told  map[int64]bool      // the person knows that the time limit of the step has passed
}

func newValuation() valuation {
	return valuation{begun: map[int64]time.Time{}, told: map[int64]bool{}}
}

// ended keeps the values that a step gave.
func (v *valuation) ended(e Evidence) {
	if len(e.Values) > 0 {
		v.given = append(v.given, e)
	}
}

// began keeps when a step was started: a later start in the same round is no new one.
func (v *valuation) began(e Evidence) {
	if v.begun[e.Step].IsZero() {
		v.begun[e.Step] = e.Time
	}
}

// again forgets the times of a step that was opened again.
func (v *valuation) again(id int64) {
	delete(v.begun, id)
	delete(v.told, id)
}

// value computes the values of the workflows from the lines that gave them, and puts them into
// the texts and paths of the steps. Each stays until it is set anew.
func (s *State) value(given []Evidence) {
	s.values = map[*Workflow]map[string]string{}
	of := map[int64]map[string]string{}
	slices.SortStableFunc(given, func(a, b Evidence) int { return a.Time.Compare(b.Time) })
	for _, e := range given {
		of[e.Step] = e.Values
		maps.Copy(s.own(s.Step(e.Step).Workflow), e.Values)
	}
	for _, c := range s.Steps {
		c.Values = of[c.ID]
		s.fill(c, nil)
	}
}

// scope returns the workflow to which the values belong that the steps of a workflow give. The
// parts of a step share those of its workflow; a copy has its own.
func (s *State) scope(w *Workflow) *Workflow {
	for w.part && w.Item == "" && s.Parent(w) != nil {
		w = s.Parent(w).Workflow
	}
	return w
}

// own returns the values that belong to the scope of a workflow alone.
func (s *State) own(w *Workflow) map[string]string {
	w = s.scope(w)
	if s.values[w] == nil {
		s.values[w] = map[string]string{}
		maps.Copy(s.values[w], w.Vars)
		if !w.part {
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
func (s *State) Values(w *Workflow) map[string]string {
	w = s.scope(w)
	all := map[string]string{}
	if p := s.Parent(w); w.part && p != nil {
		all = s.Values(p.Workflow)
	}
	maps.Copy(all, s.ofList().own(w))
	return all
}

// valuesOf returns what is known to a step, with the values that it gives now.
func (s *State) valuesOf(c *Current, given map[string]string) map[string]string {
	all := s.Values(c.Workflow)
	maps.Copy(all, given)
	return all
}

// fill replaces the names of values in the texts and paths of a step, with those that it gives
// now.
func (s *State) fill(c *Current, given map[string]string) {
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
	if c.template == nil {
		declared := c.Step
		c.template = &declared
	}
	t := c.template
	c.pathFaults = map[string]error{}
	pattern := func(text string) string { return c.path(fsmspec.FillPattern, text, values) }
	patterns := func(all []string) (filled []string) {
		for _, text := range all {
			filled = append(filled, pattern(text))
		}
		return filled
	}
	command := func(check *Check) *Check {
		if check == nil || check.Dir == "" {
			return check
		}
		filled := *check
		filled.Dir = c.path(fsmspec.FillPath, check.Dir, values)
		return &filled
	}
	c.Subject, c.Step.Description, c.ActiveForm = fsmspec.FillLine(t.Subject, values), fsmspec.Fill(t.Description, values),
		fsmspec.FillLine(t.ActiveForm, values)
	c.Description = cmp.Or(c.Step.Description, c.Description)
	f := filling{text: func(text string) string { return fsmspec.Fill(text, values) }, patterns: patterns, command: command}
	c.fillGates(*t, f)
	c.Chooser = command(t.Chooser)
	if t.Each != nil {
		each := *t.Each
		each.Run = command(each.Run)
		if each.Lines != "" {
			each.Lines = c.path(fsmspec.FillPath, each.Lines, values)
		}
		c.Each = &each
	}
	c.Set = slices.Clone(t.Set)
	for i := range c.Set {
		c.Set[i].Command = command(c.Set[i].Command)
	}
	c.Outcomes = slices.Clone(t.Outcomes)
	for i := range c.Outcomes {
		c.Outcomes[i].fillGates(f)
	}
}

func (c *Current) path(fill func(string, map[string]string) (string, error), text string, values map[string]string) string {
	filled, err := fill(text, values)
	if err != nil {
		c.pathFaults[text] = err
		return text
	}
	return filled
}

// pathFault denies what depends on a path in which the name of a value cannot be replaced.
func pathFault(s *State, c *Current, g Gate, list string) Verdict {
	paths := g.patterns
	if g.check != nil {
		paths = []string{g.check.Dir}
	}
	for _, path := range paths {
		fault, ok := errors.AsType[*fsmspec.PathError](c.pathFaults[path])
		if !ok {
			continue
		}
		verb := "completed"
		if g.when == atStart {
			verb = "started"
		}
		text := fmt.Sprintf("%s cannot be %s: in %s, %v", c.Name(), verb, quote(path), fault)
		if fault.Value != "" {
			text += " (" + quote(fault.Value) + ")"
		}
		return deny(c, "no path with {"+fault.Name+"}", text+". "+s.givenBy(c, fault.Name, list))
	}
	return Verdict{}
}

// givenBy says how a value can be given anew.
func (s *State) givenBy(c *Current, name, list string) string {
	for _, b := range s.ofList().Steps {
		if s.scope(b.Workflow) == s.scope(c.Workflow) && slices.ContainsFunc(b.Set, func(v Value) bool { return v.Name == name }) {
			return fmt.Sprintf(`%s gives it. Tell the person, who can open that step again in a terminal: fsmtx step reopen %d --because "..." %s`,
				b.Name(), b.ID, list)
		}
	}
	return "Tell the person: the skill has to be called with other arguments"
}

// ourVariable reports whether commands of the workflow get a variable of that name from it, so
// that one from elsewhere must not reach them.
func (w *Workflow) ourVariable(name string) bool {
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

// withoutOurs removes the variables that the workflow sets itself: a value that is
// not set must not come from the environment of the hook.
func (c *Current) withoutOurs(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return c.Workflow.ourVariable(name)
	})
}

// inPaths reports whether a path of the workflow names the value.
func (w *Workflow) inPaths(name string) bool {
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
		all, commands = append(all, g.patterns...), append(commands, g.check)
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

// activeFormIsOld reports whether the task's activeForm has a name that is replaced now, or an
// earlier value. The agent may have changed it to something else, which stays.
func (c *Current) activeFormIsOld() bool {
	return c.template != nil && c.template.ActiveForm != "" && c.file.ActiveForm != c.ActiveForm &&
		begins(c.file.ActiveForm, c.template.ActiveForm)
}

// hasShown reports whether the list can have shown a text of the step: it begins with now, or
// with what is declared, whatever the values were.
func (c *Current) hasShown(text, now string, of func(*Step) string) bool {
	return strings.HasPrefix(text, now) || c.template != nil && begins(text, of(c.template))
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

// owesValues reports whether a step that ends in an outcome has to give its values: it does
// unless Current.owesValues says otherwise. An empty name is for a command to decide.
func (e *ending) owesValues(name string) bool {
	if name == "" {
		return true
	}
	tr, err := e.s.conclude(e.step, name)
	return err == nil && e.step.owesValues(tr)
}

// owesValues reports whether the step has to give its values at a transition: it does unless that leads
// back, or ends the workflow or item and no gate may need them. Behind parts that end a step may use them.
func (c *Current) owesValues(tr machine.Transition) bool {
	o := c.outcomeNamed(tr.Outcome)
	if o == nil || !o.Stop {
		return !isBack(tr)
	}
	parts := c.Workflow.part && c.Workflow.Item == ""
	return parts || len(c.Gates()) > 0 || len(o.Gates()) > 0
}

// values judges the values that completing the step gives, which ends in an outcome; "" if a
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
	e.s.fill(&filled, e.given)
	e.step = &filled
	return true
}

// said returns the value that was said with the update, or what is wrong with it.
func (e *ending) said(v Value) (text, fault string) {
	raw := jsonx.Member(e.c.update.Values, v.Name)
	if raw == nil {
		raw = jsonx.Member(e.c.update.Metadata, v.Name)
	}
	if e.seen {
		raw = jsonx.Member(e.step.file.Metadata, v.Name)
	}
	text, ok := valueText(raw)
	switch {
	case raw == nil || raw.Kind() == 'n':
		return "", "it has to give " + v.Name + ", which " + v.wants()
	case !ok:
		return "", v.Name + " has to be a text, a number or a boolean"
	}
	if fault := v.declaration().Fault(text, e.step.Workflow.inPaths(v.Name)); fault != "" {
		return "", v.Name + " is " + quote(text) + ", and " + message.Clip(message.Words(fault), maxSubject)
	}
	return text, ""
}

// wants says what a value has to be.
func (v Value) wants() string {
	if v.OneOf != nil {
		return "is " + message.Clip(message.Words(alternatives(v.OneOf)), maxSubject)
	}
	return "matches " + message.Clip(message.Words(v.Pattern), maxSubject)
}

// valueText returns the value that a text, a number or a boolean of JSON is.
func valueText(raw jsontext.Value) (string, bool) {
	switch raw.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		return string(text), err == nil
	case '0', 't', 'f':
		return string(raw), true
	}
	return "", false
}

// unknownValues refuses values that were given and that the agent cannot give: by the members
// of Update.Values those which the step does not set, and by any way those of a command.
func (e *ending) unknownValues(declared []Value) bool {
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
			what = "it sets " + sentence(nearestFirst(name, names))
		}
		e.verdict = deny(e.step, "no value "+quote(name), e.step.Name()+" has no value "+quote(name)+": "+what+". Leave the others out")
		e.verdict.past.none = true
		return true
	}
	return false
}

// howToGive tells the agent how to give the values.
func (e *ending) howToGive(outcome string) string {
	if e.c.Apply || e.step.Decides != "" || outcome == machine.Done {
		outcome = ""
	}
	return "Complete it with " + Say(e.c.Via.How, outcome, e.step.Given()...)
}

// printed takes a value from what a command prints. It reports false if the command has to run
// first, or what it printed is refused.
func (e *ending) printed(v Value) bool {
	if e.c.NoChecks {
		e.verdict = deny(e.step, "checks are off", e.step.Name()+" takes "+v.Name+
			" from a command, and commands are not run here (--checks off). A person can give it: "+
			setCommand(e.step.ID, v.Name, e.c.listFlag()))
		return false
	}
	kind := printedBy(v.Name)
	if !e.pass(Gate{kind: kind, when: atCompletion, check: v.Command}) {
		return false
	}
	r := e.c.facts[factKey{e.step.ID, kind}].result
	text := strings.TrimSpace(r.output)
	fault := v.declaration().Fault(text, e.step.Workflow.inPaths(v.Name))
	if text == "" {
		fault = "it printed nothing"
	}
	if fault != "" {
		e.verdict = deny(e.step, "its command gave no "+v.Name,
			fmt.Sprintf("%s cannot be completed: the output of its command is %s, which has to be %s: one line. %s. The command: %s", e.step.Name(),
				quote(text), v.Name, strings.ToUpper(fault[:1])+fault[1:], message.Clip(message.Words(r.Run), maxSubject)+r.complaint()))
		return false
	}
	e.given[v.Name] = text
	return true
}

// setCommand returns the command with which a person gives a value.
func setCommand(id int64, name, list string) string {
	return fmt.Sprintf(`fsmtx step done %d --set %s=... --because "..." %s`, id, name, list)
}

// givenByPerson returns the values that a person gives for the step when they say that it is done. What
// they do not say is what the agent said when it asked them, or stays as it is.
func givenByPerson(s *State, c *Current, said map[string]string) (given map[string]string, err error) {
	asked, _ := s.latest(c.ID)
	known := s.Values(c.Workflow)
	given = map[string]string{}
	for _, v := range c.Set {
		text, ok := said[v.Name]
		if !ok && asked.Verdict == Ask {
			text, ok = asked.Values[v.Name]
		}
		if _, known := known[v.Name]; !ok && known {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("%w: say with --set %s=TEXT what %s is%s", errNoValue, v.Name, v.Name, v.hint())
		}
		if fault := v.declaration().Fault(text, c.Workflow.inPaths(v.Name)); fault != "" {
			return nil, fmt.Errorf("%w: %s is %s, and %s", errNoValue, v.Name, quote(text), fault)
		}
		given[v.Name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if !slices.ContainsFunc(c.Set, func(v Value) bool { return v.Name == name }) {
			return nil, fmt.Errorf("%w: it does not set %s", errNoValue, quote(name))
		}
	}
	return given, nil
}

func (v Value) hint() string {
	if v.Command != nil {
		return " (its command is not run)"
	}
	return ", which " + v.wants()
}
