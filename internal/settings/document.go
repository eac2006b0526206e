package settings

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

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

	unwritten bool   // the file is missing or blank, and nothing was added: the tree is that of an empty object
	blank     []byte // the text of a blank file; nil if it is missing
}

// parse parses settings, which may have comments and trailing commas. A file that is missing or blank is an
// empty object.
func parse(data []byte) (*document, error) {
	if blank(data) {
		d := &document{unwritten: true, blank: data}
		return d, d.reset()
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

// pack returns the text, nil if nothing is left of a file that was not there before.
func (d *document) pack() []byte {
	if d.unwritten {
		return d.blank
	}
	return append([]byte(d.mark), d.data...)
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

// position returns the position of v.
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

// pointer returns the JSON pointer to what names lead to.
func pointer(names []string) string {
	var p jsontext.Pointer
	for _, name := range names {
		p = p.AppendToken(name)
	}
	return string(p)
}
