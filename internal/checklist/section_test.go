package checklist_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/checklist"
)

// TestParts: what stands below an item, indented, below a heading that is a box, or has a number that begins with its number. Nothing
// is part of an item that has no box.
func TestParts(t *testing.T) {
	for text, want := range map[string][]int{
		"- [ ] a\n  - [ ] b\n    - [ ] c\n- [ ] d":        {2, 1, 0, 0},
		"- [ ] a\n- Group\n  - [ ] b":                     {0, 0},
		"- [ ] a\n  - Group\n    - [ ] b":                 {1, 0},
		"- [ ] a\n - [ ] b":                               {0, 0},
		"- [ ] a\n\nText.\n\n  - [ ] b":                   {0, 0},
		"- [ ] 2 a\n- [ ] 2.1 b\n  - [ ] c\n- [ ] 20.1 d": {2, 1, 0, 0},
		"## [ ] a\n- [ ] b\n### [ ] c\n- [ ] d\n## [ ] e": {3, 0, 1, 0, 0},
		"- [ ] a\n[ ] b\n  [ ] c":                         {0, 1, 0},
	} {
		list := checklist.Read(text)
		require.Empty(t, list.Faults, text)
		var got []int
		for i := range list.Boxes {
			got = append(got, len(checklist.Parts(list.Boxes, i)))
		}
		require.Equal(t, want, got, text)
	}
}
