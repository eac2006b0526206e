package outline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/outline"
)

func TestLinks(t *testing.T) {
	text := "See [a](refs/a.md#part), `./b.md`, @c.md and `refs/a.md`.\nNot [x](https://example.org/x.md), [y](../y.md), `/z.md`, `~/w.md`, " +
		"`{dir}/v.md`, [u](u.txt).\n"
	assert.Equal(t, []string{"refs/a.md", "b.md", "c.md"}, outline.Links([]byte(text)))
}

func TestFilesAreStepsInTheOrderOfTheirNumbers(t *testing.T) {
	steps := outline.Files([]outline.File{
		{Path: "s/step-10-end.md", Data: []byte("no heading")},
		{Path: "s/step-2.md", Data: []byte("---\nname: x\n---\n# Step 2: Look\n")},
		{Path: "s/01_begin_here.md"},
	})
	assert.Equal(t, "Begin here\nLook\nEnd\n", shown(steps, ""))
	assert.Equal(t, "Follow s/step-2.md.", steps[1].Description)
	assert.Equal(t, 4, steps[1].Line)
	assert.Equal(t, []int64{2}, steps[2].BlockedBy)
	for name, want := range map[string]bool{"step-01.md": true, "phase2-x.md": true, "03-x.md": true, "steps.md": false, "2024.md": false,
		"step-x.md": false, "readme.md": false} {
		assert.Equal(t, want, outline.IsStepFile(name), name)
	}
}

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
