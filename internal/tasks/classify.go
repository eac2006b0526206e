package tasks

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// errNotJSON is returned by [Classify] for a file that is not valid JSON. The client does not
// write its files atomically, so the file may be half written.
var errNotJSON = errors.New("not valid JSON")

// Kind tells who created a file in a task list.
type Kind int

const (
	// Foreign is a file that is not a JSON object, so not a task.
	Foreign Kind = iota
	// Manual is a task without a tag: the client or a person created it.
	Manual
	// Tagged is a task whose metadata is an object with the key fsmspec.Tag, with any value: a
	// plan created it.
	Tagged
)

// Classify returns the kind of a file in a task list and, if it is Tagged, its fields: those
// that are not strings are empty. It reads the file as the client does: of duplicate keys the
// last one counts, and invalid UTF-8 becomes U+FFFD. JSON that is not an object is Foreign.
//
// Errors: errNotJSON. The file is Foreign then, but its writer may not have finished it:
// read it again under its lock.
func Classify(name string, data []byte) (fsmspec.Existing, Kind, error) {
	file := fsmspec.Existing{ID: ClientForm{}.ID(name), Number: ClientForm{}.Number(name)}
	if !jsontext.Value(data).IsValid(jsonx.Tolerant) {
		return file, Foreign, fmt.Errorf("%s:%w (%w)", name, jsonx.Check(data, jsonx.Tolerant), errNotJSON)
	}
	if jsontext.Value(data).Kind() != '{' {
		return file, Foreign, nil
	}
	if !mayBeTagged(data) {
		return file, Manual, nil
	}
	kind := Manual
	tagged := file
	r := reader{jsontext.NewDecoder(bytes.NewBuffer(data), jsonx.Tolerant)}
	for key := range r.members {
		switch {
		case isName(key, "subject"):
			tagged.Subject = r.text()
		case isName(key, "status"):
			tagged.Status = r.text()
		case isName(key, "metadata"):
			kind = Manual
			for key := range r.members {
				if isName(key, fsmspec.Tag) {
					kind, tagged.Tag = Tagged, r.text()
				}
			}
		}
	}
	if kind == Tagged {
		return tagged, kind, nil
	}
	return file, kind, nil
}

// mayBeTagged returns false for most files without a tag, so that they need not be parsed. A
// tagged file has the key literally, or an escape for one of its letters.
func mayBeTagged(data []byte) bool {
	return bytes.Contains(data, []byte(`"`+fsmspec.Tag+`"`)) || bytes.Contains(data, []byte(`\u`))
}

// reader reads JSON that is known to be valid, so its decoder returns no errors.
type reader struct{ decoder *jsontext.Decoder }

// members yields the keys of the next value, as they are spelled, if that value is an object.
// It skips a member's value if the loop does not read it.
func (r reader) members(yield func(key jsontext.Value) bool) {
	if r.decoder.PeekKind() != '{' {
		return
	}
	_, _ = r.decoder.ReadToken()
	for r.decoder.PeekKind() == '"' {
		key, _ := r.decoder.ReadValue()
		end := r.decoder.InputOffset()
		if !yield(key) {
			return
		}
		if r.decoder.InputOffset() == end {
			_ = r.decoder.SkipValue()
		}
	}
	_, _ = r.decoder.ReadToken()
}

// text reads a value. It returns a string decoded, and "" for any other value.
func (r reader) text() string {
	value, _ := r.decoder.ReadValue()
	return unquoted(value)
}

// isName compares a key, escapes and all, with name.
func isName(key jsontext.Value, name string) bool {
	if !hasEscape(key) {
		return string(key[1:len(key)-1]) == name
	}
	return unquoted(key) == name
}

// unquoted returns a JSON string decoded, and "" for any other value.
func unquoted(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	if !hasEscape(value) && utf8.Valid(value) {
		return string(value[1 : len(value)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, value) // the error says only that something was replaced
	return string(text)
}

// hasEscape reports whether a JSON string has an escape sequence.
func hasEscape(raw []byte) bool { return bytes.Contains(raw, []byte(`\`)) }
