package crash

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// TestAHydrationMakesFewSystemCalls, of those that may fail: with 10 tasks in place of 10, and a full history. What the same program
// needs for a skill without a workflow is not counted. Package os makes five calls for each file that it opens for writing.
func TestAHydrationMakesFewSystemCalls(t *testing.T) {
	w := newWorld(t)
	w.addSkill(t, "ten", 10)
	for range 12 { // beyond the length of the history
		_, err := w.hydrate("ten", nil)
		require.NoError(t, err)
	}
	_, err := tasks.List{Dir: w.List()}.Recover(t.Context()) // as the next event
	require.NoError(t, err)
	count := func(skill string) int {
		o, calls, _ := w.faulty(t, fmt.Sprintf(`"hook_event_name":"PostToolUse","tool_name":"Skill","tool_input":{"skill":%[1]q},`+
			`"tool_response":{"success":true,"commandName":%[1]q}`, skill), noFault)
		require.Zero(t, o.code, o.stderr)
		return len(calls)
	}
	before := w.Tasks(t)
	idle, all := count("none"), count("ten")
	assert.NotEqual(t, worlds.Names(before), worlds.Names(w.Tasks(t)))
	t.Logf("%d calls, of which %d are those of a hydration", all, all-idle)
	assert.Less(t, all-idle, 720)
}
