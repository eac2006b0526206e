package fsmspec

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Classify says who made a file of a task list. It reads like the client: the last of
// duplicate keys counts, and invalid UTF-8 becomes U+FFFD. A file that is not valid JSON
// is Foreign, and the error wraps ErrNotJSON; read again under the file's lock it may
// be complete. Other JSON that is not an object is Foreign without an error.
func Classify(name string, data []byte) (Existing, Kind, error) {
	file := Existing{Name: name}
	if !jsontext.Value(data).IsValid(jsonx.Tolerant) {
		return file, Foreign, fmt.Errorf("%s:%w (%w)", name, jsonx.Check(data, jsonx.Tolerant), ErrNotJSON)
	}
	if jsontext.Value(data).Kind() != '{' {
		return file, Foreign, nil
	}
	if !mayBeTagged(data) {
		return file, Manual, nil
	}
	kind := Manual
	var tagged Existing
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
				if isName(key, tag) {
					kind, tagged.Tag = Tagged, r.text()
				}
			}
		}
	}
	if kind == Tagged {
		tagged.Name = name
		return tagged, kind, nil
	}
	return file, kind, nil
}

// mayBeTagged saves most files a closer look: a tag is in the file literally, or with
// one of its letters escaped.
func mayBeTagged(data []byte) bool {
	return bytes.Contains(data, []byte(`"`+tag+`"`)) || bytes.Contains(data, []byte(`\u`))
}

// reader reads valid JSON, so the errors of its decoder do not occur.
type reader struct{ decoder *jsontext.Decoder }

// members yields the keys, as they are spelled, of the object that comes next, and
// nothing if it is another value. It skips a value that the loop does not read.
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

// text reads a value. It returns what a string means, and "" for any other value.
func (r reader) text() string {
	value, _ := r.decoder.ReadValue()
	return unquoted(value)
}

// isName reports whether a key, as it is spelled, means name.
func isName(key jsontext.Value, name string) bool {
	if !hasEscape(key) {
		return string(key[1:len(key)-1]) == name
	}
	return unquoted(key) == name
}

// unquoted returns what a JSON string means, and "" for any other value.
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

// hasEscape reports whether a JSON string means something else than it spells.
func hasEscape(raw []byte) bool { return bytes.Contains(raw, []byte(`\`)) }
