//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// A subagent is sent back to the step that it has started, and to no other; the payload
// of SubagentStop lists it among what is running (fact 40).
func TestASubagentIsSentBackToItsStep(t *testing.T) {
	s := held(t, `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Look"}]`, "--stop", "remind")

	r := s.Prompt(Script{
		Main: []Turn{
			Do(Skill("skill", "release")), load,
			Do(TaskUpdate("start 2", "2", "in_progress")),
			Do(Agent("idle", "general-purpose", "be idle")),
			Do(Agent("writer", "general-purpose", "be a writer")),
			Do(TaskUpdate("complete 2", "2", "completed")),
			Say("done"),
		},
		Agents: map[string][]Turn{
			"be idle": {Say("idled")},
			"be a writer": {
				load,
				Do(TaskUpdate("start 1", "1", "in_progress")),
				Say("wrote"), // sent back
				Do(TaskUpdate("complete 1", "1", "completed")),
				Say("wrote it all"),
			},
		},
	}, "go")

	allowed(t, r, "start 1", "complete 1", "start 2", "complete 2")
	assert.Contains(t, r.Text("idle"), "idled")
	assert.Contains(t, r.Text("writer"), "wrote it all")
	var told string
	for _, x := range r.Exchanges(Subagent) {
		told += x.Request.News()
	}
	assert.Contains(t, told, `#1 "Write" is in progress.`)
	assert.NotContains(t, told, `#2 "Look"`)
	assert.Equal(t, "done", r.Final)
	require.Equal(t, 2, stateOf(t, s).DoneCount())
}
