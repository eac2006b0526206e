package jsonx

import (
	"iter"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object is a JSON object whose members keep their order and whose values keep
// their bytes, so that numbers keep every digit. It is immutable: a method that changes a
// member returns another object. The zero value is {}.
type Object struct {
	members []member
}

type member struct {
	name  string
	value jsontext.Value
}

// ParseObject returns the object that data holds, compacted; ok is false if data
// is not one JSON object.
func ParseObject(data jsontext.Value) (o Object, ok bool) {
	value, ok := Parse(data)
	if !ok {
		return Object{}, false
	}
	return SplitObject(value)
}

// SplitObject returns the object that data holds, with its values as they are written. It
// reads data once and copies only the values, because a request may contain a whole file.
func SplitObject(data jsontext.Value) (o Object, ok bool) {
	if data.Kind() != '{' {
		return Object{}, false
	}
	var b builder
	for p, err := range Parts(data) {
		if err != nil {
			return b.Object, false
		}
		b.set(p.Name, p.Value.Clone())
	}
	return b.Object, true
}

// Parse returns the one JSON value in data as JSON.stringify writes it: no white
// space and no unnecessary escapes.
func Parse(data jsontext.Value) (value jsontext.Value, ok bool) {
	value = data.Clone()
	if err := value.Compact(jsontext.PreserveRawStrings(false)); err != nil {
		return nil, false
	}
	return value, true
}

// builder builds an object in linear time.
type builder struct {
	Object
	at map[string]int
}

func (b *builder) set(name string, value jsontext.Value) {
	if b.at == nil {
		b.at = make(map[string]int)
	}
	if i, ok := b.at[name]; ok {
		b.members[i].value = value
		return
	}
	b.at[name] = len(b.members)
	b.members = append(b.members, member{name, value})
}

func (b *builder) add(o Object) {
	for _, m := range o.members {
		b.set(m.name, m.value)
	}
}

// Len returns the number of members.
func (o Object) Len() int { return len(o.members) }

// All iterates over the members in their order.
func (o Object) All() iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		for _, m := range o.members {
			if !yield(m.name, m.value) {
				return
			}
		}
	}
}

// Get returns the value of name, nil if it is absent.
func (o Object) Get(name string) jsontext.Value {
	for _, m := range o.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// Has reports whether name is present and not null.
func (o Object) Has(name string) bool {
	value := o.Get(name)
	return value != nil && value.Kind() != 'n'
}

// Text returns the value of name if it is a string, otherwise "".
func (o Object) Text(name string) string {
	s, _ := String(o.Get(name))
	return s
}

// Object returns the value of name if it is an object, otherwise {}.
func (o Object) Object(name string) Object {
	inner, _ := ParseObject(o.Get(name))
	return inner
}

// Array returns the elements of name's value if it is an array, otherwise nil.
func (o Object) Array(name string) []jsontext.Value {
	items, _ := Array(o.Get(name))
	return items
}

// Strings returns the strings in the array of name; other elements are left out.
func (o Object) Strings(name string) []string {
	var found []string
	for _, item := range o.Array(name) {
		if s, ok := String(item); ok {
			found = append(found, s)
		}
	}
	return found
}

// IsTrue reports whether the value of name is true.
func (o Object) IsTrue(name string) bool { return o.Get(name).Kind() == 't' }

// IsFalse reports whether the value of name is false.
func (o Object) IsFalse(name string) bool { return o.Get(name).Kind() == 'f' }

// With returns o with name set to value. A member that o already has keeps its place.
func (o Object) With(name string, value jsontext.Value) Object {
	return o.Merged(Object{[]member{{name, value}}})
}

// WithText returns o with name set to a string.
func (o Object) WithText(name, value string) Object { return o.With(name, Quote(value)) }

// WithObject returns o with name set to an object.
func (o Object) WithObject(name string, value Object) Object { return o.With(name, value.Raw()) }

// Without returns o without the names.
func (o Object) Without(names ...string) Object {
	return Object{slices.DeleteFunc(slices.Clone(o.members), func(m member) bool {
		return slices.Contains(names, m.name)
	})}
}

// Only returns o with no members but the names.
func (o Object) Only(names ...string) Object {
	return Object{slices.DeleteFunc(slices.Clone(o.members), func(m member) bool {
		return !slices.Contains(names, m.name)
	})}
}

// Merged returns {...o, ...over}: a shallow merge that replaces whole values.
func (o Object) Merged(over Object) Object {
	var b builder
	b.add(o)
	b.add(over)
	return b.Object
}

// Raw returns o as JSON without white space.
func (o Object) Raw() jsontext.Value {
	buf := []byte{'{'}
	for i, m := range o.members {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, Quote(m.name)...)
		buf = append(buf, ':')
		buf = append(buf, m.value...)
	}
	return append(buf, '}')
}

// MarshalJSON returns o as JSON.
func (o Object) MarshalJSON() ([]byte, error) { return o.Raw(), nil }

// UnmarshalJSON reads an object; any other value becomes {}.
func (o *Object) UnmarshalJSON(data []byte) error {
	*o, _ = ParseObject(data)
	return nil
}

// String returns the text of a JSON string; ok is false for any other value.
func String(value jsontext.Value) (s string, ok bool) {
	if value.Kind() != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil && text == nil {
		return "", false
	}
	return string(text), true
}

// Array returns the elements of a JSON array; ok is false for any other value.
func Array(value jsontext.Value) (items []jsontext.Value, ok bool) {
	if value.Kind() != '[' {
		return nil, false
	}
	if err := json.Unmarshal(value, &items, Tolerant); err != nil {
		return nil, false
	}
	return items, true
}

// Quote returns s as a JSON string; ill-formed UTF-8 becomes U+FFFD.
func Quote(s string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(nil, s)
	return quoted
}

// List returns the values as a JSON array.
func List(values []jsontext.Value) jsontext.Value {
	buf := []byte{'['}
	for i, v := range values {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, v...)
	}
	return append(buf, ']')
}

// Strings returns the texts as a JSON array.
func Strings(texts []string) jsontext.Value {
	values := make([]jsontext.Value, len(texts))
	for i, t := range texts {
		values[i] = Quote(t)
	}
	return List(values)
}

// Bool returns b as JSON.
func Bool(b bool) jsontext.Value {
	if b {
		return jsontext.Value("true")
	}
	return jsontext.Value("false")
}

// Marshal returns v as JSON. It panics if v cannot be encoded: v is a value of this program,
// so that is a bug.
func Marshal(v any, options ...json.Options) jsontext.Value {
	data, err := json.Marshal(v, append(options, Tolerant)...)
	if err != nil {
		panic(err)
	}
	return data
}
