package command

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// printJSON prints v, indented, for programs. Text that is not UTF-8, such as a
// path, is printed with U+FFFD in place of the invalid bytes.
func printJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v, jsonx.Tolerant, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return writeJSON(w, text)
}

// writeJSON prints a JSON text. What a terminal must not get is printed as an escape, and
// so has its true value for a program.
func writeJSON(w io.Writer, text []byte) error {
	_, err := w.Write(append(visible.JSON(text), '\n'))
	return err
}
