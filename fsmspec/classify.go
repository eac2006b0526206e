package fsmspec

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Classify says whose a file of a task list is. It reads like the client: of
// keys that are there twice the last one counts, and bytes that are no UTF-8 are
// replaced. A file that does not parse is Foreign with an error that wraps
// ErrNotJSON; it may be half written, and whole when read under its lock. JSON
// that is no object is Foreign without an error.
func Classify(name string, data []byte) (Existing, Kind, error) {
	file := Existing{Name: name}
	if !jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return file, Foreign, malformed(name, data)
	}
	if jsontext.Value(data).Kind() != '{' {
		return file, Foreign, nil
	}
	if !mayBeTagged(data) {
		return file, Manual, nil
	}
	var metadata, subject, status []byte
	for key, value := range members(data) {
		switch {
		case means(key, "metadata"):
			metadata = value
		case means(key, "subject"):
			subject = value
		case means(key, "status"):
			status = value
		}
	}
	label, tagged := tagOf(metadata)
	if !tagged {
		return file, Manual, nil
	}
	return Existing{name, unquoted(label), unquoted(subject), unquoted(status)}, Tagged, nil
}

// mayBeTagged spares most files a closer look: the key is spelled out, or some
// letter of it is escaped.
func mayBeTagged(data []byte) bool {
	return bytes.Contains(data, []byte(`"fsm"`)) || bytes.Contains(data, []byte(`\u`))
}

// tagOf returns the value of the tag of a metadata, which is nil if the file
// has none.
func tagOf(metadata []byte) (label []byte, tagged bool) {
	if len(metadata) == 0 || metadata[0] != '{' {
		return nil, false
	}
	for key, value := range members(metadata) {
		if means(key, tag) {
			label, tagged = value, true
		}
	}
	return label, tagged
}

// malformed says where a file that is no JSON goes wrong.
func malformed(name string, data []byte) error {
	r := newReader(data, 0, "a value")
	if t, ok := r.next(); ok && r.skip(t) {
		r.finish()
	}
	return fmt.Errorf("%s: %w at %s: %s", name, ErrNotJSON, r.pos.At(r.broken.at), r.broken.text)
}
