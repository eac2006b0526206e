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

// section is one of a plan, with the texts of its boxes.
type section struct {
	title string
	boxes []string
}

// textOf returns a plan with sections.
func textOf(sections []section) string {
	var text strings.Builder
	for _, s := range sections {
		text.WriteString("## " + s.title + "\n")
		for _, b := range s.boxes {
			text.WriteString("- [ ] " + b + "\n")
		}
	}
	return text.String()
}

func planOf(text string) (plan []workflow.PlanLine) {
	for _, b := range checklist.Read(text).Boxes {
		plan = append(plan, workflow.PlanLine{Line: b.Line, Text: b.Text, Above: b.Headings()})
	}
	return plan
}

// TestTheLinesOfAPlanAreFoundAgain when its sections were moved: each line that has another text or other headings than the rest, and no
// line in the place of another.
func TestTheLinesOfAPlanAreFoundAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 4)
		var sections []section
		for _, title := range rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B", "C"}), 1, 4).Draw(t, "titles") {
			sections = append(sections, section{title, words.Draw(t, "boxes")})
		}
		plan := planOf(textOf(sections))
		order := rapid.Permutation(plan).Draw(t, "order of the steps")
		moved := rapid.Permutation(sections).Draw(t, "moved")
		boxes := checklist.Read(textOf(moved)).Boxes
		at := aligned(order, boxes)
		for i, line := range order {
			equal := 0
			for _, other := range plan {
				if other.Text == line.Text && other.Above == line.Above {
					equal++
				}
			}
			if equal == 1 {
				require.GreaterOrEqual(t, at[i], 0)
			}
			if at[i] >= 0 {
				require.Equal(t, line.Text, boxes[at[i]].Text)
				require.Equal(t, line.Above, boxes[at[i]].Headings())
				require.Equal(t, 1, len(slices.DeleteFunc(slices.Clone(at), func(j int) bool { return j != at[i] })))
			} else {
				require.Equal(t, unclear, at[i])
			}
		}
		if textOf(moved) == textOf(sections) {
			require.NotContains(t, at, unclear)
		}
	})
}

func TestWhichBoxIsThatOfALine(t *testing.T) {
	const plan = "## A\n- [ ] test\n- [ ] a\n## B\n- [ ] test\n- [ ] b\n"
	for name, c := range map[string]struct {
		was, now string
		want     []int
	}{
		"nothing has changed":               {plan, plan, []int{0, 1, 2, 3}},
		"equal lines, and nothing changed":  {"- [ ] x\n- [ ] a\n- [ ] x\n", "- [ ] x\n- [ ] a\n- [ ] x\n", []int{0, 1, 2}},
		"one of equal lines is gone":        {"- [ ] x\n- [ ] a\n- [ ] x\n", "- [ ] a\n- [ ] x\n", []int{unclear, 0, unclear}},
		"equal lines, and another is moved": {"- [ ] x\n- [ ] a\n- [ ] x\n", "- [ ] x\n- [ ] x\n- [ ] a\n", []int{unclear, 2, unclear}},
		"there is a second one":             {"- [ ] x\n", "- [ ] x\n- [ ] x\n", []int{unclear}},
		"a line was moved":                  {"- [ ] x\n- [ ] a\n", "- [ ] a\n- [ ] x\n", []int{1, 0}},
		"a line has another mark":           {"- [ ] x\n- [ ] a\n", "* [x] x\n  1. [ ] a\n", []int{0, 1}},
		"a line was changed":                {"- [ ] x\n- [ ] a\n", "- [ ] y\n- [ ] a\n", []int{gone, 1}},
		"a section was moved":               {plan, "## B\n- [ ] test\n- [ ] b\n## A\n- [ ] test\n- [ ] a\n", []int{2, 3, 0, 1}},
		"a section is gone":                 {plan, "## B\n- [ ] test\n- [ ] b\n", []int{gone, gone, 0, 1}},
		"a section has another title":       {plan, "## A\n- [ ] test\n- [ ] a\n## C\n- [ ] test\n- [ ] b\n", []int{0, 1, 2, 3}},
		"both have another title":           {plan, "## C\n- [ ] test\n- [ ] a\n## D\n- [ ] test\n- [ ] b\n", []int{unclear, 1, unclear, 3}},
		"the whole has a title now":         {plan, "# T\n" + plan, []int{0, 1, 2, 3}},
		"a line was moved to a section":     {plan, "## A\n- [ ] test\n## B\n- [ ] test\n- [ ] b\n- [ ] a\n", []int{0, 3, 1, 2}},
		"a line is in another section twice": {plan, "## A\n- [ ] a\n## B\n- [ ] test\n- [ ] test\n- [ ] b\n",
			[]int{unclear, 0, unclear, 3}},
	} {
		require.Equal(t, c.want, aligned(planOf(c.was), checklist.Read(c.now).Boxes), name)
	}
}
