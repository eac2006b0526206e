package hydrate_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
)

// said is a prompt in a transcript.
const said = `{"promptId":"p1","type":"user","message":{"role":"user","content":"go"}}` + "\n"

// called is a call of a skill in a transcript, with the folder from which the client ran it.
func (h *home) called(id, skill, folder string) string {
	return fmt.Sprintf(`{"message":{"content":[{"id":%[1]q,"input":{"skill":%[2]q},"name":"Skill","type":"tool_use"}]},"type":"assistant"}`+
		"\n"+`{"promptId":"p1","type":"user","message":{"role":"user","content":[{"type":"text","text":"Base directory for this `+
		`skill: %[3]s\n\nDo it.\n"}]},"isMeta":true,"sourceToolUseID":%[1]q}`+"\n", id, skill, filepath.Join(h.dir, folder))
}

// ran runs a check at the end of a turn in which the client ran skills from these
// folders, in this order.
func (h *home) ran(folders ...string) (*hydrate.Hydration, hydrate.Result) {
	text := said
	for i, folder := range folders {
		text += h.called(fmt.Sprint("t", i), filepath.Base(folder), folder)
	}
	return h.checked(text)
}

// checked runs a check with a transcript.
func (h *home) checked(transcript string) (*hydrate.Hydration, hydrate.Result) {
	h.write("transcript.jsonl", transcript)
	e := &client.Event{Name: client.Stop, SessionID: "list", Cwd: h.dir, PromptID: "p1",
		TranscriptPath: filepath.Join(h.dir, "transcript.jsonl")}
	_, found, result, err := hydrate.Check(h.t.(*testing.T).Context(), e, h.env, hydrate.Options{})
	require.NoError(h.t, err)
	return found, result
}

// typesNear hydrates the skill near, which the person types.
func (h *home) typesNear() {
	r, skip, err := hydrate.Understand(&client.Event{Name: client.UserPromptExpansion, SessionID: "list", Cwd: h.dir,
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

// TestARareLayoutIsRightOneEventLater: the search does not know these layouts of skills. At the call the tasks are missing, or
// those of another folder; the next check puts in those of the folder that the client ran, or takes the others away.
func TestARareLayoutIsRightOneEventLater(t *testing.T) {
	const (
		named = "---\nname: ship\n---\n"
		right = `[{"id": 1, "subject": "right"}]`
		wrong = `[{"id": 1, "subject": "wrong"}]`
		skill = ".claude/skills/"
	)
	for name, c := range map[string]struct {
		command, ran string // the folder that the client runs
		files        map[string]string
		first        string // the subject after the call
	}{
		"a folder of skills that is a plugin": {"plug:ship", skill + "plug/skills/ship", map[string]string{
			skill + "plug/.claude-plugin/plugin.json": `{"name": "plug"}`, skill + "plug/skills/ship/fsm.json": right}, ""},
		"a command that a plugin.json names": {"plug:ship", "plug/notes", map[string]string{
			"plug/.claude-plugin/plugin.json": `{"name": "plug", "commands": {"ship": {"source": "./notes.md"}}}`,
			"plug/notes.md":                   "", "plug/notes/fsm.json": right}, ""},
		"a name that YAML merges": {"ship", skill + "x", map[string]string{
			skill + "x/SKILL.md": "---\na: &a\n  name: ship\n<<: *a\n---\n", skill + "x/fsm.json": right}, ""},
		"a skill without a workflow that has the name first": {"ship", skill + "a", map[string]string{
			skill + "a/SKILL.md": named, skill + "b/SKILL.md": named, skill + "b/fsm.json": wrong}, "wrong"},
		"an installation that is not of the most specific scope": {"plug:ship", "user/skills/ship", map[string]string{
			".claude/settings.json":     `{"enabledPlugins": {"plug@m": true}}`,
			"user/skills/ship/SKILL.md": "", "user/skills/ship/fsm.json": right,
			"project/skills/ship/SKILL.md": "", "project/skills/ship/fsm.json": wrong}, "wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			entries := func(dir string) string { return fmt.Sprintf(`"installPath": %q`, filepath.Join(h.dir, dir)) }
			h.write(".claude/plugins/installed_plugins.json", `{"version": 2, "plugins": {"plug@m": [`+
				`{"scope": "user", `+entries("user")+`}, {"scope": "project", "projectPath": "`+h.dir+`", `+entries("project")+`}]}}`)
			for path, text := range c.files {
				h.write(path, text)
			}
			r := hydrate.Request{Event: client.PostToolUse, Session: "list", Command: c.command, Cwd: h.dir, Project: h.dir,
				Invocation: "tool:t1"}
			_, err := hydrate.Run(t.Context(), r, h.env, hydrate.Options{})
			require.NoError(t, err)
			assert.Equal(t, c.first, subjects(h.tasks()), "at the call")

			check := func() *hydrate.Hydration {
				found, _ := h.checked(said + h.called("t1", c.command, c.ran))
				return found
			}
			found := check()
			require.NotNil(t, found)
			_, err = found.Apply(t.Context())
			require.NoError(t, err)
			want := "right"
			if c.files[c.ran+"/fsm.json"] == "" {
				want = ""
			}
			assert.Equal(t, want, subjects(h.tasks()), "one event later")
			assert.Nil(t, check(), "and once")
		})
	}
}

// subjects returns which subjects are in the tasks.
func subjects(tasks map[string]string) (all string) {
	for _, subject := range []string{"right", "wrong"} {
		for _, text := range tasks {
			if strings.Contains(text, `"subject": "`+subject+`"`) {
				all += subject
			}
		}
	}
	return all
}
