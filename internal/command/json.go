package command

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// printJSON prints v, indented, for programs. Text that is not UTF-8, such as a
// path, is printed with U+FFFD in place of the invalid bytes.
func printJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v, jsonx.Tolerant, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
