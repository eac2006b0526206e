// Package outline finds the steps that a Markdown text describes, such as a plan or the body of a SKILL.md, so that an author
// who has written them for an agent need not write them again.
//
// It reads the tree of the text (tree.go), collects every form that steps can have: task lists, numbered headings, an ordered
// list, a graph (forms.go, graph.go), and takes one of them, as a whole, or none (choose). A text in which two forms have equal
// right, or that may be an example, has no steps until a person says which form it is: steps that are missing are noticed, but
// wrong ones are followed. The package reads no files.
package outline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
)

// Step is a task of an fsm.json.
type Step struct {
	ID          int64          `json:"id"`
	Subject     string         `json:"subject"`
	Description string         `json:"description,omitzero"`
	ActiveForm  string         `json:"activeForm,omitzero"`
	Status      string         `json:"status,omitzero"`
	BlockedBy   []int64        `json:"blockedBy,omitzero"`
	When        jsontext.Value `json:"when,omitzero"`
	Outcomes    jsontext.Value `json:"outcomes,omitzero"`
	Do          []Step         `json:"do,omitzero"`

	Line int `json:"-"` // where the text has the step, from 1; 0 if it is not from a text
}

// Outline is what a text says about its steps.
type Outline struct {
	Steps  []Step // in order; nil if there are none, or if it is not sure which they are
	What   string // what became the steps, such as "a task list"
	Unsure string // why there are no steps although there are candidates; "" if there are steps, or nothing that could be
	Tied   []Left // the candidates
	Left   []Left // what did not become steps, in the order of the text
	Hints  []Hint // what the text says about the steps and an author may want to add

	every []sentence // of the text
}

// Left is a part of the text that is not in any step.
type Left struct {
	Line int    `json:"line"` // from 1
	What string `json:"what"`
	Why  string `json:"why"`  // "" for a section that has no steps
	Form string `json:"form"` // by which it can be asked for, or ""
}

func (l Left) String() string {
	if l.Why == "" {
		return l.What
	}
	return l.What + ": " + l.Why
}

// JSON returns the steps as an fsm.json, with members added to the steps of these ids.
func JSON(steps []Step, gates map[int64][]string) []byte {
	var entries []string
	object := false
	for _, s := range steps {
		object = object || s.Do != nil || s.When != nil || s.Outcomes != nil ||
			slices.ContainsFunc(gates[s.ID], func(gate string) bool { return strings.HasPrefix(gate, `"outcomes"`) })
	}
	for _, s := range steps {
		if object {
			s = s.literal()
		}
		// A Step has no value that JSON cannot represent, so there is no error.
		added := slices.Clone(gates[s.ID])
		for i, gate := range added {
			if object && strings.HasPrefix(gate, `"approval"`) {
				added[i] = fsmspec.Literal(gate)
			}
		}
		text, _ := json.Marshal(s, jsontext.AllowInvalidUTF8(true))
		entry := strings.Join(append([]string{strings.TrimSuffix(string(text), "}")}, added...), ", ") + "}"
		entries = append(entries, entry)
	}
	list := "[" + strings.Join(entries, ", ") + "]"
	if object {
		list = fmt.Sprintf(`{"fsm": %d, "steps": %s}`, fsmspec.WithOutcomes, list)
	}
	return []byte(list)
}

// literal returns the step with texts in which {name} stands for itself, and not for a value.
func (s Step) literal() Step {
	s.Subject, s.Description, s.ActiveForm = fsmspec.Literal(s.Subject), fsmspec.Literal(s.Description), fsmspec.Literal(s.ActiveForm)
	s.Do = slices.Clone(s.Do)
	for i, part := range s.Do {
		s.Do[i] = part.literal()
	}
	return s
}

// lineOf returns the line of the step to which a pointer into its fsm.json leads.
func lineOf(steps []Step, pointer string) (line int) {
	for name := range strings.SplitSeq(pointer, "/") {
		if i, err := strconv.Atoi(name); err == nil && i < len(steps) {
			line, steps = steps[i].Line, steps[i].Do
		}
	}
	return line
}

// Markdown returns the steps in a text. form is "", the name of a form, or a form and the line where it begins, such as list:12:
// then a person has decided. Of what else may be asked for, each form is one that has steps.
func Markdown(text []byte, form string) Outline {
	d := read(text)
	if d.list.Unread {
		return Outline{Unsure: checklist.Told(d.list.Faults)}
	}
	o, best := d.outline(form)
	for _, others := range [][]Left{o.Tied, o.Left} {
		for i, l := range others {
			if other, _ := d.outline(l.Form); l.Form != "" && len(other.Steps) == 0 {
				others[i].Form = ""
			}
		}
	}
	if len(o.Steps) == 0 {
		return o
	}
	o.every = d.sentences()
	hints, took := d.hints(o.Steps, best, o.every)
	isTold := func(l Left) bool {
		return l.Why == "" && slices.ContainsFunc(took, func(other Left) bool { return other.Line == l.Line })
	}
	o.Hints, o.Left = hints, append(took, slices.DeleteFunc(o.Left, isTold)...)
	return o
}

// outline returns the steps without hints, and the candidate that they are from.
func (d *document) outline(form string) (o Outline, best *candidate) {
	all := d.candidates()
	best, tied, why := d.choose(all, form)
	if best == nil {
		o = Outline{Unsure: cmp.Or(why, checklist.Told(d.list.Faults)), Tied: asChoices(tied)}
		if unread := d.unread(); o.Unsure == "" && len(unread) > 0 {
			o.Unsure, o.Tied = notRead, unread
		}
		return o, nil
	}
	taken := slices.DeleteFunc(slices.Clone(d.list.Boxes), func(b checklist.Box) bool { return !best.has(b.Line) })
	lost := ""
	if lines := d.untaken(best, all); len(lines) > 0 && best.boxes == nil {
		lost = fmt.Sprintf("%d of its %d boxes would be no steps (%s)", len(lines), len(d.list.Boxes), checklist.Named(lines))
	}
	wrong := d.list.Wrong(taken, form != "" && form != Tasks)
	if best.form != Tasks && lost == "" { // what else may be a box is in the text of a step, or in no step
		wrong = slices.DeleteFunc(wrong, func(f checklist.Fault) bool { return !best.has(f.Line) })
	}
	if (form == "" || best.boxes != nil) && (lost != "" || len(wrong) > 0) {
		o := Outline{Unsure: cmp.Or(lost, checklist.Told(wrong)), Tied: asChoices([]*candidate{best})}
		if lost != "" {
			o.Tied = append(asChoices([]*candidate{d.taskList(d.list.Boxes)}), o.Tied...)
		}
		return o, nil
	}
	if o = d.stepsOf(best); o.Unsure != "" {
		return o, nil
	}
	o.Left = append(d.leftOut(best, all), d.boxesBeside(best, lost, wrong)...)
	for _, l := range d.unread() {
		isTold := func(other Left) bool { return other.Line == l.Line && other.Why != "" }
		if at, _ := best.markAt(l.Line - 1); at < 0 && best.form != formGraph && !slices.ContainsFunc(o.Left, isTold) {
			o.Left = append(o.Left, l)
		}
	}
	slices.SortStableFunc(o.Left, func(a, b Left) int { return a.Line - b.Line })
	return o, best
}

// stepsOf returns the steps of a candidate, or why they are not valid. Boxes that are not valid as parts of one another are steps one after
// another.
func (d *document) stepsOf(c *candidate) Outline {
	o, why := Outline{What: c.what, Steps: c.graph}, c.doubt
	if c.form != formGraph { // never a chain of its nodes
		o.Steps, why = d.steps(c.marks)
	} else if c.graph != nil {
		why = ""
	}
	if o = valid(o, c); why != "" {
		o = unsure(why, c)
	}
	if o.Unsure != "" && c.boxes != nil {
		return valid(Outline{What: c.what, Steps: Plan(string(d.source), d.list, c.boxes)}, c)
	}
	return o
}

// valid returns an outline, or one that is not sure if its steps are not valid.
func valid(o Outline, from *candidate) Outline {
	_, err := fsmspec.Parse(JSON(o.Steps, nil))
	if e, ok := errors.AsType[*fsmspec.InvalidError](err); ok && len(o.Steps) <= fsmspec.MaxTasks {
		return unsure(fmt.Sprintf("line %d: %s", lineOf(o.Steps, e.Problems[0].Pointer), e.Problems[0].Message), from)
	}
	if len(o.Steps) > fsmspec.MaxTasks {
		return unsure(fmt.Sprintf("it has %d steps, and a workflow has at most %d", len(o.Steps), fsmspec.MaxTasks), from)
	}
	return o
}

// unsure returns an outline without steps. To ask for the candidates is of no use.
func unsure(why string, from *candidate) Outline {
	tied := asChoices([]*candidate{from})
	tied[0].Form = ""
	return Outline{Unsure: why, Tied: tied}
}

// textIn joins lines, without their ends, their common indentation and the blank lines around them.
func textIn(lines []string) string {
	var all []string
	for _, line := range lines {
		all = append(all, strings.TrimRight(strings.ToValidUTF8(line, "\uFFFD"), "\r\n"))
	}
	return paragraph(all)
}
