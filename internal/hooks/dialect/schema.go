package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/spelling"
)

// Schema is what an agent accepts as an output. One field of another type makes it
// discard the whole output. Unknown fields are ignored. The zero value accepts
// everything.
type Schema struct {
	Closed   bool                       // an unknown field discards the output too
	AnyEvent bool                       // hookSpecificOutput may name another event
	Fields   map[string]Kind            // of the output
	Specific map[string]map[string]Kind // of hookSpecificOutput, by the event that it names
}

// Kind is the type of a field.
type Kind struct {
	Type  byte     // as jsontext.Kind: '"' a string, 't' a boolean, '{' an object, '[' an array of strings, '*' anything
	OneOf []string // the strings that are allowed, all if there are none
}

// Knows reports whether a field of the output means something.
func (s Schema) Knows(name string) bool {
	_, known := s.Fields[name]
	return known || s.Fields == nil
}

// KnowsInside reports whether a field of hookSpecificOutput means something at an event.
func (s Schema) KnowsInside(e Event, name string) bool {
	fields, listed := s.Specific[e.Name]
	_, known := fields[name]
	return known || !listed
}

// Violation is why the agent discards an output, "" if it does not.
func (s Schema) Violation(said Output) string {
	if s.Fields == nil {
		return ""
	}
	if why := violation("", s.Fields, said.Object); why != "" {
		return why
	}
	for name := range said.All() {
		if _, known := s.Fields[name]; s.Closed && !known {
			return fmt.Sprintf("its %q is not a field", name)
		}
	}
	if said.Get("hookSpecificOutput") == nil {
		return ""
	}
	specific := said.Specific()
	fields, known := s.Specific[specific.Text("hookEventName")]
	switch {
	case !specific.Has("hookEventName"):
		return "its hookSpecificOutput has no hookEventName"
	case !known:
		return fmt.Sprintf("its hookSpecificOutput names the event %s", shown(specific.Get("hookEventName")))
	}
	return violation("hookSpecificOutput.", fields, specific)
}

func violation(prefix string, fields map[string]Kind, o js.Object) string {
	for name, value := range o.All() {
		kind, known := fields[name]
		if why := kind.violation(value); known && why != "" {
			return fmt.Sprintf("its %s%s: %s", prefix, name, why)
		}
	}
	return ""
}

func (k Kind) violation(value jsontext.Value) string {
	got := value.Kind()
	if got == 'f' {
		got = 't'
	}
	text, _ := js.String(value)
	items, _ := js.Array(value)
	switch {
	case k.Type == '*':
		return ""
	case byte(got) != k.Type:
		return jsonx.Got(value.Kind(), k.String())
	case len(k.OneOf) > 0 && !slices.Contains(k.OneOf, text):
		return fmt.Sprintf("got %s, want %s", shown(value), k)
	case slices.ContainsFunc(items, func(item jsontext.Value) bool { return item.Kind() != '"' }):
		return "one of its elements is not a string"
	}
	return ""
}

func (k Kind) String() string {
	switch {
	case len(k.OneOf) > 0:
		return strings.Join(k.OneOf, " or ")
	case k.Type == 't':
		return "true or false"
	case k.Type == '{':
		return "an object"
	case k.Type == '[':
		return "an array of strings"
	}
	return "a string"
}

// Meant returns what the author of an output probably meant by fields that the agent
// does not know: misspelt names, and fields that are in the wrong place.
func (s Schema) Meant(e Event, said Output) []string {
	if s.Fields == nil {
		return nil
	}
	specific := s.Specific[e.Name]
	var meant []string
	for name := range said.All() {
		_, known := s.Fields[name]
		_, inside := specific[name]
		switch {
		case known || name == "hookSpecificOutput":
		case inside:
			meant = append(meant, fmt.Sprintf("%q counts only inside hookSpecificOutput, beside \"hookEventName\": %q", name, e.Name))
		case name == "approve" || name == "approved":
			meant = append(meant, fmt.Sprintf("%q is not a field: \"decision\": \"block\" refuses", name))
		default:
			meant = append(meant, unknownField(name, slices.Sorted(maps.Keys(s.Fields))))
		}
	}
	for name := range said.Specific().All() {
		if _, known := specific[name]; !known && specific != nil && name != "hookEventName" {
			meant = append(meant, unknownField(name, slices.Sorted(maps.Keys(specific))))
		}
	}
	return meant
}

func unknownField(name string, fields []string) string {
	if near := Near(name, fields); near != "" {
		return fmt.Sprintf("%q is not a field; did you mean %q", name, near)
	}
	return fmt.Sprintf("%q is not a field; it is ignored", name)
}

// Near returns the name that a misspelt one is probably meant to be, "" if there is none.
func Near(name string, names []string) string {
	best, distance := "", max(1, len(name)/3)+1
	for _, known := range names {
		if d := spelling.Distance(strings.ToLower(name), strings.ToLower(known), distance); d < distance {
			best, distance = known, d
		}
	}
	return best
}

func shown(value jsontext.Value) string {
	if text := []rune(string(value)); len(text) > 40 {
		return string(text[:40]) + "…"
	}
	return string(value)
}
