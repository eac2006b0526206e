package locator

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tolerant reads JSON as the client does: of two members with one name the
// last one counts, and ill-formed UTF-8 is replaced.
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// object is a JSON object whose members are looked at one by one, so that one
// of a wrong type spoils nothing but itself.
type object map[string]jsontext.Value

// parseObject returns an error that wraps ErrMalformed and says where.
func parseObject(data []byte) (object, error) {
	var o object
	if err := json.Unmarshal(data, &o, tolerant); err != nil {
		return nil, malformed(data, err)
	}
	if o == nil {
		return nil, fmt.Errorf("%w: null, and an object is wanted", ErrMalformed)
	}
	return o, nil
}

// readObject reads a file of the client; its errors are of type *FileError.
func readObject(fsys FS, path string) (object, error) {
	data, err := ReadSpec(fsys, path, maxConfig)
	if err != nil {
		return nil, err
	}
	o, err := parseObject(data)
	if err != nil {
		return nil, &FileError{path, err}
	}
	return o, nil
}

// text returns the string called name, "" if it is absent or null.
func (o object) text(name string) (string, error) {
	v := o[name]
	switch kind := v.Kind(); {
	case len(v) == 0, kind == 'n':
		return "", nil
	case kind != '"':
		return "", fmt.Errorf("%q is %s, and a string is wanted", name, kindName(v))
	}
	var s string
	err := json.Unmarshal(v, &s, tolerant)
	return s, err
}

// required is text for a member that must be there and not be empty.
func (o object) required(name string) (string, error) {
	s, err := o.text(name)
	if err == nil && s == "" {
		err = fmt.Errorf("%q is missing", name)
	}
	return s, err
}

// malformed strips the library's words from its errors and adds the place.
func malformed(data []byte, err error) error {
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		before := data[:min(int(s.ByteOffset), len(data))]
		line := 1 + bytes.Count(before, []byte("\n"))
		column := len(before) - bytes.LastIndexByte(before, '\n')
		return fmt.Errorf("%w: %w at line %d, column %d", ErrMalformed, s.Err, line, column)
	}
	return fmt.Errorf("%w: %s, and an object is wanted", ErrMalformed, kindName(data))
}

func kindName(v jsontext.Value) string {
	switch v.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "something else"
}
