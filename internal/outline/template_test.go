package outline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/outline"
)

func TestUneditedStepsAreFound(t *testing.T) {
	steps := outline.Template()
	spec, err := fsmspec.Parse(outline.JSON(steps, nil))
	assert.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3}, outline.Unedited(spec.Tasks()))
	steps[1].Description = "Build the image."
	spec, err = fsmspec.Parse(outline.JSON(steps, nil))
	assert.NoError(t, err)
	assert.Equal(t, []int64{1, 3}, outline.Unedited(spec.Tasks()))
}

// TestEveryBoxIsAStepOrIsNamed: with a form that leaves boxes out the outline says so, and tasks alone takes each.
func TestEveryBoxIsAStepOrIsNamed(t *testing.T) {
	text := "# Plan\n\n## Phase 1: Setup\n\n### Task 1.1: Create\n- [ ] One\n- [x] Two {key}\n\n### Task 1.2: Set\n- [ ] Three\n\n" +
		"## Phase 2: Core\n\n### Task 2.1: Model\n- [ ] Four\n"
	o := outline.Markdown([]byte(text), "")
	require.Equal(t, "4 of its 4 boxes would be no steps (lines 6–7, 10, 15)", o.Unsure)
	require.Equal(t, `every box (4, the first is "One")`, o.Tied[0].What)
	o = outline.Markdown([]byte(text), outline.Tasks)
	require.Len(t, o.Steps, 4)
	require.Equal(t, "completed", o.Steps[1].Status)
	o = outline.Markdown([]byte(text), "headings:3")
	require.Len(t, o.Steps, 2)
	require.Equal(t, outline.Left{Line: 6, What: "4 of its 4 boxes would be no steps (lines 6–7, 10, 15)"}, o.Left[0])
	_, err := fsmspec.Parse(outline.JSON(o.Steps, nil))
	require.NoError(t, err, "{key} stands for itself")
	require.Contains(t, string(outline.JSON(o.Steps, nil)), "{{key}}")

	o = outline.Markdown([]byte("- [ ] One\n- [ ] Two\n\n```\n- [ ] Three\n"), "")
	require.Equal(t, "line 4: the code that begins here does not end, and the box in line 5 is in it", o.Unsure)
}
