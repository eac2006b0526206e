package command

import (
	"errors"
	"io"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
)

// PrintJSON prints v as indented JSON. In text that is not UTF-8, such as a path, invalid
// bytes are replaced by U+FFFD.
func PrintJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v, jsonx.Tolerant, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return WriteJSON(w, text)
}

// WriteJSON prints a JSON text. Characters that are harmful in a terminal are printed as
// JSON escapes, so programs still get their values.
func WriteJSON(w io.Writer, text []byte) error {
	_, err := w.Write(append(message.JSON(text), '\n'))
	return err
}

// withMembers returns a JSON object with these values in the place of the members of the same names.
func withMembers(object jsontext.Value, values map[string]any) (jsontext.Value, error) {
	members, err := jsonx.Members(object)
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
	return json.Marshal(all, jsonx.Tolerant, json.Deterministic(true))
}
