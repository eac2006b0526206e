package outline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
