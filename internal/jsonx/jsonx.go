// Package jsonx is shared by all readers of JSON in this program: options for JSON that
// other programs wrote, access to single members, names of JSON types, and errors with a
// line and a column.
//
// It does not know the content of any document.
//
// JSON objects and text are handled as JavaScript does: members keep their
// order, the last of two members with one name counts, and strings are trimmed,
// decoded and sorted by JavaScript's rules. Most of the agents are written in JavaScript,
// and hooks in sh search for the exact text that JSON.stringify writes.
//
// Numbers are the exception: they keep every digit.
package jsonx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Tolerant are the options for JSON that the client, its tools or people wrote:
// duplicate names are allowed, and the last one counts; invalid UTF-8 becomes U+FFFD.
var Tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Position is a position in a text as editors count it: lines and columns from 1,
// columns in characters (Unicode code points), not bytes.
type Position struct{ Line, Column int }

func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// SyntaxError reports a mistake in JSON with its position. Its text is "line:column:
// message"; callers put the file's path and a colon before it.
type SyntaxError struct {
	Position
	Offset int // in bytes
	Err    error
}

func (e *SyntaxError) Error() string { return e.Position.String() + ": " + e.Err.Error() }
func (e *SyntaxError) Unwrap() error { return e.Err }

// Explain converts an error of decoding data into one for people: a *SyntaxError without
// the library's name, its prefix or Go types. io.EOF, which a decoder returns for an
// empty text, gets the position of the end. Any other error, and nil, is returned
// unchanged.
func Explain(data []byte, err error) error {
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return newSyntaxError(data, int(syntactic.ByteOffset), syntacticCause(data, syntactic))
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return newSyntaxError(data, int(semantic.ByteOffset), semanticCause(semantic))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return newSyntaxError(data, len(data), endOfFile(data))
	}
	return err
}

func newSyntaxError(data []byte, offset int, cause error) *SyntaxError {
	return &SyntaxError{Position: PositionAt(data, offset), Offset: offset, Err: cause}
}

func syntacticCause(data []byte, e *jsontext.SyntacticError) error {
	switch {
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		return endOfFile(data)
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		return fmt.Errorf("%w %q", jsontext.ErrDuplicateName, e.JSONPointer.LastToken())
	}
	text := hint(data, int(e.ByteOffset))
	switch what := e.Err.Error(); {
	case text != "":
	case strings.Contains(what, "in string"):
		text = inString(data, int(e.ByteOffset))
	case strings.Contains(what, "(expecting ',' or"):
		text = unseparated(data, int(e.ByteOffset))
	}
	if text != "" {
		return fmt.Errorf("%w: %s", e.Err, text)
	}
	return e.Err
}

func semanticCause(e *json.SemanticError) error {
	if errors.Is(e.Err, json.ErrUnknownName) {
		return fmt.Errorf("unknown member %q", e.JSONPointer.LastToken())
	}
	if e.JSONKind == 0 || e.GoType == nil {
		if e.Err != nil {
			return e.Err
		}
		return errors.New("a value of the wrong type")
	}
	where := ""
	if name := e.JSONPointer.LastToken(); name != "" {
		where = name + ": "
	}
	return fmt.Errorf("%sgot %s", where, KindName(e.JSONKind))
}

// Check returns nil if data is exactly one JSON value, and otherwise a *SyntaxError. opts
// are the options with which the value will be decoded.
func Check(data []byte, opts ...jsontext.Options) error {
	dec := jsontext.NewDecoder(bytes.NewReader(data), opts...)
	if _, err := dec.ReadValue(); err != nil {
		return Explain(data, err)
	}
	return CheckEnd(data, int(dec.InputOffset()))
}

// CheckEnd returns a *SyntaxError unless data has only white space after offset, the end
// of its JSON value.
func CheckEnd(data []byte, offset int) error {
	rest := bytes.TrimLeft(data[offset:], white)
	if len(rest) == 0 {
		return nil
	}
	message := "unexpected text after the JSON value"
	if hint := hint(data, len(data)-len(rest)); hint != "" {
		message += ": " + hint
	}
	return newSyntaxError(data, len(data)-len(rest), errors.New(message))
}

// Members returns the members of an object, each as the bytes in object. It returns the
// same as json.Unmarshal with Tolerant, errors included, but does not copy the bytes: the
// result shares memory with object. It is nil for null.
//
// Each start of a hook parses its event with this function. json.Unmarshal would first
// inspect the map's type by reflection, which takes several times as long as parsing an
// event.
func Members(object jsontext.Value) (map[string]jsontext.Value, error) {
	members, _, err := MembersWithin(object, "")
	return members, err
}

// MembersWithin is Members, and also returns the members of the member named inner, nil if that is not an object. It
// goes over the text once: tool inputs hold whole files.
func MembersWithin(object jsontext.Value, inner string) (members, within map[string]jsontext.Value, err error) {
	if object.Kind() == '{' {
		r := memberReader{jsontext.NewDecoder(bytes.NewBuffer(object), Tolerant), object}
		members, within, _, err = r.read(inner)
		if err == nil && CheckEnd(object, int(r.dec.InputOffset())) == nil {
			return members, within, nil
		}
	}
	members = nil
	err = json.Unmarshal(object, &members, Tolerant)
	return members, nil, err
}

// Begun returns the members that are complete in the beginning of an object.
func Begun(text jsontext.Value) map[string]jsontext.Value {
	if text.Kind() != '{' {
		return nil
	}
	r := memberReader{jsontext.NewDecoder(bytes.NewBuffer(text), Tolerant), text}
	members, _, _, _ := r.read("")
	return members
}

type memberReader struct {
	dec  *jsontext.Decoder
	text jsontext.Value
}

// read reads the object that comes next, which starts at this offset, and the members of its member inner. Beside an error it
// returns what it has read.
func (r memberReader) read(inner string) (members, within map[string]jsontext.Value, start int, err error) {
	if _, err = r.dec.ReadToken(); err != nil {
		return nil, nil, 0, err
	}
	members, start = make(map[string]jsontext.Value), int(r.dec.InputOffset())-1
	for r.dec.PeekKind() != '}' {
		token, err := r.dec.ReadToken()
		if err != nil {
			return members, within, start, err
		}
		name, at := token.String(), 0 // the token is valid only until the next call
		if inner != "" && name == inner {
			within = nil
		}
		if inner != "" && name == inner && r.dec.PeekKind() == '{' {
			within, _, at, err = r.read("")
		} else {
			var value jsontext.Value
			value, err = r.dec.ReadValue()
			at = int(r.dec.InputOffset()) - len(value)
		}
		if err != nil {
			return members, within, start, err
		}
		end := int(r.dec.InputOffset())
		members[name] = r.text[at:end:end]
	}
	_, err = r.dec.ReadToken()
	return members, within, start, err
}

// Member returns the bytes of a member's value, nil if object is not a JSON object or has
// no such member.
func Member(object jsontext.Value, name string) jsontext.Value {
	members, err := Members(object)
	if err != nil {
		return nil
	}
	return members[name]
}

// StringMember returns the value of a member that is a string, "" if there is no such
// member or it has another type.
func StringMember(object jsontext.Value, name string) string { return Text(Member(object, name)) }

// Text returns the value of a string, "" for anything else.
func Text(value jsontext.Value) string {
	var text string
	if value.Kind() != '"' || json.Unmarshal(value, &text, Tolerant) != nil {
		return ""
	}
	return text
}

// With returns a JSON object with these values in the place of the members of the same names.
func With(object jsontext.Value, values map[string]any) (jsontext.Value, error) {
	members, err := Members(object)
	if err != nil {
		return nil, err
	}
	if members == nil {
		return nil, errors.New("the value is null, want an object")
	}
	all := maps.Clone(values)
	for name, value := range members {
		if _, replaced := values[name]; !replaced {
			all[name] = value
		}
	}
	return json.Marshal(all, Tolerant, json.Deterministic(true))
}

// KindName returns the name of a JSON type with its article, such as "a string".
func KindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	case '{':
		return "an object"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "invalid JSON"
}

// Got returns the message for a value of the wrong type, such as "got a string, want an
// object". want is the expected type with its article.
func Got(k jsontext.Kind, want string) string {
	return "got " + KindName(k) + ", want " + strings.TrimSpace(want)
}
