package write

import (
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
	index, at := jsonx.NewIndex(data), stepsIn(data)
	for i, t := range spec.Tasks() {
		if !slices.Contains(ids, t.ID) || i >= len(at) {
			continue
		}
		start := index.At(at[i].offset)
		warnings = append(warnings, fsmspec.Problem{
			Line: start.Line, Column: start.Column, Offset: int64(at[i].offset), Pointer: at[i].pointer, Warning: true,
			Message: fmt.Sprintf("task %d (%q): this is an example of fsmtx new that nobody has edited: write the steps of the skill",
				t.ID, t.Subject),
		})
	}
	return warnings
}

// place is where a step of a file is.
type place struct {
	pointer string
	offset  int
}

// stepsIn returns the places of the steps in a valid file, an array or an object.
func stepsIn(data []byte) (all []place) {
	root, start, array := "", 0, jsontext.Value(data)
	for p := range jsonx.Parts(data) {
		if p.Name == "steps" {
			root, start, array = "/steps", p.Offset, p.Value
		}
	}
	for p := range jsonx.Parts(array) {
		all = append(all, place{fmt.Sprintf("%s/%d", root, len(all)), start + p.Offset})
	}
	return all
}
