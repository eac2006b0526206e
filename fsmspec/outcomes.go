package fsmspec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Limits of outcomes.
const (
	// MaxOutcomes is the largest number of outcomes of a step.
	MaxOutcomes = 10
	// MaxTimes is the largest number of times that an outcome may lead back.
	MaxTimes = machine.MaxTimes
)

// Outcome is a way in which a step can end.
type Outcome struct {
	Name string `json:"name"`
	Back int64  `json:"back,omitempty"` // the step to which it leads back; 0 if it goes forward
	Max  int    `json:"max,omitempty"`  // how often it may lead back, 1 to MaxTimes
	Then string `json:"then,omitempty"` // the outcome that is taken when Max is spent; "" if there is none
	Stop bool   `json:"stop,omitempty"` // it ends the workflow

	// Its own gates; see Task.
	Produces []string `json:"produces,omitempty"`
	Check    *Check   `json:"check,omitempty"`
	Approval string   `json:"approval,omitempty"`
}

// Condition holds if a step ended in one of the outcomes.
type Condition = machine.Condition

// Decider says who decides in which outcome a step ends.
type Decider = machine.Decider

// The deciders.
const (
	ByAgent   = machine.Agent // the default
	ByPerson  = machine.Person
	ByCommand = machine.Command
)

// Commands returns the commands that completing the task may run: those that print its values,
// its check, those of its outcomes, and the one that decides, in this order.
func (t Task) Commands() (all []Check) {
	add := func(c *Check) {
		if c != nil {
			all = append(all, *c)
		}
	}
	for _, v := range t.Set {
		add(v.Command)
	}
	add(t.Check)
	for _, o := range t.Outcomes {
		add(o.Check)
	}
	add(t.Chooser)
	return all
}

// shown returns the description of the task in the list: that of the file, which skill it
// demands, for which lines it is done, how it can end, which values it sets, and which calls
// belong to it. level is what a stop ends. In the text of a file with values the
// names still have to be replaced; see Fill.
func (t Task) shown(level string) string {
	lines := slices.DeleteFunc([]string{t.Description, Literal(t.demands()), t.eachLine(), Literal(t.endsAs(level)),
		Literal(t.onlyHere())}, func(line string) bool { return line == "" })
	return strings.Join(lines, "\n")
}

// demands returns the line that tells the agent which skill it has to call, or "".
func (t Task) demands() string {
	if t.Skill == "" {
		return ""
	}
	return fmt.Sprintf("Call the skill %s %s", t.Skill, callFirst)
}

const callFirst = "while this step is in progress: it cannot be completed before."

// WithoutDemand returns the description of a step in the list without the line that says which
// skill it demands: that was called.
func WithoutDemand(description string) string { return withoutLine(description, callFirst) }

// WithoutEnds returns the description of a step in the list without the line that tells the agent how the step can end and what it sets:
// who draws a step shows that in another way.
func WithoutEnds(description string) string {
	lines := strings.Split(description, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, endsIn) || strings.Contains(line, completeWith+"{")
	}), "\n")
}

const endsIn, completeWith = "Ends as: ", "Complete it with metadata "

// endsAs returns the line that tells the agent how the step can end and what it sets, or ""
// if there is nothing to say.
func (t Task) endsAs(level string) string {
	var all, members []string
	ends, member := t.outcomesLine(level)
	sets, more := t.setsLine()
	if members = append(member, more...); len(members) > 0 {
		more = []string{completeWith + "{" + strings.Join(members, ", ") + "}."}
	}
	if t.Within > 0 {
		late := ""
		if slices.ContainsFunc(t.Outcomes, func(o Outcome) bool { return o.Name == machine.Late }) {
			late = ", then it ends as late"
		}
		more = append(more, "Time limit: "+Duration(t.Within)+" from its start"+late+".")
	}
	all = slices.DeleteFunc(append([]string{ends, sets}, more...), func(s string) bool { return s == "" })
	return strings.Join(all, " ")
}

// Duration writes a duration in the shortest way, such as 30m or 1h30m.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// setsLine returns the sentence that tells the agent which values it has to give, and the
// members of the metadata in which it gives them.
func (t Task) setsLine() (text string, members []string) {
	var all []string
	for _, v := range t.Set {
		if wants := v.Wants(); wants != "" {
			all = append(all, v.Name+" ("+wants+")")
			members = append(members, fmt.Sprintf(`%q: "…"`, v.Name))
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	return "Sets: " + strings.Join(all, ", ") + ".", members
}

// outcomesLine returns the sentences that tell the agent how the step can end, and the member
// PersonDecides is what the description of a step says of one that the person decides.
const PersonDecides = "The person decides how it ends: they are asked, with exactly these options."

// of the metadata in which it says so. level is what a stop ends.
func (t Task) outcomesLine(level string) (text string, member []string) {
	step := t.ForMachine()
	choices := step.Choices()
	if len(choices) < 2 {
		return "", nil
	}
	var all []string
	for _, name := range choices {
		switch o := t.OutcomeNamed(name); {
		case o == nil:
		case o.Back != 0:
			name += fmt.Sprintf(" (back to #%d, %s at most)", o.Back, message.Times(o.Max))
		case o.Stop:
			name += " (ends " + level + ")"
		}
		all = append(all, name)
	}
	text = endsIn + strings.Join(all, ", or ") + "."
	switch step.Decides {
	case ByPerson:
		return text + " " + PersonDecides, nil
	case ByCommand:
		return text + commandDecides, nil
	}
	return text, []string{fmt.Sprintf(`"outcome": %q`, choices[0])}
}

const commandDecides = " A command decides when you complete it."

// WithoutCommand returns the description of a step whose command is not run.
func WithoutCommand(text string) string {
	return strings.Replace(text, commandDecides, " Checks are off, so no command decides: only a person can end it.", 1)
}

// isOutcomeName reports whether text is a small letter and at most 30 small letters, digits
// and hyphens.
func isOutcomeName(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return text != "" && len(text) <= 31 && strings.Trim(text[:1], letters) == "" && strings.Trim(text, letters+"0123456789-") == ""
}

// outcomesType is an array of names, or an object of names and effects.
type outcomesType struct{}

func (outcomesType) read(p *parser, e *entry, name string, t token) {
	switch t.kind {
	case '[':
		for _, t := range p.elements {
			if t.kind != '"' {
				p.problem(t.start, "%s must hold names, not %s", name, p.describe(t))
				continue
			}
			p.outcome(e, name, t, Outcome{Name: p.text(t)}, true)
		}
	case '{':
		for key, value := range p.members {
			p.effects(e, name, key, value)
		}
	default:
		p.problem(t.start, `%s must be an array of names, or an object such as {"approved": {}, "changes": {"back": 1, "max": 3}}, not %s`,
			name, p.describe(t))
		return
	}
	if len(e.task.Outcomes) == 0 && !p.broken {
		p.problem(t.start, "%s is empty: leave it out, or name the ways in which the step can end", name)
	}
}

// outcome adds an outcome, whose name is at t.
func (p *parser) outcome(e *entry, field string, t token, o Outcome, inArray bool) {
	all := &e.task.Outcomes
	switch {
	case !isOutcomeName(o.Name):
		p.problem(t.start, "%s: %s is not a name for an outcome: use a lower-case letter, then up to 30 lower-case letters, digits and hyphens",
			field, quoted(o.Name))
	case slices.ContainsFunc(*all, func(x Outcome) bool { return x.Name == o.Name }):
		if inArray {
			p.problem(t.start, "%s lists %s more than once", field, quoted(o.Name)) // in an object it is a duplicate key
		}
	case len(*all) == MaxOutcomes:
		p.problem(t.start, "%s may have at most %d names", field, MaxOutcomes)
	case len(*all) > MaxOutcomes:
		return
	}
	e.mark(t.start, "outcomes", o.Name)
	*all = append(*all, o)
}

var effectNames = []string{"back", "max", "then", "stop", "produces", "check", "approval"}

// effects reads one member of outcomes.
func (p *parser) effects(e *entry, field string, key, value token) {
	o := Outcome{Name: p.text(key)}
	full := field + "." + o.Name
	switch value.kind {
	case '{':
		for member, v := range p.members {
			p.effect(e, &o, full, member, v)
		}
	case 'n':
	default:
		hint := ""
		if value.kind == '"' && effectMeant(p.text(value)) == "stop" {
			hint = ` (write {"stop": true})`
		}
		p.problem(value.start, "%s must be an object, {} if it has no effects, not %s%s", full, p.describe(value), hint)
	}
	p.outcome(e, field, key, o, false)
}

func (p *parser) effect(e *entry, o *Outcome, full string, key, value token) {
	name := p.text(key)
	e.mark(key.start, "outcomes", o.Name, name)
	full += "." + name
	switch {
	case slices.Contains([]string{"next", "nextstep", "transition", "continue", "proceed"}, fold(cut(name))):
		p.problem(key.start, `unknown field %s: an outcome does not name what comes next: the step that does says "when": {%q: %q}`,
			quoted(full), fmt.Sprint(e.task.ID), o.Name)
	case !slices.Contains(effectNames, name):
		p.problem(key.start, "unknown field %s: an outcome has %s%s", quoted(full), strings.Join(effectNames, ", "),
			didYouMean(effectMeant(name)))
	case value.kind == 'n':
	case name == "back":
		o.Back = p.id(value, full, "must be the id of this step or of one before it")
	case name == "max":
		o.Max = p.times(full, value)
	case name == "then":
		o.Then = p.word(full, value)
	case name == "stop":
		if o.Stop = value.kind == 't'; !o.Stop {
			p.problem(value.start, "%s must be true, not %s: leave it out if the workflow goes on", full, p.describe(value))
		}
	case name == "produces":
		p.patterns(&o.Produces, full, value)
	case name == "check":
		o.Check = p.gateCheck(full, value)
	case name == "approval":
		if p.approval(full, value, &o.Approval) {
			o.Approval = askAboutOutcome
		}
	}
}

// askAboutOutcome stands for the question of an outcome whose approval is true, until the
// subject of the step is known.
const askAboutOutcome = "\x00"

// effectMeant returns the member of an outcome that an unknown one probably means, or "".
func effectMeant(name string) string {
	switch fold(cut(name)) {
	case "goto", "to", "loop", "loopback", "reopen", "retry", "returnto", "step", "target":
		return "back"
	case "atmost", "attempts", "count", "limit", "maxattempts", "maxtimes", "retries", "times":
		return "max"
	case "after", "else", "exhausted", "fallback", "finally", "otherwise", "spent":
		return "then"
	case "abort", "end", "ends", "exit", "final", "finish", "terminal":
		return "stop"
	}
	if meant := fieldMeant(name); slices.Contains(effectNames, meant) {
		return meant
	}
	return near(name, effectNames)
}

// times returns the number t, which is at most MaxTimes if it is valid, and 0 if it is not.
func (p *parser) times(name string, t token) int {
	n := int64(0)
	if t.kind == '0' {
		n = integer(p.raw(t))
	}
	if n < 1 || n > MaxTimes {
		p.problem(t.start, "%s must be a number from 1 to %d, not %s", name, MaxTimes, p.describe(t))
		return 1
	}
	return int(n)
}

// word returns the string t.
func (p *parser) word(name string, t token) string {
	if t.kind != '"' {
		p.problem(t.start, "%s must be the name of an outcome, not %s", name, p.describe(t))
		return ""
	}
	return p.text(t)
}

// decidesType is who decides: a word, or an object with a command.
type decidesType struct{}

func (decidesType) read(p *parser, e *entry, name string, t token) {
	f := &e.task
	switch t.kind {
	case '{':
		f.Decides, f.Chooser = ByCommand, p.newCheck()
		p.checkObject(name, t, f.Chooser, checkFields)
	case '"':
		switch word := p.text(t); word {
		case ByAgent.String():
		case ByPerson.String():
			f.Decides = ByPerson
		default:
			hint := didYouMean(deciderMeant(word))
			if fold(cut(word)) == "command" {
				hint = ` (write {"run": …})`
			} else if strings.ContainsAny(word, " /") {
				hint = fmt.Sprintf(` (write {"run": %s})`, quoted(word))
			}
			p.problem(t.start, `%s must be "agent", "person", or an object with the command that decides, not %s%s`, name, p.describe(t), hint)
		}
	default:
		p.problem(t.start, `%s must be "agent", "person", or an object such as {"run": "scripts/kind"}, not %s`, name, p.describe(t))
	}
}

func deciderMeant(word string) string {
	switch fold(cut(word)) {
	case "human", "me", "owner", "user", "you":
		return ByPerson.String()
	case "ai", "assistant", "llm", "model":
		return ByAgent.String()
	}
	return near(word, []string{ByAgent.String(), ByPerson.String()})
}

// whenType is an object of ids and outcomes.
type whenType struct{}

func (whenType) read(p *parser, e *entry, name string, t token) {
	if t.kind != '{' {
		p.problem(t.start, `%s must be an object such as {"2": "major"}, not %s`, name, p.describe(t))
		return
	}
	empty := true
	for key, value := range p.members {
		empty = false
		id, err := strconv.ParseInt(p.text(key), 10, 64)
		if err != nil || id < 1 || id > MaxLocalID || strconv.FormatInt(id, 10) != p.text(key) {
			p.problem(key.start, "%s must have ids of steps as keys, not %s", name, quoted(p.text(key)))
			continue
		}
		e.mark(key.start, "when", p.text(key))
		e.when = append(e.when, reference{id, key.start, name, e, -1})
		c := Condition{Step: id}
		switch value.kind {
		case '"':
			e.mark(value.start, "when", p.text(key), "0")
			c.Outcomes = append(c.Outcomes, p.text(value))
		case '[':
			for i, t := range p.elements {
				e.mark(t.start, "when", p.text(key), strconv.Itoa(i))
				c.Outcomes = append(c.Outcomes, p.word(fmt.Sprintf("%s.%d", name, id), t))
			}
			if len(c.Outcomes) == 0 && !p.broken {
				p.problem(value.start, "%s.%d is empty: name the outcomes of step %d for which this step is needed", name, id, id)
			}
		default:
			p.problem(value.start, "%s.%d must be an outcome of step %d, or an array of outcomes, not %s", name, id, id, p.describe(value))
		}
		e.task.When = append(e.task.When, c)
	}
	if empty && !p.broken {
		p.problem(t.start, `%s is empty: leave it out, or write {"2": "major"}`, name)
	}
}
