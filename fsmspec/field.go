package fsmspec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// fields declares the fields of a task, and then the gates. Parse, the suggestions for
// misspelled fields and the schema are all derived from this table.
var fields = [...]field{
	{"id", required, idType{}},
	{"subject", required, textType{of: func(t *Task) *string { return &t.Subject }, visible: true, filled: true}},
	{"description", optional, textType{of: func(t *Task) *string { return &t.Description }, filled: true}},
	{"activeForm", optional, textType{of: func(t *Task) *string { return &t.ActiveForm }, filled: true}},
	{"owner", optional, textType{of: func(t *Task) *string { return &t.Owner }}},
	{"status", optional, statusType{}},
	{"blocks", optional, idsType{ids: func(t *Task) *[]int64 { return &t.Blocks },
		references: func(e *entry) *[]reference { return &e.blocks }}},
	{"blockedBy", optional, idsType{ids: func(t *Task) *[]int64 { return &t.BlockedBy },
		references: func(e *entry) *[]reference { return &e.blockedBy }}},
	{"metadata", optional, metadataType{}},
	{"produces", optional, patternsType{func(t *Task) *[]string { return &t.Produces }}},
	{"check", optional, checkType{}},
	{"approval", optional, approvalType{}},
	{"ready", optional, patternsType{func(t *Task) *[]string { return &t.Ready }}},
	{"outcomes", outcomesOnly, outcomesType{}},
	{"decides", outcomesOnly, decidesType{}},
	{"when", outcomesOnly, whenType{}},
	{"each", outcomesOnly, eachType{}},
	{"do", outcomesOnly, doType{}},
	{"only", outcomesOnly, onlyType{}},
	{"set", outcomesOnly, setType{}},
	{"within", outcomesOnly, withinType{}},
}

type field struct {
	name string
	use  use
	typ  fieldType
}

// use tells which tasks have a field.
type use int

const (
	optional     use = iota
	required         // each has it
	outcomesOnly     // optional, in a file of version WithOutcomes
)

// fieldType is how the value of a field is read from fsm.json and described in the
// schema.
type fieldType interface {
	// read stores the value that begins with t in e, or notes what is wrong with it.
	// It is not called for null.
	read(p *parser, e *entry, name string, t token)
	// schema returns the JSON types of the value, except null, and further members of its
	// schema, each preceded by a comma. See Schema.
	schema() (types []string, rules string)
}

// fieldIndex returns the index of the field with a name, -1 if there is none.
func fieldIndex(name string) int {
	return slices.IndexFunc(fields[:], func(f field) bool { return f.name == name })
}

// idType is a task's own id.
type idType struct{}

func (idType) read(p *parser, e *entry, name string, t token) {
	e.idAt = t.start
	e.task.ID = p.id(t, name, "must be a positive integer")
	e.task.Local = e.task.ID
}

// id parses token t as an id; name and must are for the message. If t is not a valid id, it
// notes a problem and returns 0.
func (p *parser) id(t token, name, must string) int64 {
	raw := p.raw(t)
	if t.kind != '0' {
		p.problem(t.start, "%s %s, not %s%s", name, must, p.describe(t), unquoteHint(raw))
		return 0
	}
	n := integer(raw)
	if n < 1 {
		p.problem(t.start, "%s %s, not %s", name, must, short(raw))
		return 0
	}
	if n > MaxLocalID {
		p.problem(t.start, "%s %s, at most %d, not %s", name, must, MaxLocalID, short(raw))
		return 0
	}
	return n
}

// unquoteHint returns a hint if raw is a string that would be an id without its quotes.
func unquoteHint(raw string) string {
	digits := strings.Trim(raw, `"`)
	n := integer(digits)
	if strings.Trim(digits, "0123456789") != "" || n < 1 || n > MaxLocalID {
		return ""
	}
	return fmt.Sprintf(" (write %d without the quotes)", n)
}

// integer returns the value of a JSON number, or 0 if it is not a whole number: 1.0 and 10e-1 are 1. One that an int64
// cannot hold is returned as ±math.MaxInt64.
func integer(raw string) int64 {
	n, _ := strconv.ParseFloat(raw, 64) // an infinite one if it is too large
	switch {
	case n != math.Trunc(n):
		return 0
	case n >= math.MaxInt64:
		return math.MaxInt64
	case n <= math.MinInt64:
		return -math.MaxInt64
	}
	return int64(n)
}

// textType is a string.
type textType struct {
	of      func(*Task) *string
	visible bool // whether a blank text is an error
	filled  bool // whether it may have the names of values
}

func (x textType) read(p *parser, e *entry, name string, t token) {
	if t.kind != '"' {
		p.problem(t.start, "%s must be a string, not %s", name, p.describe(t))
		return
	}
	text := p.text(t)
	if x.visible && isBlank(text) {
		p.problem(t.start, "%s is blank", name)
	} else if x.visible {
		p.warnSubject(t, name, text)
	}
	*x.of(&e.task) = text
	if x.filled {
		p.uses(name, text, t, whenStarted, inText)
	}
}

// isBlank reports whether text has only spaces and characters that are not shown.
func isBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf)
	})
}

// statusType is one of the words for a Status.
type statusType struct{}

func (statusType) read(p *parser, e *entry, name string, t token) {
	if t.kind != '"' {
		p.problem(t.start, "%s must be a string, not %s", name, p.describe(t))
		return
	}
	e.statusAt = t.start
	word := p.text(t)
	if err := e.task.Status.UnmarshalText([]byte(word)); err != nil {
		p.problem(t.start, "%s must be %s, not %s%s", name, statusWords, quoted(word), didYouMean(statusMeant(word)))
	}
}

// idsType is an array of ids of the file.
type idsType struct {
	ids        func(*Task) *[]int64
	references func(*entry) *[]reference
}

func (x idsType) read(p *parser, e *entry, name string, t token) {
	if t.kind != '[' {
		hint := ""
		if t.kind == '0' {
			hint = " (put it in brackets)"
		}
		p.problem(t.start, "%s must be an array of ids, not %s%s", name, p.describe(t), hint)
		return
	}
	ids, references := x.ids(&e.task), x.references(e)
	for i, t := range p.elements {
		if t.kind == '"' && len(p.problems.findings) < MaxProblems {
			e.subjects = append(e.subjects, subjectForID{p.text(t), t.start})
		}
		if id := p.id(t, name, "must hold ids, which are positive integers"); id > 0 {
			*ids = append(*ids, id)
			*references = append(*references, reference{id, t.start, name, e, i})
		}
	}
}

// metadataType is an object with any members. A plan adds the tag to it.
type metadataType struct{}

// Tag is the key of metadata that marks a task as created by a plan. Its value is the name of
// the command.
const Tag = "fsm"

func (metadataType) read(p *parser, e *entry, name string, t token) {
	if t.kind != '{' {
		p.problem(t.start, "%s must be an object, not %s", name, p.describe(t))
		return
	}
	var kept []byte
	for key, value := range p.members {
		if p.text(key) == Tag {
			p.warn(key.start, "%s.%s is overwritten with the name of the command", name, Tag)
			continue
		}
		p.skip(value)
		kept = append(append(kept, p.data[key.start:p.end]...), ',')
	}
	e.task.Metadata = string(p.data[t.start:p.end])
	e.members = string(kept)
}

// appendQuoted appends text as a JSON string. AppendQuote returns an error only for invalid
// UTF-8, which Parse refuses and Plan replaces.
func appendQuoted(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}
