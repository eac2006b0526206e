//go:build agents

package agents_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestTheTrackerShowsTheSteps: where Gemini CLI's task tracker is switched on, it shows the steps,
// and what its tools change in them is judged.
func TestTheTrackerShowsTheSteps(t *testing.T) {
	of(t, []*agents.Agent{agents.Gemini()}, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		w.Write("home/.gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "experimental": {"taskTracker": true}}`)
		fsmtx(t, w, program, "install", "--agent", a.Program)
		list := func(id string) Turn { return Do(Call(id, "tracker_list_tasks", map[string]any{})) }
		update := func(id, task, field, value string) Turn {
			return Do(Call(id, "tracker_update_task", map[string]any{"id": task, field: value}))
		}

		r := w.Prompt(Script{Main: []Turn{
			Do(a.TakeUp("take", "ship")),
			list("begun"),
			update("early", "000003", "status", "in_progress"),
			update("title", "000004", "title", "Nothing"),
			Do(Call("depend", "tracker_add_dependency", map[string]any{"taskId": "000004", "dependencyId": "000001"})),
			update("check", "000001", "status", "closed"),
			Do(a.Bash("complete", "touch ok; "+program+" complete 1")),
			update("notes", "000004", "status", "closed"),
			Do(Call("own", "tracker_create_task", map[string]any{"title": "Mine", "description": "D", "type": "task"})),
			list("later"),
			Say("Done."), Say("Really done."), Say("Too much."),
		}}, "ship it")

		require.Zero(t, r.Code)
		assert.True(t, r.Exchanges(Main)[1].Request.Says("Your task tracker shows the steps too: #1 is 000001 there"))
		for id, want := range map[string][]string{
			"begun":    {"[000001] Build (open)", "[000002] Review (open)", "[000003] Publish (open)", "[000004] Notes (open)"},
			"early":    {`"Publish" cannot be started`},
			"title":    {"its subject must not change"},
			"depend":   {"what it waits for must not change"},
			"check":    {"Run in the shell: " + program + " complete 1"},
			"complete": {`"Build" is done`},
			"notes":    {"Updated task 000004. Status: closed"},
			"later":    {"[000001] Build (closed)", "[000003] Publish (open)", "[000004] Notes (closed)", "] Mine (open)"},
		} {
			result, ok := r.Result(id)
			require.True(t, ok, id)
			for _, text := range want {
				assert.Contains(t, plain(result.Text), text, id)
			}
		}
		left, err := filepath.Glob(w.Path("home/.gemini/tmp/*/*/*fsmtx-*"))
		require.NoError(t, err)
		assert.Empty(t, left)
		assert.Contains(t, fsmtx(t, w, program, "next").Stdout, "2 of 4 steps are done", "the list that is worked on agrees")
	})
}
