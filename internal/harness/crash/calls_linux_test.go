package crash_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// TestAHydrationMakesFewSystemCalls: of 10 tasks in place of 10, with a full history. What the
// same program needs for a skill without a workflow is not counted.
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
		event := w.Path("event")
		require.NoError(t, os.WriteFile(event, fmt.Appendf(nil, `{"session_id":%q,"cwd":"/","hook_event_name":"PostToolUse","tool_name":"Skill",
"tool_input":{"skill":%[2]q},"tool_response":{"success":true,"commandName":%[2]q}}`, worlds.ListID, skill), 0o600))
		in, err := os.Open(event)
		require.NoError(t, err)
		defer in.Close()
		c := exec.Command("/proc/self/exe", "hydrate")
		c.Env, c.Stdin = []string{"FSMTX_TEST_FSMTX=1", "HOME=" + w.Dir, raceOptions}, in
		n, err := countCalls(c)
		if errors.Is(err, errNoTrace) {
			t.Skip(err)
		}
		require.NoError(t, err)
		return n
	}
	before := w.Tasks(t)
	idle, all := count("none"), count("ten")
	assert.NotEqual(t, worlds.Names(before), worlds.Names(w.Tasks(t)))
	t.Logf("%d calls, of which %d are those of a hydration", all, all-idle)
	assert.Less(t, all-idle, 720)
}
