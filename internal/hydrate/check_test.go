package hydrate_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hydrate"
)

// ran writes a transcript of a turn in which the client ran skills from these folders, in
// this order, and checks them.
func (h *home) ran(folders ...string) (*hydrate.Hydration, hydrate.Result) {
	text := `{"promptId":"p1","type":"user","message":{"role":"user","content":"go"}}` + "\n"
	for i, folder := range folders {
		text += fmt.Sprintf(`{"message":{"content":[{"id":"t%d","input":{"skill":%q},"name":"Skill","type":"tool_use"}]},"type":"assistant"}`+"\n", i, filepath.Base(folder))
		text += fmt.Sprintf(`{"promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this skill: %s\n\nDo it.\n"}]},"isMeta":true,"sourceToolUseID":"t%d"}`+"\n",
			filepath.Join(h.dir, folder), i)
	}
	h.write("transcript.jsonl", text)
	e := &event.Event{Name: event.Stop, SessionID: "list", Cwd: h.dir, PromptID: "p1", TranscriptPath: filepath.Join(h.dir, "transcript.jsonl")}
	_, found, result, err := hydrate.Check(h.t.(*testing.T).Context(), e, h.env, hydrate.Options{})
	require.NoError(h.t, err)
	return found, result
}

// TestCheckLooksAtWhatWasPredictedWrongly: a skill in the predicted folder is left alone,
// whatever the history of the list says. Skills of a turn are looked at from the last one
// back to the first that has a workflow.
func TestCheckLooksAtWhatWasPredictedWrongly(t *testing.T) {
	const near, far, plain = ".claude/skills/near", "elsewhere/far", ".claude/skills/plain"
	h := newHome(t)
	for _, folder := range []string{near, far, plain} {
		h.write(folder+"/SKILL.md", "")
	}
	for _, folder := range []string{near, far} {
		h.write(folder+"/fsm.json", `[{"id": 1, "subject": "a"}]`)
	}
	found, _ := h.ran(near)
	assert.Nil(t, found, "the predicted folder")
	found, _ = h.ran(far, near)
	assert.Nil(t, found, "a later skill has replaced the tasks")
	for _, folders := range [][]string{{far}, {far, plain}} {
		found, result := h.ran(folders...)
		require.NotNil(t, found, "%v", folders)
		assert.Equal(t, &hydrate.Mistake{Dir: filepath.Join(h.dir, far), Spec: filepath.Join(h.dir, far, "fsm.json")}, result.Mistake, "%v", folders)
	}

	_, err := h.hydrateSkill("near") // for another call
	require.NoError(t, err)
	_, result := h.ran(far)
	assert.Empty(t, result.Mistake.Taken, "those were not the tasks of this call")
}
