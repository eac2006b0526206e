package lint

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// locate returns where every value of a JSON text begins: a member at its name,
// an element at its first byte.
func locate(data []byte) (map[jsontext.Pointer]int, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	places := make(map[jsontext.Pointer]int)
	for {
		start := int(dec.InputOffset())
		if _, err := dec.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) && len(places) > 0 {
				return places, nil
			}
			return nil, err
		}
		for start < len(data) && bytes.IndexByte([]byte(" \t\r\n,:"), data[start]) >= 0 {
			start++
		}
		if at := dec.StackPointer(); places[at] == 0 {
			places[at] = start
		}
	}
}

// position turns an offset into a line and a column.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(offset, len(data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
