package command

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/outline"
)

// unedited warns of the steps that still are those of fsmtx new --template. An agent would
// work through them, and none of them says what to do.
func unedited(data []byte, spec *fsmspec.Spec) (warnings []fsmspec.Problem) {
	ids := outline.Unedited(spec.Tasks())
	if len(ids) == 0 {
		return nil
	}
	index, offsets := jsonx.NewIndex(data), elements(data)
	for i, t := range spec.Tasks() {
		if !slices.Contains(ids, t.ID) || i >= len(offsets) {
			continue
		}
		at := index.At(offsets[i])
		warnings = append(warnings, fsmspec.Problem{
			Line: at.Line, Column: at.Column, Offset: int64(offsets[i]), Pointer: fmt.Sprintf("/%d", i), Warning: true,
			Message: fmt.Sprintf("task %d (%q): this is an example of fsmtx new that nobody has edited: write the steps of the skill", t.ID, t.Subject),
		})
	}
	return warnings
}

// elements returns the offsets of the elements of a valid array.
func elements(array []byte) (offsets []int) {
	d := jsontext.NewDecoder(bytes.NewReader(array))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		offsets = append(offsets, int(d.InputOffset())-len(value))
	}
	return offsets
}
