package fsmspec

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// maxInLine is how much of a value stands in a subject or another line, in characters.
const maxInLine = 200

// Fill returns a text in which each {name} is replaced by the value of that name. A name
// without a value stays as it is, and {{name}} becomes {name}. What looks like a name in a
// value is not replaced.
func Fill(text string, values map[string]string) string {
	return fill(text, func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	})
}

// FillLine is Fill for a text of one line: white space in values becomes single spaces, other
// invisible characters are escaped, and long values are cut.
func FillLine(text string, values map[string]string) string {
	return fill(text, func(name string) (string, bool) {
		value, ok := values[name]
		return message.Clip(message.Line(strings.Join(strings.Fields(value), " ")), maxInLine), ok
	})
}

func fill(text string, valueOf func(name string) (string, bool)) string {
	if !strings.Contains(text, "{") {
		return text
	}
	var b strings.Builder
	for _, p := range parts(text) {
		value, known := "", false
		if p.name != "" && !p.literal {
			value, known = valueOf(p.name)
		}
		switch {
		case known:
			b.WriteString(value)
		case p.literal:
			b.WriteString("{" + p.name + "}")
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// Named returns the names that stand in a text as {name}, each once.
func Named(text string) (names []string) {
	seen := map[string]bool{}
	for _, p := range parts(text) {
		if p.name != "" && !p.literal && !seen[p.name] {
			seen[p.name] = true
			names = append(names, p.name)
		}
	}
	return names
}

// PathError is returned for a path with a value that cannot be a part of it.
type PathError struct {
	Name  string // of the value
	Value string // empty if it is not known
	Fault string // why it cannot
}

func (e *PathError) Error() string {
	return fmt.Sprintf("{%s} stands in a path, and %s", e.Name, e.Fault)
}

// FillPattern is Fill for a pattern: a value is a part of one element of the path, and its
// wildcards stand for themselves.
//
// The error is a *PathError.
func FillPattern(text string, values map[string]string) (string, error) {
	return fillPath(text, values, pattern.Literal)
}

// FillPath is Fill for a path without wildcards: a value is a part of one element of it.
//
// The error is a *PathError.
func FillPath(path string, values map[string]string) (string, error) {
	return fillPath(path, values, func(value string) string { return value })
}

func fillPath(path string, values map[string]string, escape func(string) string) (string, error) {
	for _, name := range Named(path) {
		value, ok := values[name]
		if !ok {
			return "", &PathError{Name: name, Fault: "has no value yet"}
		}
		if fault := SegmentFault(value); fault != "" {
			return "", &PathError{name, value, fault}
		}
	}
	return fill(path, func(name string) (string, bool) { return escape(values[name]), true }), nil
}

// Filled returns the task with values in its texts and paths. A path with a value that cannot be in it stays as it is; wrong gets the
// errors, by the path.
func (t Task) Filled(values map[string]string, wrong map[string]error) Task {
	fill := func(text string, with func(string, map[string]string) (string, error)) string {
		filled, err := with(text, values)
		if err != nil {
			wrong[text] = err
			return text
		}
		return filled
	}
	patterns := func(all []string) []string {
		all = slices.Clone(all)
		for i := range all {
			all[i] = fill(all[i], FillPattern)
		}
		return all
	}
	command := func(c *Check) *Check {
		if c == nil || c.Dir == "" {
			return c
		}
		filled := *c
		filled.Dir = fill(c.Dir, FillPath)
		return &filled
	}
	t.Subject, t.Description, t.ActiveForm = FillLine(t.Subject, values), Fill(t.Description, values), FillLine(t.ActiveForm, values)
	t.Produces, t.Ready, t.Check, t.Approval = patterns(t.Produces), patterns(t.Ready), command(t.Check), Fill(t.Approval, values)
	t.Chooser = command(t.Chooser)
	if t.Each != nil {
		each := *t.Each
		each.Run = command(each.Run)
		if each.Lines != "" {
			each.Lines = fill(each.Lines, FillPath)
		}
		t.Each = &each
	}
	t.Set, t.Outcomes = slices.Clone(t.Set), slices.Clone(t.Outcomes)
	for i := range t.Set {
		t.Set[i].Command = command(t.Set[i].Command)
	}
	for i := range t.Outcomes {
		o := &t.Outcomes[i]
		o.Produces, o.Check, o.Approval = patterns(o.Produces), command(o.Check), Fill(o.Approval, values)
	}
	return t
}

// SegmentFault returns why a value cannot be an element of a path, or "".
func SegmentFault(value string) string {
	switch {
	case value == "":
		return "its value is empty"
	case value == "." || value == "..":
		return "its value is " + value + ", which is a directory"
	case strings.Contains(value, "/"):
		return "its value has a /, and it has to be one segment"
	case strings.ContainsFunc(value, unicode.IsControl):
		return "its value has control characters"
	}
	return ""
}

// Literal returns a text that [Fill] does not change except for undoing this: {name} becomes {{name}}.
func Literal(text string) string {
	var b strings.Builder
	for _, p := range parts(text) {
		if p.name != "" {
			p.text = "{" + p.text + "}"
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// part is a part of a text: {name}, {{name}}, or what is between these.
type part struct {
	text    string
	name    string // "" between names
	literal bool   // {{name}}, which stands for the text {name}
}

func parts(text string) (all []part) {
	begun := 0 // of the text that has not become a part
	for at := 0; at < len(text); {
		open := strings.IndexByte(text[at:], '{')
		if open < 0 {
			break
		}
		at += open
		p := placeholder(text[at:])
		if p.name == "" {
			at++
			continue
		}
		if begun < at {
			all = append(all, part{text: text[begun:at]})
		}
		all = append(all, p)
		at += len(p.text)
		begun = at
	}
	if begun < len(text) {
		all = append(all, part{text: text[begun:]})
	}
	return all
}

// placeholder returns the placeholder with which text begins, a part without a name if there
// is none.
func placeholder(text string) part {
	braces := 1
	if strings.HasPrefix(text, "{{") {
		braces = 2
	}
	end := strings.IndexByte(text[:min(len(text), maxValueName+braces+1)], '}')
	if end < 0 || !isValueName(text[braces:end]) || !strings.HasPrefix(text[end:], "}}"[:braces]) {
		return part{}
	}
	return part{text[:end+braces], text[braces:end], braces == 2}
}

// maxValueName is the longest name of a value, in bytes.
const maxValueName = 31

// isValueName reports whether text is a small letter and at most 30 small letters, digits and
// underscores.
func isValueName(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return text != "" && len(text) <= maxValueName
}

// Literals returns what stands between the names in a text, as Fill leaves it. There is one
// more than there are names.
func Literals(text string) []string {
	all := []string{""}
	for _, p := range parts(text) {
		switch {
		case p.literal:
			all[len(all)-1] += "{" + p.name + "}"
		case p.name != "":
			all = append(all, "")
		default:
			all[len(all)-1] += p.text
		}
	}
	return all
}
