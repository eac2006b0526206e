package settings

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/hint"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// bom is the byte order mark. The client accepts one at the beginning (fact 97, client
// 2.1.329).
const bom = "\ufeff"

// space holds the white space of JSON.
const space = " \t\r\n"

// blank reports whether the file is missing, empty or only white space. The client reads
// these as empty settings (fact 97, client 2.1.329).
func blank(data []byte) bool {
	return len(bytes.Trim(bytes.TrimPrefix(data, []byte(bom)), space)) == 0
}

// document is a settings file as a tree that keeps every byte.
type document struct {
	mark string // the byte order mark, or nothing
	data []byte // without it
	root hujson.Value
	top  object // the value of root

	emptied bool // top was created by Add and has lost its last member
}

// parse parses settings. The caller must not change data while it uses the document.
func parse(data []byte) (document, error) {
	data, marked := bytes.CutPrefix(data, []byte(bom))
	// hujson also accepts comments, trailing commas, duplicate names and any depth.
	if err := checkSyntax(data); err != nil {
		return document{}, err
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return document{}, fmt.Errorf("1:1: %w: %w", ErrNotJSON, err)
	}
	d := document{data: data, root: root}
	if marked {
		d.mark = bom
	}
	d.top, err = d.object(root, "")
	return d, err
}

// pack returns the text.
func (d document) pack() []byte { return append([]byte(d.mark), d.root.Pack()...) }

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
		return hint.With(err, "remove one of the two; the file was not changed")
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

// object returns v as an object, or ErrShape. pointer is v's JSON pointer.
func (d document) object(v hujson.Value, pointer string) (object, error) {
	if o, ok := v.Value.(*hujson.Object); ok {
		return object{o}, nil
	}
	return object{}, d.wrongShape(v, pointer, "an object")
}

// array returns v as an array, or ErrShape. pointer is v's JSON pointer.
func (d document) array(v hujson.Value, pointer string) (array, error) {
	if a, ok := v.Value.(*hujson.Array); ok {
		return array{a}, nil
	}
	return array{}, d.wrongShape(v, pointer, "an array")
}

func (d document) wrongShape(v hujson.Value, pointer, want string) error {
	if pointer != "" {
		pointer += ": "
	}
	return fmt.Errorf("%v: %w: %s%s", d.position(v), ErrShape, pointer, jsonx.Got(jsontext.Kind(v.Value.Kind()), want))
}

// position returns the position of v, which must not have been edited.
func (d document) position(v hujson.Value) jsonx.Position {
	return jsonx.PositionAt(d.data, v.StartOffset)
}
