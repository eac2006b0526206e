package dialect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Schema is what an agent accepts as an output. The agent discards an output with one
// field of a wrong type as a whole, and ignores unknown fields. The zero value accepts
// everything.
type Schema struct {
	closed   bool                       // the agent discards an output with an unknown field
	nullable bool                       // null stands for an absent field, but for a boolean
	anyEvent bool                       // hookSpecificOutput may name another event
	fields   map[string]Kind            // of the output
	specific map[string]map[string]Kind // of hookSpecificOutput, by the event that it names

	// unsupported returns why the agent discards an output whose fields have the right types.
	unsupported func(Event, Output) string
}

// Kind is the type of a field.
type Kind struct {
	Type  byte     // as jsontext.Kind: '"' a string, 't' a boolean, '0' a number, '{' an object, '[' an array of strings, '*' anything
	OneOf []string // the allowed strings; nil allows all

	Required bool // of a hook's entry: it may not be absent
	NotEmpty bool // the empty string is not allowed
	URL      bool // a string must be a URL
	Texts    bool // the members of an object must be strings

	Members map[string]Kind // the members of an object
}

// Knows reports whether the agent knows a field of the output.
func (s Schema) Knows(name string) bool {
	_, known := s.fields[name]
	return known || s.fields == nil
}

// KnowsInside reports whether the agent knows a field of hookSpecificOutput at an event.
func (s Schema) KnowsInside(e Event, name string) bool {
	fields, listed := s.specific[e.Name]
	_, known := fields[name]
	return known || !listed
}

// violation returns why the agent discards an output at an event, "" if it does not.
func (s Schema) violation(e Event, out Output) string {
	if s.fields == nil {
		return ""
	}
	if why := cmp.Or(s.violates("", s.fields, out.Object), s.violatesInside(e, out)); why != "" || s.unsupported == nil {
		return why
	}
	return s.unsupported(e, out)
}

// violatesInside returns what is wrong with hookSpecificOutput.
func (s Schema) violatesInside(e Event, out Output) string {
	if value := out.Get("hookSpecificOutput"); value == nil || value.Kind() == 'n' {
		return ""
	}
	if s.closed && s.specific[e.Name] == nil {
		return "it has hookSpecificOutput, which " + e.Name + " does not know"
	}
	specific := out.Specific()
	fields, known := s.specific[specific.Text("hookEventName")]
	if s.anyEvent {
		fields = s.specific[e.Name]
	}
	switch {
	case !specific.Has("hookEventName"):
		return "its hookSpecificOutput has no hookEventName"
	case !known:
		return fmt.Sprintf("its hookSpecificOutput names the event %s", jsonx.Excerpt(specific.Get("hookEventName")))
	}
	return s.violates("hookSpecificOutput.", fields, specific)
}

func (s Schema) violates(prefix string, fields map[string]Kind, o jsonx.Object) string {
	for name, value := range o.All() {
		kind, known := fields[name]
		switch why := kind.violation(value); {
		case !known && s.closed:
			return fmt.Sprintf("its %q is not a known field", prefix+name)
		case !known, s.nullable && value.Kind() == 'n' && kind.Type != 't':
		case why != "":
			return fmt.Sprintf("its %s%s: %s", prefix, name, why)
		case kind.Members != nil:
			object, _ := jsonx.ParseObject(value)
			if why := s.violates(prefix+name+".", kind.Members, object); why != "" {
				return why
			}
		}
	}
	return ""
}

// typeOf returns the type of a value, as in Kind.
func typeOf(value jsontext.Value) byte {
	if value.Kind() == 'f' {
		return 't'
	}
	return byte(value.Kind())
}

func (k Kind) violation(value jsontext.Value) string {
	text, _ := jsonx.String(value)
	items, _ := jsonx.Array(value)
	switch {
	case k.Type == '*':
		return ""
	case typeOf(value) != k.Type:
		return jsonx.Got(value.Kind(), k.String())
	case len(k.OneOf) > 0 && !slices.Contains(k.OneOf, text):
		return fmt.Sprintf("got %s, want %s", jsonx.Excerpt(value), k)
	case k.URL && !isURL(text):
		return fmt.Sprintf("%s is not a URL; variables are not replaced in it", jsonx.Excerpt(value))
	case k.NotEmpty && text == "":
		return "it is empty"
	case k.Texts && hasOtherThanText(value):
		return "one of its members is not a string"
	case slices.ContainsFunc(items, func(item jsontext.Value) bool { return item.Kind() != '"' }):
		return "one of its elements is not a string"
	}
	return ""
}

// hasOtherThanText reports whether an object has a member that is not a string.
func hasOtherThanText(object jsontext.Value) bool {
	o, _ := jsonx.ParseObject(object)
	for _, value := range o.All() {
		if value.Kind() != '"' {
			return true
		}
	}
	return false
}

// Mistakes returns what is wrong with the members of a settings file for which the agent drops the file.
func (s Settings) Mistakes(file jsontext.Value) (all []string) {
	o, _ := jsonx.ParseObject(file)
	for _, name := range slices.Sorted(maps.Keys(s.Kinds)) {
		if value := o.Get(name); value != nil {
			if why := s.Kinds[name].violation(value); why != "" {
				all = append(all, name+": "+why)
			}
		}
	}
	return all
}

func (k Kind) String() string {
	switch {
	case len(k.OneOf) > 0:
		return strings.Join(k.OneOf, " or ")
	case k.Type == 't':
		return "true or false"
	case k.Type == '{':
		return "an object"
	case k.Type == '0':
		return "a number"
	case k.Type == '[':
		return "an array of strings"
	}
	return "a string"
}
