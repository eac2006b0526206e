package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
)

// bom is the byte order mark.
const bom = "\ufeff"

// parseFile returns the JSON object in the content of a settings file. Every value keeps its
// offset in data: comments, trailing commas and a byte order mark, if the dialect allows them,
// are replaced by spaces. The error is a *jsonx.SyntaxError.
func parseFile(d dialect.Dialect, data []byte) (jsontext.Value, error) {
	rest, marked := bytes.CutPrefix(data, []byte(bom))
	if !marked || !d.Settings.Marked {
		return parse(d, data)
	}
	value, err := parse(d, slices.Concat(bytes.Repeat([]byte(" "), len(bom)), rest))
	if syntax, ok := errors.AsType[*jsonx.SyntaxError](err); ok {
		syntax.Position = jsonx.PositionAt(data, syntax.Offset)
	}
	return value, err
}

func parse(d dialect.Dialect, data []byte) (jsontext.Value, error) {
	if d.Settings.Comments {
		plain, err := commented.Plain(data)
		if err != nil {
			return nil, explain(data, err)
		}
		data = plain
	}
	if err := jsonx.Check(data, jsonx.Tolerant); err != nil {
		return nil, err
	}
	value := jsontext.Value(data)
	if value.Kind() != '{' {
		start := len(data) - len(strings.TrimLeft(string(data), " \t\r\n"))
		return nil, &jsonx.SyntaxError{
			Position: jsonx.PositionAt(data, start), Offset: start,
			Err: errors.New(jsonx.Got(value.Kind(), "an object")),
		}
	}
	return value, nil
}

// explain turns an error of hujson, whose columns count bytes, into one of jsonx.
func explain(data []byte, err error) error {
	var line, column int
	if n, _ := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); n != 2 {
		return jsonx.Explain(data, err)
	}
	offset := lineOffset(data, line) + column - 1
	return &jsonx.SyntaxError{Position: jsonx.PositionAt(data, offset), Offset: offset, Err: errors.Unwrap(err)}
}

// lineOffset returns the offset at which a line begins; the first line is 1. A line beyond the
// last one begins at the end.
func lineOffset(data []byte, line int) int {
	offset := 0
	for text := range bytes.Lines(data) {
		if line--; line == 0 {
			break
		}
		offset += len(text)
	}
	return offset
}

// hooksOf returns the member "hooks" of an object that parseFile returned, nil if it is absent.
func hooksOf(text jsontext.Value) jsontext.Value {
	o, _ := jsonx.SplitObject(text)
	return o.Get("hooks")
}
