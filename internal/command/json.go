package command

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
)

// PrintJSON prints v as indented JSON. In text that is not UTF-8, such as a path, invalid
// bytes are replaced by U+FFFD.
func PrintJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v, jsonx.Tolerant, json.Deterministic(true), jsontext.WithIndent("  "))
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
