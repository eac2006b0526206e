package fsmspec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

const demanding = `{"fsm": 2, "steps": [
	{"id": 1, "subject": "A", "do": "my-plugin:notes"},
	{"id": 2, "subject": "B", "description": "How.", "do": [{"id": 1, "subject": "C", "do": "apps/web:deploy"}]},
	{"id": 3, "subject": "D", "do": "my-plugin:notes"}]}`

func TestDemandedSkills(t *testing.T) {
	spec := must(fsmspec.Parse([]byte(demanding)))
	assert.Equal(t, []string{"my-plugin:notes", "apps/web:deploy"}, spec.Skills())
	assert.Equal(t, "Call the skill my-plugin:notes while this step is in progress: it cannot be completed before.", shown(spec, 0, 0))
	assert.Equal(t, "How.", shown(spec, 1, 0))
}

// TestASkillDoesNotDemandItself: under the name of its author or that of its plugin.
func TestASkillDoesNotDemandItself(t *testing.T) {
	for _, of := range []string{"notes", "my-plugin:notes", "deploy", "apps/web:deploy"} {
		_, err := fsmspec.ParseOf(of, []byte(demanding))
		var invalid *fsmspec.InvalidError
		require.ErrorAs(t, err, &invalid, of)
		assert.Contains(t, invalid.Problems[0].Message, "is the skill of this workflow, and a skill cannot be inside itself")
	}
	for _, of := range []string{"", "other-notes", "my-plugin:other", "my-plugin", "your-plugin:notes"} {
		_, err := fsmspec.ParseOf(of, []byte(demanding))
		require.NoError(t, err, of)
	}
	_, err := fsmspec.Parse([]byte(`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "do": "` + strings.Repeat("n", 201) + `"}]}`))
	require.ErrorContains(t, err, "")
	_, err = fsmspec.Parse([]byte(`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "do": "` + strings.Repeat("n", 200) + `"}]}`))
	require.NoError(t, err)
}
