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

// ran runs a check at the end of a turn in which the client ran skills from these
// folders, in this order.
func (h *home) ran(folders ...string) (*hydrate.Hydration, hydrate.Result) {
	text := `{"promptId":"p1","type":"user","message":{"role":"user","content":"go"}}` + "\n"
	for i, folder := range folders {
		text += fmt.Sprintf(`{"message":{"content":[{"id":"t%d","input":{"skill":%q},"name":"Skill","type":"tool_use"}]},"type":"assistant"}`+
			"\n", i, filepath.Base(folder))
		text += fmt.Sprintf(`{"promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this `+
			`skill: %s\n\nDo it.\n"}]},"isMeta":true,"sourceToolUseID":"t%d"}`+"\n",
			filepath.Join(h.dir, folder), i)
	}
	return h.checked(text)
}

// checked runs a check with a transcript.
func (h *home) checked(transcript string) (*hydrate.Hydration, hydrate.Result) {
	h.write("transcript.jsonl", transcript)
	e := &event.Event{Name: event.Stop, SessionID: "list", Cwd: h.dir, PromptID: "p1",
		TranscriptPath: filepath.Join(h.dir, "transcript.jsonl")}
	_, found, result, err := hydrate.Check(h.t.(*testing.T).Context(), e, h.env, hydrate.Options{})
	require.NoError(h.t, err)
	return found, result
}

// typesNear hydrates the skill near, which the person types.
func (h *home) typesNear() {
	r, skip, err := hydrate.Understand(&event.Event{Name: event.UserPromptExpansion, SessionID: "list", Cwd: h.dir,
		PromptID: "p1", ExpansionType: "slash_command", CommandName: "near"})
	require.NoError(h.t, err)
	require.Empty(h.t, skip)
	_, err = hydrate.Run(h.t.(*testing.T).Context(), r, h.env, hydrate.Options{})
	require.NoError(h.t, err)
}

// runsFar is the transcript of a client that runs the skill in elsewhere/far after the person typed
// the name.
func (h *home) runsFar(typed string) string {
	return fmt.Sprintf(`{"promptId":"p1","type":"user","message":{"role":"user",`+
		`"content":"<command-message>%[1]s</command-message>\n<command-name>/%[1]s</command-name>"}}`+"\n"+
		`{"promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this skill: %[2]s`+
		`/elsewhere/far\n\nDo it."}]},"isMeta":true}`+"\n", typed, h.dir)
}

// TestCheckFindsAWrongPrediction: for a skill in the predicted folder the history of the
// list does not matter. The skills of a turn are checked from the last one back to the
// first that has a workflow.
func TestCheckFindsAWrongPrediction(t *testing.T) {
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
		assert.Equal(t, &hydrate.Mistake{Dir: filepath.Join(h.dir, far), Spec: filepath.Join(h.dir, far, "fsm.json")}, result.Mistake,
			"%v", folders)
	}

	_, err := h.hydrateSkill("near") // in another call
	require.NoError(t, err)
	_, result := h.ran(far)
	assert.Empty(t, result.Mistake.Taken, "the tasks of near are of another call")
}

// TestCheckFindsATypedSkillByItsPrompt: the name that the user typed may differ from the
// one in the event, so the skill is found in the history by its prompt alone.
func TestCheckFindsATypedSkillByItsPrompt(t *testing.T) {
	h := newHome(t)
	const folder = ".claude/skills/near"
	h.write(folder+"/SKILL.md", "---\nname: other\n---\n")
	h.write(folder+"/fsm.json", `[{"id": 1, "subject": "a"}]`)
	h.write("elsewhere/far/SKILL.md", "")
	h.typesNear()

	found, result := h.checked(h.runsFar("other"))
	require.NotNil(t, found, "the tasks of near are found although other was typed")
	assert.Equal(t, filepath.Join(h.dir, folder, "fsm.json"), result.Mistake.Taken)
}

// TestACorrectedPredictionIsNotCorrectedAgain: a later check goes by the last change that was
// made for the call, which is the correction and not the wrong prediction.
func TestACorrectedPredictionIsNotCorrectedAgain(t *testing.T) {
	for name, spec := range map[string]string{"with a workflow": `[{"id": 1, "subject": "b"}]`, "without a workflow": ""} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.write(".claude/skills/near/SKILL.md", "")
			h.write(".claude/skills/near/fsm.json", `[{"id": 1, "subject": "a"}]`)
			h.write("elsewhere/far/SKILL.md", "")
			if spec != "" {
				h.write("elsewhere/far/fsm.json", spec)
			}
			h.typesNear()
			check := func() *hydrate.Hydration {
				found, _ := h.checked(h.runsFar("near"))
				return found
			}
			found := check()
			require.NotNil(t, found)
			_, err := found.Apply(t.Context())
			require.NoError(t, err)
			corrected := h.tasks()
			assert.Nil(t, check())
			assert.Equal(t, corrected, h.tasks())
		})
	}
}
