//go:build e2e

// Calls that belong to a step: only.

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/gates"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/state"
	lists "github.com/fsmtx/fsmtx/internal/tasks"
)

// pushed is review, push, tell. The sandbox has no repository, so git push fails; a call that is
// refused has the reason of the hook.
const pushed = `{"fsm": 2, "steps": [
	{"id": 1, "subject": "Review"},
	{"id": 2, "subject": "Push", "blockedBy": [1], "only": ["Bash(git push *)", "Write(notes/**)"]},
	{"id": 3, "subject": "Tell people", "blockedBy": [2]}
]}`

func writing(id, path string) Block {
	return Call(id, "Write", map[string]any{"file_path": path, "content": "text"})
}

func TestCallsBelongToSteps(t *testing.T) {
	s := held(t, pushed)
	tried := "git push || true"
	r := s.Prompt(Script{Main: append(begun(),
		Do(Bash("early", "cd . && "+tried)),
		Do(Bash("hidden", "sh -c 'timeout 5 git push'; true")),
		Do(writing("note early", s.Path("project/notes/a.md"))),
		Do(Bash("said", "echo git push")),
		Do(writing("elsewhere", s.Path("project/b.md"))),
		Do(TaskUpdate("review", "1", "completed")),
		Do(TaskUpdate("start", "2", "in_progress"), Bash("beside", tried)),
		Do(Bash("in time", tried)),
		Do(writing("note in time", s.Path("project/notes/c.md"))),
		Do(TaskUpdate("pushed", "2", "completed")),
		Do(Bash("late", tried)),
		Say("done"))}, "go")
	reason := denied(t, r, "early")
	assert.Contains(t, reason, `git push belongs to #2 "Push", which waits for #1 "Review". Ready: #1 "Review".`)
	assert.Contains(t, reason, "fsmtx step allow 'Bash(git push *)'")
	denied(t, r, "hidden")
	assert.Contains(t, denied(t, r, "note early"), `belongs to #2 "Push"`)
	assert.NoFileExists(t, s.Path("project/notes/a.md"))
	allowed(t, r, "said", "elsewhere", "review", "start", "beside", "in time", "note in time", "pushed")
	assert.FileExists(t, s.Path("project/notes/c.md"))
	assert.Contains(t, denied(t, r, "late"), `"Push", which is done. Ready: #3`)

	// A person lets one call through; at the end of the workflow the calls are free.
	frame := &gates.Frame{Store: state.Store{List: lists.List{Dir: list(s), Wait: 5 * time.Second}, Session: s.Session}}
	_, err := frame.Permit(t.Context(), "Bash(git push *)", "once more", state.By{Who: state.ThePerson, How: state.AtTerminal})
	require.NoError(t, err)
	r = s.Prompt(Script{Main: []Turn{
		load,
		Do(Bash("once", tried)),
		Do(Bash("twice", tried)),
		Do(TaskUpdate("tell", "3", "completed")),
		Do(Bash("free", tried)),
		Say("done"),
	}}, "again")
	allowed(t, r, "once", "tell", "free")
	denied(t, r, "twice")
}
