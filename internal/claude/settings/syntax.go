package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// document is the settings as a tree that keeps every byte.
type document struct {
	root hujson.Value
	top  object // the value of root
}

// parse reads settings. The strict reader goes first: the tree's own parser
// takes comments, trailing commas, duplicate names and any depth. data must not
// change as long as the document is used.
func parse(data []byte) (document, error) {
	if err := checkSyntax(data); err != nil {
		return document{}, err
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return document{}, fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	top, err := asObject(root.Value, "")
	return document{root, top}, err
}

func checkSyntax(data []byte) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%w: not UTF-8 at %s", ErrNotJSON, position(data, int64(validPrefix(data))))
	}
	// Valid UTF-8 may still escape half a surrogate pair, which JSON's grammar
	// allows.
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true))
	_, err := dec.ReadValue()
	if err == nil {
		_, err = dec.ReadToken()
		if err == nil {
			return fmt.Errorf("%w: something follows the end at %s", ErrNotJSON, position(data, dec.InputOffset()))
		}
		if err == io.EOF {
			return nil
		}
	}
	return syntaxError(data, err)
}

func syntaxError(data []byte, err error) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("%w: it is empty", ErrNotJSON)
	}
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	at := position(data, syntactic.ByteOffset)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("%w: %s at %s", ErrDuplicate, syntactic.JSONPointer, at)
	}
	return fmt.Errorf("%w: %w at %s", ErrNotJSON, syntactic.Err, at)
}

// position returns an offset as an editor shows it; columns count bytes.
func position(data []byte, offset int64) string {
	before := data[:min(offset, int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d", line, column)
}

func validPrefix(data []byte) (n int) {
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}
