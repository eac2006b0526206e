package settings

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
	"github.com/fsmtx/fsmtx/internal/message"
)

// bom is the byte order mark. The client accepts one at the beginning (fact 97, client
// 2.1.329).
const bom = "\ufeff"

// blank reports whether the file is missing, empty or only white space. The client reads
// these as empty settings (fact 97, client 2.1.329).
func blank(data []byte) bool {
	return len(bytes.Trim(bytes.TrimPrefix(data, []byte(bom)), " \t\r\n")) == 0
}

// document is a settings file as a tree that keeps comments and white space.
type document struct {
	mark string // the byte order mark, or nothing
	data []byte // without it
	root hujson.Value
	top  *hujson.Object // the value of root
}

// parse parses settings, which may have comments and trailing commas. A file that is missing or blank is an
// empty object.
func parse(data []byte) (*document, error) {
	if blank(data) {
		data = []byte("{}\n")
	}
	d := &document{}
	if rest, marked := bytes.CutPrefix(data, []byte(bom)); marked {
		d.mark, data = bom, rest
	}
	d.data = data
	plain, err := commented.Plain(data)
	if err != nil || !utf8.Valid(data) {
		plain = data // which is not valid JSON, and the check says where
	}
	if err := checkSyntax(plain); err != nil {
		return nil, err
	}
	if d.root, err = commented.Parse(data); err != nil {
		return nil, fmt.Errorf("1:1: %w: %w", ErrNotJSON, err)
	}
	if d.top, err = d.object(d.root, ""); err != nil {
		return nil, err
	}
	return d, nil
}

// Strict returns ErrNotJSON or jsontext.ErrDuplicateName for a file that the client ignores as a whole, such as one with
// comments (fact 97, client 2.1.329).
func Strict(data []byte) error {
	if blank(data) {
		return nil
	}
	return checkSyntax(bytes.TrimPrefix(data, []byte(bom)))
}

func checkSyntax(data []byte) error {
	if len(data) > 1 && (data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff) {
		return fmt.Errorf("1:1: %w: the file is UTF-16; save it as UTF-8", ErrNotJSON)
	}
	if n := validPrefix(data); n < len(data) {
		return fmt.Errorf("%v: %w: invalid UTF-8", jsonx.PositionAt(data, n), ErrNotJSON)
	}
	// The option allows an escaped half of a surrogate pair, which is valid JSON.
	err := jsonx.Check(data, jsontext.AllowInvalidUTF8(true))
	if errors.Is(err, jsontext.ErrDuplicateName) { // programs differ in which of the two they use, so no edit is safe
		return message.WithHint(err, "remove one of the two; the file was not changed")
	}
	if syntax, ok := errors.AsType[*jsonx.SyntaxError](err); ok {
		return fmt.Errorf("%v: %w: %w", syntax.Position, ErrNotJSON, syntax.Err)
	}
	return err
}

// validPrefix returns the length of the longest prefix that is valid UTF-8.
func validPrefix(data []byte) (n int) {
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// pack returns the text, nil if nothing is left in it: not even a comment.
func (d *document) pack() []byte {
	if isEmpty(d.top) && d.root.BeforeExtra.IsStandard() && d.root.AfterExtra.IsStandard() {
		return nil
	}
	return append([]byte(d.mark), d.root.Pack()...)
}

// object returns v as an object, or ErrShape. pointer is v's JSON pointer.
func (d *document) object(v hujson.Value, pointer string) (*hujson.Object, error) {
	if o, ok := v.Value.(*hujson.Object); ok {
		return o, nil
	}
	return nil, d.wrongShape(v, pointer, "an object")
}

// array returns v as an array, or ErrShape. pointer is v's JSON pointer.
func (d *document) array(v hujson.Value, pointer string) (*hujson.Array, error) {
	if a, ok := v.Value.(*hujson.Array); ok {
		return a, nil
	}
	return nil, d.wrongShape(v, pointer, "an array")
}

func (d *document) wrongShape(v hujson.Value, pointer, want string) error {
	if pointer != "" {
		pointer += ": "
	}
	return fmt.Errorf("%v: %w: %s%s", d.position(v), ErrShape, pointer, jsonx.Got(jsontext.Kind(v.Value.Kind()), want))
}

// position returns the position of v, which must not have been edited.
func (d *document) position(v hujson.Value) jsonx.Position {
	return jsonx.PositionAt(d.data, v.StartOffset)
}

// index returns the index of the member called name, -1 if there is none.
func index(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name })
}

// member returns the value of the member called name, nil if there is none.
func member(o *hujson.Object, name string) hujson.ValueTrimmed {
	if i := index(o, name); i >= 0 {
		return o.Members[i].Value.Value
	}
	return nil
}

// text returns a string. ok is false if v is not one.
func text(v hujson.ValueTrimmed) (s string, ok bool) {
	if v == nil || v.Kind() != '"' {
		return "", false
	}
	return v.(hujson.Literal).String(), true
}

// isEmpty reports whether a container has nothing in it, also no comment.
func isEmpty(v hujson.ValueTrimmed) bool {
	switch v := v.(type) {
	case *hujson.Object:
		return len(v.Members) == 0 && v.AfterExtra.IsStandard()
	case *hujson.Array:
		return len(v.Elements) == 0 && v.AfterExtra.IsStandard()
	}
	return false
}

// dropMember removes the member called name from an object. Comments around it stay.
func dropMember(o *hujson.Object, name string) {
	i := index(o, name)
	gone := o.Members[i]
	o.Members = slices.Delete(o.Members, i, i+1)
	behind := &o.AfterExtra
	if i < len(o.Members) {
		behind = &o.Members[i].Name.BeforeExtra
	} else if i > 0 {
		withoutComma(&o.Members[i-1].Value.AfterExtra)
	}
	keepComments(behind, gone.Name.BeforeExtra, gone.Name.AfterExtra, gone.Value.BeforeExtra, gone.Value.AfterExtra)
}

// dropElement removes an element, which must be there, from an array. Comments around it stay.
func dropElement(a *hujson.Array, element hujson.ValueTrimmed) {
	i := slices.IndexFunc(a.Elements, func(e hujson.ArrayElement) bool { return e.Value == element })
	gone := a.Elements[i]
	a.Elements = slices.Delete(a.Elements, i, i+1)
	behind := &a.AfterExtra
	if i < len(a.Elements) {
		behind = &a.Elements[i].BeforeExtra
	} else if i > 0 {
		withoutComma(&a.Elements[i-1].AfterExtra)
	}
	keepComments(behind, gone.BeforeExtra, gone.AfterExtra)
}

// withoutComma takes away the space between a value and its comma: hujson prints a comma behind the last element
// that has one.
func withoutComma(space *hujson.Extra) {
	if space.IsStandard() {
		*space = nil
	}
}

// keepComments puts what has comments before other white space.
func keepComments(before *hujson.Extra, gone ...hujson.Extra) {
	for _, one := range slices.Backward(gone) {
		if !one.IsStandard() {
			*before = append(slices.Clone(one), *before...)
		}
	}
}

// drop removes the member to which names lead, and then the objects above it that are empty.
func drop(o *hujson.Object, names ...string) {
	if len(names) > 1 {
		inner := member(o, names[0]).(*hujson.Object)
		if drop(inner, names[1:]...); !isEmpty(inner) {
			return
		}
	}
	dropMember(o, names[0])
}

// insert adds a value as the member to which names lead, or as an element of the array there. It creates what is
// missing on the way. It returns ErrShape.
func (d *document) insert(names []string, value any, element bool) error {
	at := d.top
	for i, name := range names {
		j := index(at, name)
		if j < 0 {
			if element {
				value = []any{value}
			}
			for _, inner := range slices.Backward(names[i+1:]) {
				value = map[string]any{inner: value}
			}
			return d.addMember(at, i+1, name, value)
		}
		if element && i == len(names)-1 {
			list, err := d.array(at.Members[j].Value, pointer(names))
			if err != nil {
				return err
			}
			return d.addElement(list, len(names)+1, value)
		}
		inner, err := d.object(at.Members[j].Value, pointer(names[:i+1]))
		if err != nil {
			return err
		}
		at = inner
	}
	return nil
}

// addMember adds the last member of an object, which is that deep in the file.
func (d *document) addMember(o *hujson.Object, depth int, name string, value any) error {
	v, err := inserted(value, depth, &o.AfterExtra)
	key := hujson.Value{BeforeExtra: v.BeforeExtra, Value: hujson.String(name)}
	v.BeforeExtra = hujson.Extra(" ")
	o.Members = append(o.Members, hujson.ObjectMember{Name: key, Value: v})
	return err
}

// addElement adds the last element of an array, which is that deep in the file.
func (d *document) addElement(a *hujson.Array, depth int, value any) error {
	v, err := inserted(value, depth, &a.AfterExtra)
	a.Elements = append(a.Elements, v)
	return err
}

// inserted returns a value as the client writes it, on lines of its own, with the space and the comments before it: those
// at the end of its container, which is that deep in the file.
func inserted(value any, depth int, end *hujson.Extra) (v hujson.Value, err error) {
	const unit = "  "
	indent := strings.Repeat(unit, depth)
	text, err := json.Marshal(value, json.Deterministic(true), jsontext.WithIndentPrefix(indent), jsontext.WithIndent(unit))
	if err != nil {
		return v, err
	}
	v, err = hujson.Parse(text)
	v.BeforeExtra = append(bytes.TrimRight(*end, " \t\r\n"), "\n"+indent...)
	*end = hujson.Extra("\n" + strings.TrimSuffix(indent, unit))
	return v, err
}

// pointer returns the JSON pointer to what names lead to.
func pointer(names []string) string {
	var p jsontext.Pointer
	for _, name := range names {
		p = p.AppendToken(name)
	}
	return string(p)
}
