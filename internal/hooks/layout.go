package hooks

import (
	"bytes"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// layout holds the offset of every value of a JSON text: for a member that of its name, for
// an element that of its first byte. Of members with the same name the last one counts; the
// others are in replaced.
type layout struct {
	offsets  map[jsontext.Pointer]int
	replaced []member
}

type member struct {
	name   string
	offset int
}

// layoutOf returns the layout of valid JSON.
func layoutOf(data []byte) layout {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsonx.Tolerant)
	l := layout{offsets: make(map[jsontext.Pointer]int)}
	for {
		start := int(dec.InputOffset())
		token, err := dec.ReadToken()
		if err != nil {
			return l // the end
		}
		for start < len(data) && bytes.IndexByte([]byte(" \t\r\n,:"), data[start]) >= 0 {
			start++
		}
		at := dec.StackPointer()
		kind, length := dec.StackIndex(dec.StackDepth())
		switch earlier, known := l.offsets[at]; {
		case !known:
			l.offsets[at] = start
		case kind == '{' && length%2 == 1: // the name of a member
			l.replaced = append(l.replaced, member{token.String(), earlier})
			maps.DeleteFunc(l.offsets, func(p jsontext.Pointer, _ int) bool { return strings.HasPrefix(string(p), string(at)+"/") })
			l.offsets[at] = start
		}
	}
}
