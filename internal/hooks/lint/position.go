package lint

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// layout is where every value of a JSON text begins: a member at its name, an
// element at its first byte. Of members with the same name the last one counts;
// the others are in replaced.
type layout struct {
	places   map[pointer]int
	replaced []member
}

type member struct {
	name   string
	offset int
}

func locate(data []byte) (layout, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	l := layout{places: make(map[pointer]int)}
	for {
		start := int(dec.InputOffset())
		token, err := dec.ReadToken()
		if err != nil {
			if errors.Is(err, io.EOF) && len(l.places) > 0 {
				return l, nil
			}
			return layout{}, err
		}
		for start < len(data) && bytes.IndexByte([]byte(" \t\r\n,:"), data[start]) >= 0 {
			start++
		}
		at := dec.StackPointer()
		kind, length := dec.StackIndex(dec.StackDepth())
		switch earlier, known := l.places[at]; {
		case !known:
			l.places[at] = start
		case kind == '{' && length%2 == 1: // the name of a member
			l.replaced = append(l.replaced, member{token.String(), earlier})
			maps.DeleteFunc(l.places, func(p pointer, _ int) bool { return strings.HasPrefix(string(p), string(at)+"/") })
			l.places[at] = start
		}
	}
}

// position turns an offset into a line and a column.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(offset, len(data))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
