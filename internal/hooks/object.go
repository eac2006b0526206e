package hooks

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tolerant reads JSON as JSON.parse does where the two differ: of duplicate
// names the last counts, and half a surrogate pair is a replacement character.
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// object is a JSON object whose members keep their order and whose values keep
// their bytes, so that a number passes through digit for digit. It is never
// changed: what looks like a change returns another one. The zero value is {}.
type object struct {
	members []member
}

type member struct {
	name  string
	value jsontext.Value
}

// parseObject returns the object that data holds, compacted, and whether it
// holds one at all.
func parseObject(data jsontext.Value) (object, bool) {
	value, ok := parseValue(data)
	if !ok {
		return object{}, false
	}
	return splitObject(value)
}

// splitObject returns the object that data holds, its values as they are
// written: one pass over a request that may hold a whole file.
func splitObject(data jsontext.Value) (object, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(data), tolerant)
	if start, err := dec.ReadToken(); err != nil || start.Kind() != '{' {
		return object{}, false
	}
	var b builder
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return object{}, false
		}
		key := name.String()
		raw, err := dec.ReadValue()
		if err != nil {
			return object{}, false
		}
		b.set(key, raw.Clone())
	}
	if _, err := dec.ReadToken(); err != nil {
		return object{}, false
	}
	_, err := dec.ReadToken()
	return b.object, errors.Is(err, io.EOF)
}

// parseValue returns the one JSON value in data as JSON.stringify writes it: no
// white space, no escape that is not needed. A hook in sh greps for what it
// looks for. Numbers keep their digits.
func parseValue(data jsontext.Value) (jsontext.Value, bool) {
	value := data.Clone()
	if err := value.Compact(jsontext.PreserveRawStrings(false)); err != nil {
		return nil, false
	}
	return value, true
}

// builder puts an object together in time linear in its members, however many
// a tool's input has.
type builder struct {
	object
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

func (b *builder) add(o object) {
	for _, m := range o.members {
		b.set(m.name, m.value)
	}
}

// get returns the value of name, nil if it is absent.
func (o object) get(name string) jsontext.Value {
	for _, m := range o.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// has reports whether name is there and not null.
func (o object) has(name string) bool {
	value := o.get(name)
	return value != nil && value.Kind() != 'n'
}

// text returns the value of name if it is a string, else "".
func (o object) text(name string) string {
	s, _ := stringOf(o.get(name))
	return s
}

// object returns the value of name if it is an object, else {}.
func (o object) object(name string) object {
	inner, _ := parseObject(o.get(name))
	return inner
}

// array returns the elements of name's value if it is an array, else nil.
func (o object) array(name string) []jsontext.Value {
	items, _ := arrayOf(o.get(name))
	return items
}

func (o object) isTrue(name string) bool  { return o.get(name).Kind() == 't' }
func (o object) isFalse(name string) bool { return o.get(name).Kind() == 'f' }

// with returns o with name set to value. A known name keeps its place.
func (o object) with(name string, value jsontext.Value) object {
	return o.merged(object{[]member{{name, value}}})
}

func (o object) withText(name, value string) object { return o.with(name, quote(value)) }

func (o object) withObject(name string, value object) object { return o.with(name, value.raw()) }

// without returns o without the names.
func (o object) without(names ...string) object {
	return object{slices.DeleteFunc(slices.Clone(o.members), func(m member) bool {
		return slices.Contains(names, m.name)
	})}
}

// only returns o with no members but the names.
func (o object) only(names ...string) object {
	return object{slices.DeleteFunc(slices.Clone(o.members), func(m member) bool {
		return !slices.Contains(names, m.name)
	})}
}

// merged returns o with every member of over on top: a shallow merge, whole
// values replaced.
func (o object) merged(over object) object {
	var b builder
	b.add(o)
	b.add(over)
	return b.object
}

// raw returns o as JSON without white space.
func (o object) raw() jsontext.Value {
	buf := []byte{'{'}
	for i, m := range o.members {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, quote(m.name)...)
		buf = append(buf, ':')
		buf = append(buf, m.value...)
	}
	return append(buf, '}')
}

// MarshalJSON makes an object a value of the structs that hold it.
func (o object) MarshalJSON() ([]byte, error) { return o.raw(), nil }

// UnmarshalJSON reads any object; anything else is {}.
func (o *object) UnmarshalJSON(data []byte) error {
	*o, _ = parseObject(data)
	return nil
}

func stringOf(value jsontext.Value) (string, bool) {
	if value.Kind() != '"' {
		return "", false
	}
	s, err := jsontext.AppendUnquote(nil, value)
	if err != nil && s == nil {
		return "", false
	}
	return string(s), true
}

func arrayOf(value jsontext.Value) ([]jsontext.Value, bool) {
	if value.Kind() != '[' {
		return nil, false
	}
	var items []jsontext.Value
	if err := json.Unmarshal(value, &items, tolerant); err != nil {
		return nil, false
	}
	return items, true
}

// quote returns s as a JSON string; ill-formed UTF-8 becomes U+FFFD.
func quote(s string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(nil, s)
	return quoted
}

// list returns the values as a JSON array.
func list(values []jsontext.Value) jsontext.Value {
	buf := []byte{'['}
	for i, v := range values {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, v...)
	}
	return append(buf, ']')
}
