package outline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/outline"
)

func TestWhatIsLeftOutIsSaid(t *testing.T) {
	o := outline.Markdown([]byte(`---
name: x
---
# Title

## Rules

1. One rule
2. Another rule
3. A third rule

## Workflow

1. Open it
   ### not a heading of the text
2. Close it
3. Lock it

## Notes
Text.
`))
	assert.Equal(t, "Open it | Close it | Lock it", subjects(o.Steps))
	assert.Equal(t, 14, o.Steps[0].Line, "counted in the file, with its frontmatter")
	assert.Equal(t, []outline.Left{
		{Line: 6, What: "Rules"},
		{Line: 8, What: `a numbered list (3, the first is "One rule")`, Why: `it is under "Rules", few of its items are instructions`},
		{Line: 19, What: "Notes"},
	}, o.Left)
}

func TestEquallyGoodWorkflowsAreNamed(t *testing.T) {
	o := outline.Markdown([]byte("# T\n\n## Draw workflow\n1. Open\n2. Draw\n3. Close\n\n## Print workflow\n1. Open\n2. Print\n3. Close\n"))
	assert.Empty(t, o.Steps)
	assert.Len(t, o.Tied, 2)
	assert.Equal(t, 4, o.Tied[0].Line)
	assert.Equal(t, 9, o.Tied[1].Line)
}
