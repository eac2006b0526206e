package install

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheSampleDoesNotMentionItsWorkflowFile(t *testing.T) {
	for _, name := range []string{Skill, Writer} {
		text, err := Skills.ReadFile("skills/" + name + "/SKILL.md")
		require.NoError(t, err)
		assert.NotContains(t, string(text), "fsm.json")
		assert.NotRegexp(t, `(?m)^name:`, string(text))
	}
}

func TestTheWorkflowOfTheSampleIsInOrder(t *testing.T) {
	data, err := Skills.ReadFile("skills/" + Skill + "/fsm.json")
	require.NoError(t, err)
	var tasks []struct {
		ID        int    `json:"id"`
		Subject   string `json:"subject"`
		BlockedBy []int  `json:"blockedBy"`
	}
	require.NoError(t, json.Unmarshal(data, &tasks))
	require.Len(t, tasks, 5)
	for i, task := range tasks {
		assert.Equal(t, i+1, task.ID)
		assert.NotEmpty(t, task.Subject)
		for _, id := range task.BlockedBy {
			assert.Less(t, id, task.ID, "a task depends on earlier tasks only")
			assert.Positive(t, id)
		}
	}
}
