package plugins

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// value is a JSON value together with its offset in the file, for errors. Members are
// decoded one by one, so that a member of the wrong type invalidates only itself. The
// zero value is an absent one.
type value struct {
	jsontext.Value
	file   *jsonx.Index
	offset int
}

// object holds the members of a JSON object.
type object struct {
	value
	members map[string]value
	names   []string // in the order of the file
}

// mistake is an ErrMalformed at one place of a file.
type mistake struct {
	at  jsonx.Position
	err error
}

func (m *mistake) Error() string        { return m.at.String() + ": " + m.err.Error() }
func (m *mistake) Unwrap() error        { return m.err }
func (m *mistake) Is(target error) bool { return target == ErrMalformed }

// mistake returns a mistake at the place of v, none for an absent value.
func (v value) mistake(format string, args ...any) error {
	m := &mistake{err: fmt.Errorf(format, args...)}
	if v.file != nil {
		m.at = v.file.At(v.offset)
	}
	return m
}

// readFile reads a file of the client that holds one object. Its errors are of type
// *FileError.
func readFile(fsys FS, path string) (object, error) {
	data, err := safefile.ReadFileIn(fsys, path, maxBytes)
	if err != nil {
		return object{}, fileError(path, err)
	}
	root, err := parse(bytes.TrimPrefix(data, []byte("\ufeff"))) // which the client accepts (fact 169)
	if err != nil {
		return object{}, &FileError{path, err}
	}
	o, err := root.object()
	if err != nil {
		return object{}, &FileError{path, err}
	}
	return o, nil
}

// parse checks the syntax of data completely, so that decoding its parts cannot fail
// later.
func parse(data []byte) (value, error) {
	if err := jsonx.Check(data, jsonx.Tolerant); err != nil {
		if syntax, ok := errors.AsType[*jsonx.SyntaxError](err); ok {
			err = &mistake{syntax.Position, syntax.Err}
		}
		return value{}, err
	}
	text := bytes.TrimLeft(data, " \t\r\n")
	return value{text, jsonx.NewIndex(data), len(data) - len(text)}, nil
}

// object returns the members of an object, and a mistake for any other value.
func (v value) object() (object, error) {
	if v.Kind() != '{' {
		return object{}, v.mistake("%s", jsonx.Got(v.Kind(), "an object"))
	}
	o := object{value: v, members: map[string]value{}}
	for p, err := range jsonx.Parts(v.Value) {
		if err != nil {
			return object{}, err
		}
		if _, again := o.members[p.Name]; !again {
			o.names = append(o.names, p.Name)
		}
		o.members[p.Name] = v.inside(p)
	}
	return o, nil
}

// items returns the items of an array, and a mistake for any other value.
func (v value) items() ([]value, error) {
	if v.Kind() != '[' {
		return nil, v.mistake("%s", jsonx.Got(v.Kind(), "an array"))
	}
	var items []value
	for p, err := range jsonx.Parts(v.Value) {
		if err != nil {
			return nil, err
		}
		items = append(items, v.inside(p))
	}
	return items, nil
}

// inside returns a part of v.
func (v value) inside(p jsonx.Part) value { return value{p.Value, v.file, v.offset + p.Offset} }

// absent reports whether v is absent or null.
func (v value) absent() bool { return len(v.Value) == 0 || v.Kind() == 'n' }

// text returns the string member called name, "" if it is absent.
func (o object) text(name string) (string, error) {
	v := o.members[name]
	if v.absent() {
		return "", nil
	}
	if v.Kind() != '"' {
		return "", v.mistake("%q: %s", name, jsonx.Got(v.Kind(), "a string"))
	}
	var s string
	err := json.Unmarshal(v.Value, &s, jsonx.Tolerant)
	return s, err
}

// required is like text, but fails if the member is absent or empty.
func (o object) required(name string) (string, error) {
	s, err := o.text(name)
	if err == nil && s == "" {
		err = o.mistake("%q is missing", name)
	}
	return s, err
}
