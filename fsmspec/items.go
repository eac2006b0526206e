package fsmspec

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Limits of the lines of a step with Each.
const (
	// MaxItems is the largest number of lines for which a step is done.
	MaxItems = 100
	// MaxItemLength is the largest length of a line, in characters.
	MaxItemLength = 200
)

// ItemError is returned by [Items] for a text with a line that cannot be an item.
type ItemError struct {
	Line int    // from 1
	Why  string // what is wrong with the line, such as "has 204 characters, and at most 200 are allowed"
}

// Error returns, for example, "line 3 has 204 characters, and at most 200 are allowed".
func (e *ItemError) Error() string { return fmt.Sprintf("line %d %s", e.Line, e.Why) }

// Items returns the lines of a text for which a step with Each is done: without white space at
// their ends, without those that are blank, and each once, in the order of the text.
//
// Errors: *ItemError for the first line that is too long, has control characters other than
// tabs or is not UTF-8, or that is one too many.
func Items(text []byte) (items []string, err error) {
	n := 0
	for raw := range bytes.Lines(bytes.TrimPrefix(text, []byte("\uFEFF"))) {
		n++
		line := strings.TrimSpace(string(raw))
		switch length := utf8.RuneCountInString(line); {
		case line == "" || slices.Contains(items, line):
			continue
		case !utf8.ValidString(line):
			return nil, &ItemError{n, "is not valid UTF-8"}
		case length > MaxItemLength:
			return nil, &ItemError{n, fmt.Sprintf("has %d characters, and at most %d are allowed: %s", length, MaxItemLength, quoted(line))}
		case strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }):
			return nil, &ItemError{n, "has control characters: " + message.Line(short(line))}
		case len(items) == MaxItems:
			return nil, &ItemError{n, fmt.Sprintf("is one too many: at most %d lines are allowed, not counting blank and repeated ones", MaxItems)}
		}
		items = append(items, line)
	}
	return items, nil
}

// itemName stands for the line in the texts of what is done for it.
const itemName = "{" + Item + "}"

// replaceItem returns a text with the line in the place of its name.
func replaceItem(text, item string) string {
	return strings.ReplaceAll(text, itemName, Literal(item))
}

// SubjectOf returns the subject of a step of what is done for each line, as the file has it, with {item}; empty if it has no such step.
func (e *Each) SubjectOf(id int64) string {
	var file struct {
		Steps []struct {
			ID      int64  `json:"id"`
			Subject string `json:"subject"`
		} `json:"steps"`
	}
	_ = json.Unmarshal([]byte(e.Workflow), &file) // the file was read when the steps were begun
	for _, s := range file.Steps {
		if s.ID == id {
			return s.Subject
		}
	}
	return ""
}

// ForItem returns what is done for one line of a step with Each, whose workflow is that of
// [Each]. The line replaces {item} in subjects, descriptions, active forms, questions and
// paths, where wildcards in it are literal. Behind a subject without {item} it stands after a
// colon. {item} of a step that has lines of its own is left to them: the line stands behind its
// subject, too.
//
// The error is an *InvalidError, for example if the line leads out of the project in a path.
func ForItem(workflow, item string) (*Spec, error) { return forItem(workflow, item, partOfFile) }

// ReadItem is ForItem for a line with which it was called before; see [Read].
func ReadItem(workflow, item string) (*Spec, error) { return forItem(workflow, item, provenFile) }

func forItem(workflow, item string, prove extent) (*Spec, error) {
	var file []byte
	for p := range jsonx.Parts([]byte(workflow)) {
		if p.Name == "steps" {
			file = fmt.Appendf(nil, `{"fsm":%d,"steps":%s}`, WithOutcomes, eachElement(p.Value,
				func(step jsontext.Value) []byte { return stepForItem(step, item) }))
		}
	}
	return parse("", file, prove)
}

func stepForItem(step jsontext.Value, item string) []byte {
	var hasEach, hasParts bool
	for p := range jsonx.Parts(step) {
		hasEach = hasEach || p.Name == "each" && p.Value.Kind() == '{'
		hasParts = hasParts || p.Name == "do" && p.Value.Kind() == '['
	}
	return eachMember(step, func(name string, value jsontext.Value) []byte {
		kind := value.Kind()
		switch {
		case name == "subject" && kind == '"' && (hasEach && !hasParts || !strings.Contains(textOf(value), itemName)):
			return appendQuoted(nil, textOf(value)+": "+Literal(item))
		case name == "each" && kind == '{':
			return pathsIn(value, item)
		case hasEach && !hasParts: // the texts are those of its own lines
			return value
		case name == "do" && kind == '[' && !hasEach:
			return eachElement(value, func(part jsontext.Value) []byte { return stepForItem(part, item) })
		case slices.Contains([]string{"subject", "description", "activeForm", "approval"}, name) && kind == '"':
			return withItem(value, item)
		case HasPatterns(name) && kind == '[':
			return pathsForItem(value, item)
		case slices.Contains([]string{"check", "decides"}, name) && kind == '{':
			return pathsIn(value, item)
		case name == "set" && kind == '{':
			return eachMember(value, func(_ string, want jsontext.Value) []byte { return pathsIn(want, item) })
		case name == "outcomes" && kind == '{':
			return eachMember(value, func(_ string, effects jsontext.Value) []byte { return effectsForItem(effects, item) })
		}
		return value
	})
}

func effectsForItem(effects jsontext.Value, item string) []byte {
	if effects.Kind() != '{' {
		return effects
	}
	return eachMember(effects, func(name string, value jsontext.Value) []byte {
		switch {
		case name == "produces" && value.Kind() == '[':
			return pathsForItem(value, item)
		case name == "approval" && value.Kind() == '"':
			return withItem(value, item)
		case name == "check":
			return pathsIn(value, item)
		}
		return value
	})
}

// pathsIn returns a command, or the source of lines, with the line in its directory or file.
func pathsIn(object jsontext.Value, item string) []byte {
	if object.Kind() != '{' {
		return object
	}
	return eachMember(object, func(name string, value jsontext.Value) []byte {
		if (name == "dir" || name == "lines") && value.Kind() == '"' {
			return withItem(value, item)
		}
		return value
	})
}

// pathsForItem returns an array of patterns with the line in them, in which it stands for itself.
func pathsForItem(patterns jsontext.Value, item string) []byte {
	literal := pattern.Literal(item)
	return eachElement(patterns, func(v jsontext.Value) []byte { return withItem(v, literal) })
}

func withItem(text jsontext.Value, item string) []byte {
	return appendQuoted(nil, replaceItem(textOf(text), item))
}

func textOf(text jsontext.Value) string {
	decoded, _ := jsontext.AppendUnquote(nil, text)
	return string(decoded)
}

// eachMember returns a valid object with the values that change returns, without the members for which that is nil.
func eachMember(object jsontext.Value, change func(name string, value jsontext.Value) []byte) []byte {
	text := []byte("{")
	for p := range jsonx.Parts(object) {
		value := change(p.Name, p.Value)
		if value == nil {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(appendQuoted(text, p.Name), ':'), value...)
	}
	return append(text, '}')
}

// eachElement returns a valid array with the elements that change returns.
func eachElement(array jsontext.Value, change func(jsontext.Value) []byte) []byte {
	text := []byte("[")
	for p := range jsonx.Parts(array) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, change(p.Value)...)
	}
	return append(text, ']')
}

// ItemPlan says what [PlanItems] plans: the copies of a step for its lines.
type ItemPlan struct {
	Command string  // the tag of the tasks
	Parent  int64   // actual id of the step
	After   []int64 // actual ids of the tasks that come before the copies
	InTurn  bool    // a copy comes after the one before it
	Copies  []*Spec // see ForItem

	Values map[string]string // of the workflow of the step, for the texts
}

// PlanItems returns the tasks to create for the lines of a step: the copies one after the
// other, with numbers above every one that the list has ever had. The levels of the plan that
// have the step as their Parent are the copies, in the order of the lines.
//
// Errors: ErrIDTooLarge.
func PlanItems(what ItemPlan, list Snapshot) (*Plan, error) {
	base, top := max(list.MaxID, list.HighWater), int64(0)
	for _, s := range what.Copies {
		top += s.steps.numbers()
	}
	if top > MaxID-base {
		return nil, fmt.Errorf("%w, and new ids follow the largest one in the task list: %s", ErrIDTooLarge, list.lower(MaxID-top))
	}
	plan := &Plan{oldHighWater: list.HighWater, highWater: list.HighWater, base: base}
	values := map[string]string{Round: "1"}
	maps.Copy(values, what.Values)
	plan.create(what.Levels(base), what.Command, values)
	return plan, nil
}

// Levels returns the tasks of the copies with numbers of the list, which follow base.
func (what ItemPlan) Levels(base int64) (all []Level) {
	var before []int64
	for _, s := range what.Copies {
		at := Level{Parent: what.Parent, base: base, after: what.After, InTurn: before, item: true}
		if len(before) > 0 {
			at.after = before
		}
		all = s.steps.place(all, at)
		if what.InTurn {
			before = numbersOf(base, s.steps.last())
		}
		base += s.steps.numbers()
	}
	return all
}

// PlanRemoval returns a plan that deletes these tasks of the list.
func PlanRemoval(tasks []Existing, list Snapshot) *Plan {
	plan := &Plan{oldHighWater: list.HighWater, highWater: list.HighWater}
	plan.deletions = append(plan.deletions, tasks...)
	plan.raiseHighWater(list.MaxID)
	return plan
}
