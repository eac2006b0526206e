package fsmspec

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Limits of values.
const (
	// MaxSet is the largest number of values that a step sets, and MaxVars that of vars.
	MaxSet, MaxVars = 20, 100
	// MaxValue is the longest value that an agent or a command may give, in characters.
	MaxValue = 1000
	// MaxWithin is the longest time limit of a step.
	MaxWithin = 30 * 24 * time.Hour
)

// Value is a value that completing a step gives. Exactly one of the other fields is set.
type Value struct {
	Name    string   `json:"name"`
	Pattern string   `json:"pattern,omitzero"`  // a regular expression of package regexp; it has to match the whole value
	OneOf   []string `json:"oneOf,omitempty"`   // the values that it can have
	Command *Check   `json:"command,omitempty"` // prints it
}

// Var is a value that a workflow has from its beginning.
type Var struct{ Name, Default string }

// Args is the name of the value that every workflow with outcomes has: the arguments of the
// call of its skill.
const Args = "args"

// Item is the name that stands for the line for which a step is done.
const Item = "item"

// Round is the name that stands for the round of a step.
const Round = "round"

// reservedValue returns what a name is that no value may have, "" for other names.
func reservedValue(name string) string {
	return map[string]string{
		Args: "the arguments of the skill's call, which are always there", Round: "the round of the step", Item: "the item of a step with each",
		"outcome": "how a step ends", Tag: "the mark of a step",
	}[name]
}

// Vars returns the values that the workflow has from its beginning, in the order of the file.
func (s *Spec) Vars() []Var { return slices.Clone(s.vars) }

// HasValues reports whether a text, a path or a step of the workflow has to do with values:
// such a workflow is not understood by a program that knows only outcomes.
func (s *Spec) HasValues() bool { return s.hasValues }

// TakesArgs reports whether something in the workflow may use the arguments of the skill's call:
// a text, a path, or a command, which gets them as FSM_ARGS. In version Plain nothing can.
func (s *Spec) TakesArgs() bool {
	return s.version != Plain && (s.hasValues || slices.ContainsFunc(s.Tasks(), func(t Task) bool { return len(t.Commands()) > 0 }))
}

// Initial returns the values that the workflow has when its skill was called with these
// arguments. It is nil in version Plain.
func (s *Spec) Initial(args string) map[string]string {
	if s.version == Plain {
		return nil
	}
	values := map[string]string{Args: args}
	for _, v := range s.vars {
		values[v.Name] = Fill(v.Default, map[string]string{Args: args})
	}
	return values
}

// shown returns the values for texts of the list, nil for nil.
func shown(values map[string]string) map[string]string {
	if values != nil {
		values = maps.Clone(values)
		values[Round] = "1"
	}
	return values
}

// Fault returns why a value cannot be given for v, or "". segment is set if the value is a part
// of a path.
func (v Value) Fault(value string, segment bool) string {
	switch {
	case utf8.RuneCountInString(value) > MaxValue:
		return fmt.Sprintf("it has more than %d characters", MaxValue)
	case strings.ContainsFunc(value, unicode.IsControl):
		return "it has line breaks or control characters"
	case v.Pattern != "" && !matches(v.Pattern, value):
		return "it does not match " + v.Pattern
	case v.OneOf != nil && !slices.Contains(v.OneOf, value):
		return "it is not one of " + strings.Join(v.OneOf, ", ")
	case segment && SegmentFault(value) != "":
		return "it stands in a path, and " + SegmentFault(value)
	}
	return ""
}

// matches reports whether a pattern, which was validated, matches the whole text.
func matches(pattern, text string) bool {
	e, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	return err == nil && e.MatchString(text)
}

// Wants returns what a value has to be, in words; "" if a command prints it.
func (v Value) Wants() string {
	switch {
	case v.OneOf != nil:
		return strings.Join(v.OneOf, " or ")
	case v.Command == nil:
		return "matches " + v.Pattern
	}
	return ""
}

// setType is an object of names, each with what its value has to be.
type setType struct{}

func (setType) read(p *parser, e *entry, name string, t token) {
	if t.kind != '{' {
		p.problem(t.start, `%s must be an object such as {"version": "^[0-9.]+$"}, not %s`, name, p.describe(t))
		return
	}
	p.hasValues = true
	empty := true
	for key, value := range p.members {
		empty = false
		v := Value{Name: p.text(key)}
		e.mark(key.start, "set", v.Name)
		p.valueName(name, key)
		p.valueOf(&v, name+"."+v.Name, value)
		switch n := len(e.task.Set); {
		case n > MaxSet:
		case n == MaxSet:
			p.problem(key.start, "%s may have at most %d names", name, MaxSet)
		}
		e.task.Set = append(e.task.Set, v)
	}
	if empty && !p.broken {
		p.problem(t.start, `%s is empty: leave it out, or write {"version": "^[0-9.]+$"}`, name)
	}
}

// valueName notes what is wrong with the name of a value.
func (p *parser) valueName(field string, key token) {
	name := p.text(key)
	switch what := reservedValue(name); {
	case !isValueName(name):
		p.problem(key.start, "%s: %s is not a name for a value: use a lower-case letter, then up to 30 lower-case letters, digits and _",
			field, quoted(name))
	case what != "":
		p.problem(key.start, "%s: %s is %s: give the value another name", field, name, what)
	case isOutcomeVariable(name):
		p.problem(key.start, "%s: in commands %s would be the variable %s, which says how a step ended: give it another name", field, name,
			Variable(name))
	}
}

// isOutcomeVariable reports whether the variable of a value would be that of an outcome.
func isOutcomeVariable(name string) bool {
	n, ok := strings.CutPrefix(name, "outcome_")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// Variable returns the environment variable in which commands get a value.
func Variable(name string) string { return "FSM_" + strings.ToUpper(name) }

// valueOf reads what a value has to be.
func (p *parser) valueOf(v *Value, full string, t token) {
	switch t.kind {
	case '"':
		v.Pattern = p.text(t)
		p.regexp(full, t)
	case '[':
		v.OneOf = []string{}
		for i, t := range p.elements {
			p.oneOf(v, full, i, t)
		}
		if len(v.OneOf) == 0 && !p.broken {
			p.problem(t.start, "%s is empty: list the values that it can have", full)
		}
	case '{':
		v.Command = p.newCheck()
		p.checkObject(full, t, v.Command, checkFields)
	default:
		p.problem(t.start, `%s must be a regular expression, an array of values, `+
			`or an object such as {"run": "git branch --show-current"}, not %s`,
			full, p.describe(t))
	}
}

func (p *parser) oneOf(v *Value, full string, i int, t token) {
	text := p.raw(t)
	if t.kind == '"' {
		text = p.text(t)
	}
	fault := ""
	if t.kind == '"' || t.kind == '0' || t.kind == 't' || t.kind == 'f' {
		fault = Value{}.Fault(text, false)
	}
	switch {
	case i > MaxPatterns:
	case i == MaxPatterns:
		p.problem(t.start, "%s may hold at most %d elements", full, MaxPatterns)
	case t.kind != '"' && t.kind != '0' && t.kind != 't' && t.kind != 'f':
		p.problem(t.start, "%s must hold texts, numbers or booleans, not %s", full, p.describe(t))
	case isBlank(text):
		p.problem(t.start, "%s has a blank value", full)
	case fault != "":
		p.problem(t.start, "%s: %s: %s", full, quoted(text), fault)
	case slices.Contains(v.OneOf, text):
		p.problem(t.start, "%s lists %s more than once", full, quoted(text))
	}
	v.OneOf = append(v.OneOf, text)
}

// regexp notes what is wrong with a regular expression.
func (p *parser) regexp(full string, t token) {
	const longest = 1000
	text := p.text(t)
	if text == "" || len(text) > longest {
		p.problem(t.start, "%s must be a regular expression of 1 to %d bytes", full, longest)
		return
	}
	_, err := regexp.Compile(text)
	if err == nil {
		return
	}
	why := err.Error()
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		why = fmt.Sprintf("%s: %s", wrong.Code, quoted(wrong.Expr))
	}
	p.problem(t.start, "%s: %s is not a regular expression: %s", full, quoted(text), why)
}

// readVars reads the values that the workflow has from its beginning.
func (p *parser) readVars(t token) {
	if t.kind != '{' {
		p.problem(t.start, `vars must be an object of names and default texts, such as {"goal": "{args}"}, not %s`, p.describe(t))
		return
	}
	for key, value := range p.members {
		p.valueName("vars", key)
		name := p.text(key)
		switch {
		case len(p.declared) > MaxVars:
		case len(p.declared) == MaxVars:
			p.problem(key.start, "vars may have at most %d names", MaxVars)
		case value.kind != '"':
			p.problem(value.start, "vars.%s must be a text, not %s", name, p.describe(value))
		default:
			for _, n := range Named(p.text(value)) {
				if n != Args {
					p.problem(value.start, "vars.%s names {%s}: a default can only have {args} (write {{%s}} for the text itself)", name,
						short(n), short(n))
				}
			}
			p.declared = append(p.declared, Var{name, p.text(value)})
			continue
		}
		p.declared = append(p.declared, Var{Name: name})
	}
}

// moment is when a value has to be known.
type moment int

const (
	whenStarted moment = iota
	whenCompleted
)

// mention is a place where an entry names a value.
type mention struct {
	entry   *entry
	name    string
	field   string // in messages
	at      int
	pointer string
	when    moment
	in      container
}

// container is in what a value is named.
type container int

const (
	inText    container = iota
	inPath              // also a pattern
	inCommand           // which reads its variable
	asText              // in a command, where {name} is not replaced
	inRule              // in a permission rule, where it is not, either
)

// maxUses limits the uses that are proven.
const maxUses = 20_000

// uses notes which values a text or a path names. field is its name in messages.
func (p *parser) uses(field, text string, t token, when moment, in container) {
	if p.version != WithOutcomes || p.current == nil || !strings.Contains(text, "{") {
		return
	}
	for _, name := range Named(text) {
		p.addMention(mention{p.current, name, field, t.start, "", when, in})
	}
	p.hasValues = p.hasValues || slices.ContainsFunc(parts(text), func(p part) bool { return p.name != "" })
}

func (p *parser) addMention(u mention) {
	if len(p.named) < maxUses {
		u.pointer = string(p.decoder.StackPointer())
		p.named = append(p.named, u)
	}
}

// pathUses is uses for a path or a pattern.
func (p *parser) pathUses(field, text string, t token) {
	when := whenCompleted
	if !strings.Contains(field, "produces") && field != "check.dir" && field != "decides.dir" && !strings.HasPrefix(field, "outcomes.") {
		when = whenStarted
	}
	p.uses(field, text, t, when, inPath)
}

// ruleUses finds {name} in a permission rule, where it is not replaced.
func (p *parser) ruleUses(field, rule string, t token) {
	if p.version != WithOutcomes || p.current == nil {
		return
	}
	for _, name := range Named(rule) {
		p.addMention(mention{p.current, name, field, t.start, "", whenStarted, inRule})
	}
}

// commandUses finds the names of variables of values in a command: $FSM_X and ${FSM_X}, without
// a default. It also finds {name}, which is not replaced there.
func (p *parser) commandUses(field, command string, t token) {
	if p.version != WithOutcomes || p.current == nil {
		return
	}
	for _, name := range Named(strings.ReplaceAll(command, "${", "$ ")) {
		p.addMention(mention{p.current, name, field, t.start, "", whenCompleted, asText})
	}
	seen := map[string]bool{}
	for rest := command; ; {
		_, after, ok := strings.Cut(rest, "$")
		if !ok {
			return
		}
		rest = strings.TrimPrefix(after, "{")
		braced := len(rest) < len(after)
		name, ok := strings.CutPrefix(rest, "FSM_")
		if !ok {
			continue
		}
		end := len(name) - len(strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
		name, rest = name[:end], name[end:]
		if braced && !strings.HasPrefix(rest, "}") || seen[name] || name == "" {
			continue
		}
		seen[name] = true
		p.addMention(mention{p.current, strings.ToLower(name), field, t.start, "", whenCompleted, inCommand})
	}
}

// valueProof knows which entries give which values.
type valueProof struct {
	p       *parser
	setters map[string][]*entry // of all levels
	known   []string            // the names, those of vars first
	given   map[given]bool      // what gives has found
}

// given is a value that an entry may give.
type given struct {
	entry *entry
	name  string
}

// proveValues notes the uses of values that do not exist, or that may be unset when they are used.
func (p *parser) proveValues() {
	v := &valueProof{p: p, setters: map[string][]*entry{}, given: map[given]bool{}}
	for _, d := range p.declared {
		v.known = append(v.known, d.Name)
	}
	v.collect(p.entries)
	for _, m := range p.named {
		v.prove(m)
	}
	for _, w := range p.wildcards {
		v.warn(w)
	}
}

func (v *valueProof) collect(entries []*entry) {
	for _, e := range entries {
		for _, value := range e.task.Set {
			if !slices.Contains(v.known, value.Name) {
				v.known = append(v.known, value.Name)
			}
			v.setters[value.Name] = append(v.setters[value.Name], e)
			if e.task.Status == Completed {
				v.p.noteAt(&v.p.problems, e, e.places["set/"+value.Name], e.pointer("set", value.Name), "a completed step gives no values")
			}
		}
		v.collect(e.parts)
	}
}

// isVar reports whether the workflow has the value from its beginning.
func (v *valueProof) isVar(name string) bool {
	return slices.ContainsFunc(v.p.declared, func(d Var) bool { return d.Name == name })
}

// fixedFault returns why a value that is always the one of vars cannot be part of a path, or "". What
// depends on the call, or is set anew by a step, is known only then.
func (v *valueProof) fixedFault(name string) string {
	i := slices.IndexFunc(v.p.declared, func(d Var) bool { return d.Name == name })
	if i < 0 || v.setters[name] != nil || len(Named(v.p.declared[i].Default)) > 0 {
		return ""
	}
	return SegmentFault(Fill(v.p.declared[i].Default, nil))
}

func (v *valueProof) prove(m mention) {
	p, name := v.p, m.name
	switch {
	case m.in == asText || m.in == inRule:
		switch {
		case name != Args && name != Round && (name != Item || !m.hasItem()) && !slices.Contains(v.known, name):
		case m.in == inRule:
			p.noteMention(&p.warnings, m, `%s has {%s}, and nothing is replaced in rules: write * for it`, m.field, name)
		default:
			p.noteMention(&p.warnings, m, `%s has {%s}, and nothing is replaced in commands: write "$%s"`, m.field, name, Variable(name))
		}
	case m.in == inPath && v.fixedFault(name) != "":
		p.noteMention(&p.problems, m, "%s names {%s}, which no step sets and which vars has: it stands in a path, and %s", m.field, name,
			v.fixedFault(name))
	case name == Args || name == Round || v.isVar(name) || m.in == inCommand && name == Item:
	case m.in == inCommand && isOutcomeVariable(name):
		if id, _ := strconv.ParseInt(name[len("outcome_"):], 10, 64); !slices.ContainsFunc(v.level(m.entry),
			func(e *entry) bool { return e.task.ID == id }) {
			p.noteMention(&p.warnings, m, "%s reads %s, and there is no step %d", m.field, Variable(name), id)
		}
	case name == Item:
		if !m.hasItem() {
			p.noteMention(&p.problems, m, `%s names {item}, which only what is done for each line has: a step with each, or if it has a do, `+
				`the steps in that (write {{item}} for the text itself)`, m.field)
		}
	case v.setters[name] == nil && m.in == inCommand:
		p.noteMention(&p.warnings, m, "%s reads %s, which no value of this workflow sets%s", m.field, Variable(name),
			didYouMean(variableMeant(name, v.known)))
	case v.setters[name] == nil:
		p.noteMention(&p.problems, m, "%s names {%s}, which is not a value of this workflow%s (write {{%s}} for the text itself)", m.field,
			name, didYouMean(near(name, v.known)), name)
	default:
		why := v.unset(m.entry, name, m.when)
		switch {
		case why == "":
		case m.in == inCommand:
			p.noteMention(&p.warnings, m, "%s reads %s, which is not set %s", m.field, Variable(name), why)
		default:
			p.noteMention(&p.problems, m, "%s names {%s}, which is not set %s", m.field, name, why)
		}
	}
}

// hasItem reports whether {item} stands for a line where it is named. A step with each and
// parts is only the join of them.
func (m mention) hasItem() bool {
	for e := m.entry; e != nil; e = e.outer {
		own := e == m.entry && (len(e.parts) > 0 || strings.HasPrefix(m.field, "each."))
		if e.task.Each != nil && !own {
			return true
		}
	}
	return false
}

// level returns the entries beside one, with itself.
func (v *valueProof) level(e *entry) []*entry {
	if e.outer == nil {
		return v.p.entries
	}
	return e.outer.parts
}

func (v *valueProof) machine(e *entry) *machine.Machine {
	if e.outer == nil {
		return v.p.machine
	}
	return e.outer.machine
}

// gives reports whether the steps after an entry have the value that it, or its parts, set. What
// is set for one line is known only there.
func (v *valueProof) gives(e *entry, name string) bool {
	of := given{e, name}
	if _, known := v.given[of]; !known {
		v.given[of] = e.task.Each == nil && (sets(e, name) || len(e.parts) > 0 && v.partsGive(e, name))
	}
	return v.given[of]
}

// partsGive reports whether the parts of an entry have given the value whenever they are over, also
// if one of them ends them all. Such an outcome of a part that gives the value needs it, too.
func (v *valueProof) partsGive(e *entry, name string) bool {
	from := v.settersOf(e.parts, name)
	if len(from) == 0 || e.machine == nil || e.machine.UnsetAtEnd(from) {
		return false
	}
	return !slices.ContainsFunc(e.parts, func(x *entry) bool {
		if slices.Contains(from, x.task.ID) || !slices.ContainsFunc(x.task.Outcomes, func(o Outcome) bool { return o.Stop }) {
			return false
		}
		_, before := e.machine.Unset(x.task.ID, from)
		return before
	})
}

// settersOf returns the ids of the entries of a level that give the value.
func (v *valueProof) settersOf(level []*entry, name string) (ids []int64) {
	for _, e := range level {
		if v.gives(e, name) {
			ids = append(ids, e.task.ID)
		}
	}
	return ids
}

func sets(e *entry, name string) bool {
	return slices.ContainsFunc(e.task.Set, func(v Value) bool { return v.Name == name })
}

// unset returns when a value is not set at an entry, or "" if it is always set.
func (v *valueProof) unset(e *entry, name string, when moment) string {
	if when == whenCompleted && (sets(e, name) || v.gives(e, name)) {
		return ""
	}
	from := v.settersOf(v.level(e), name)
	how, unset := v.machine(e).Unset(e.task.ID, from)
	if !unset || e.outer != nil && v.unset(e.outer, name, whenStarted) == "" {
		return ""
	}
	switch {
	case sets(e, name):
		return "before this step is completed"
	case len(how) > 0:
		return "if " + endings(how) + `: give it a default in "vars", or this step a "when"`
	case len(from) == 0 && e.outer != nil:
		return v.unset(e.outer, name, whenStarted)
	}
	if slices.ContainsFunc(v.setters[name], func(x *entry) bool { return x.task.Each != nil || x.isResult() }) {
		return "when this step starts: " + v.where(name) + " gives one, which only the steps for that line can use"
	}
	for _, x := range v.setters[name] {
		for o := x.outer; o != nil; o = o.outer {
			switch {
			case o == e && when == whenCompleted:
				return "when this step is completed: only " + v.where(name) + " in it gives it, and it is not sure that its parts end with it: " +
					`give it a default in "vars"`
			case o == e:
				return "when this step starts: " + v.where(name) + " in it gives it, which is done later"
			case o.outer != e.outer:
				continue
			}
			if _, open := v.machine(e).Unset(e.task.ID, []int64{o.task.ID}); !open {
				return fmt.Sprintf("when this step starts: only %s in step %d gives it, and it is not sure that step %d ends "+
					"with it: give it a default in \"vars\"",
					v.where(name), o.task.ID, o.task.ID)
			}
		}
	}
	return "when this step starts: only " + v.where(name) + " gives it, which does not come before"
}

// where names the steps that set a value.
func (v *valueProof) where(name string) string {
	var all []string
	for _, e := range v.setters[name] {
		text := fmt.Sprintf("step %d", e.task.ID)
		if e.task.Each != nil || e.isResult() {
			text += " for each line"
		}
		all = append(all, text)
	}
	return strings.Join(all, " or ")
}

func endings(how []machine.Ending) string {
	var all []string
	for _, e := range how {
		text := fmt.Sprintf("step %d ends as %s", e.Step, e.Outcome)
		if e.Outcome == machine.Skipped {
			text = fmt.Sprintf("step %d is not worked on", e.Step)
		}
		all = append(all, text)
	}
	return strings.Join(all, " and ")
}

func variableMeant(name string, known []string) string {
	if meant := near(name, known); meant != "" {
		return Variable(meant)
	}
	return ""
}

// warn warns of a pattern of produces with a wildcard for a directory, where a value could name
// it: the file of an earlier run would do.
func (v *valueProof) warn(w mention) {
	i := slices.IndexFunc(v.known, func(name string) bool { return v.isVar(name) || v.unset(w.entry, name, whenCompleted) == "" })
	if i >= 0 {
		v.p.noteMention(&v.p.warnings, w,
			"%s: %s has a wildcard for a directory, so a file of an earlier run is enough: name the directory by a value, such as {%s}",
			w.field, quoted(w.name), v.known[i])
	}
}

// wildcard keeps a pattern of produces with a wildcard for a directory, for valueProof.warn.
func (p *parser) wildcard(field, text string, t token) {
	dir := text[:strings.LastIndex(text, "/")+1]
	if p.version == WithOutcomes && p.current != nil && pattern.IsPattern(dir) && strings.HasSuffix(field, "produces") &&
		len(p.wildcards) < maxUses {
		p.wildcards = append(p.wildcards, mention{p.current, text, field, t.start, string(p.decoder.StackPointer()), whenCompleted, inPath})
	}
}

func (p *parser) noteMention(r *report, m mention, format string, args ...any) {
	p.noteAt(r, m.entry, m.at, m.pointer, format, args...)
}

func (p *parser) noteAt(r *report, e *entry, at int, pointer, format string, args ...any) {
	r.note(at, e, keepsMeaning, func() (string, string) { return pointer, fmt.Sprintf(format, args...) })
}

// withinType is a time limit.
type withinType struct{}

func (withinType) read(p *parser, e *entry, name string, t token) {
	p.hasValues = true
	e.task.Within = p.duration(name, t, limits{`"30m" or "2h"`, MaxWithin, 0})
}
