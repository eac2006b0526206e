package frontmatter

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Value is a YAML value. The zero Value is an absent value, whose methods return zero
// values and false.
type Value struct{ node *yaml.Node }

// Member is one entry of a mapping whose key is a scalar.
type Member struct {
	Key   string
	Value Value
	Line  int // of the key in the YAML, counted from 1
}

// At returns the value at a path of keys, an absent one if a key is missing. Of duplicate
// keys the last one counts.
func (v Value) At(path ...string) Value {
	for _, key := range path {
		next := Value{}
		for _, m := range v.Members() {
			if m.Key == key {
				next = m.Value
			}
		}
		v = next
	}
	return v
}

// Members returns the entries of a mapping in the order of the file, nil for any other
// value.
func (v Value) Members() []Member {
	if !v.isMapping() {
		return nil
	}
	var all []Member
	for pair := range slices.Chunk(v.resolve().Content, 2) {
		if key, ok := (Value{pair[0]}).Text(); ok {
			all = append(all, Member{key, Value{pair[1]}, pair[0].Line})
		}
	}
	return all
}

// Items returns the entries of a sequence, nil for any other value.
func (v Value) Items() []Value {
	n := v.resolve()
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	all := make([]Value, len(n.Content))
	for i, child := range n.Content {
		all[i] = Value{child}
	}
	return all
}

// Text returns a scalar as it is written, without quotes. It returns false for null, a
// sequence, a mapping or an absent value.
func (v Value) Text() (string, bool) {
	n := v.resolve()
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return "", false
	}
	return n.Value, true
}

// Kind returns what the value is, for messages: a scalar as it is written, a text in quotes,
// "a list", "a mapping" or "nothing".
func (v Value) Kind() string {
	n := v.resolve()
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.ShortTag() == "!!str":
		return strconv.Quote(n.Value)
	}
	return n.Value
}

// Null reports whether the value is absent, empty or null.
func (v Value) Null() bool {
	n := v.resolve()
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// Bool returns a boolean of YAML 1.2: an unquoted true or false.
func (v Value) Bool() (value, ok bool) {
	ok = v.decode("!!bool", &value)
	return value, ok
}

// Int returns a whole number.
func (v Value) Int() (value int, ok bool) {
	ok = v.decode("!!int", &value)
	return value, ok
}

// Number returns a finite number, whole or not.
func (v Value) Number() (value float64, ok bool) {
	ok = v.decode("!!float", &value) || v.decode("!!int", &value)
	return value, ok && !math.IsNaN(value) && !math.IsInf(value, 0)
}

func (v Value) decode(tag string, into any) bool {
	n := v.resolve()
	return n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() == tag && n.Decode(into) == nil
}

// String returns the value as text: a scalar as it is written, a sequence or mapping on
// one line in flow style, which is cut after about MaxText bytes.
func (v Value) String() string {
	if text, ok := v.Text(); ok {
		return text
	}
	var b strings.Builder
	v.flow(&b)
	return b.String()
}

// MaxText limits the text that String returns for a sequence or mapping, in bytes.
const MaxText = 4096

func (v Value) flow(b *strings.Builder) {
	n := v.resolve()
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		v.flowMapping(b)
	case n.Kind == yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range v.Items() {
			if !separate(b, i) {
				break
			}
			item.flow(b)
		}
		b.WriteByte(']')
	default:
		b.WriteString(n.Value)
	}
}

func (v Value) flowMapping(b *strings.Builder) {
	b.WriteByte('{')
	for i, m := range v.Members() {
		if !separate(b, i) {
			break
		}
		b.WriteString(m.Key + ": ")
		m.Value.flow(b)
	}
	b.WriteByte('}')
}

// separate writes the comma before entry i. If the text has reached its limit, it writes
// an ellipsis and returns false.
func separate(b *strings.Builder, i int) bool {
	if b.Len() > MaxText {
		b.WriteString("…")
		return false
	}
	if i > 0 {
		b.WriteString(", ")
	}
	return true
}

func (v Value) isMapping() bool {
	n := v.resolve()
	return n != nil && n.Kind == yaml.MappingNode
}

func (v Value) resolve() *yaml.Node {
	if v.node != nil && v.node.Kind == yaml.AliasNode {
		return v.node.Alias
	}
	return v.node
}
