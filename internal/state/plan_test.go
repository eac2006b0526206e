package state

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestLinesOfAPlanAreFoundAgain: those that are left, in their order, whatever was removed, added or changed between them. The
// steps of a plan are in another order than its lines.
func TestLinesOfAPlanAreFoundAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 8).Draw(t, "words")
		text := func(word string) string { return "- [ ] " + word }
		var plan []workflow.PlanLine
		for i, word := range words {
			plan = append(plan, workflow.PlanLine{Line: i, Text: text(word)})
		}
		order := rapid.Permutation(plan).Draw(t, "order of the steps")
		keep := rapid.SliceOfN(rapid.Bool(), len(words), len(words)).Draw(t, "kept")
		var lines []string
		kept := 0
		for i, word := range words {
			if rapid.Bool().Draw(t, "added") {
				lines = append(lines, "- [ ] new")
			}
			if keep[i] {
				lines, kept = append(lines, text(word)), kept+1
			}
		}
		boxes := checklist.Read(strings.Join(lines, "\n")).Boxes
		at := aligned(order, boxes)
		found := 0
		last := -1
		for _, line := range plan {
			i := slices.Index(order, line)
			if at[i] < 0 {
				continue
			}
			require.Equal(t, line.Text, boxes[at[i]].Open)
			require.Greater(t, at[i], last)
			last, found = at[i], found+1
		}
		require.Equal(t, kept, found)
	})
}

func TestOfEqualLinesThatOfItsPlaceIsFound(t *testing.T) {
	plan := []workflow.PlanLine{{Line: 0, Text: "- [ ] test"}, {Line: 1, Text: "- [ ] a"}, {Line: 2, Text: "- [ ] test"},
		{Line: 3, Text: "- [ ] b"}}
	require.Equal(t, []int{-1, 0, 1, 2}, aligned(plan, checklist.Read("- [ ] a\n- [ ] test\n- [ ] b").Boxes))
	require.Equal(t, []int{0, 1, -1, 2}, aligned(plan, checklist.Read("- [ ] test\n- [ ] a\n- [ ] b").Boxes))
}
