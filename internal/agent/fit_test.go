package agent_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
)

// TestWhatIsASkill: as measured, but for the forms of YAML that single agents read or repair; make agents asks the agents
// themselves.
func TestWhatIsASkill(t *testing.T) {
	all := strings.Fields("codex copilot gemini qwen opencode")
	for document, takers := range map[string]string{
		"---\nname: x\ndescription: d\n---\n":             "codex copilot gemini qwen opencode",
		"text\n":                                          "",
		"\n---\nname: x\ndescription: d\n---\n":           "",
		"---\nname: x\ndescription: d\n":                  "",
		"---\ndescription: d\n---\n":                      "codex copilot",
		"---\nname: \"\"\ndescription: d\n---\n":          "codex",
		"---\nname: x\n---\n":                             "copilot opencode",
		"---\nname: x\ndescription: \"\"\n---\n":          "copilot gemini opencode",
		"---\nname: x\ndescription: a: [b\n---\n":         "codex gemini qwen opencode",
		"---\nname: x\ndescription: d\nk: [a] [b]\n---\n": "codex gemini qwen opencode",
		"---\nname: x\ndescription: use this --- always\n" + strings.Repeat("# filler\n", 600) + "---\n": "codex copilot gemini qwen opencode",
	} {
		root := files(t, map[string]string{"project/.agents/skills/x/SKILL.md": document, "project/.agents/skills/x/fsm.json": "[]"})
		for _, name := range all {
			k := agent.Named(name).Search(homeOnly(filepath.Join(root, "home"))).Find("x", filepath.Join(root, "project"))
			require.NotNil(t, k, "it is found all the same")
			assert.Equal(t, strings.Contains(takers, name), k.Unfit == "", "%s: %.60q: %s", name, document, k.Unfit)
		}
	}
}

// TestASkillThatIsTakenComesFirst: a skill that the agent does not take is found last, and hides no other.
func TestASkillThatIsTakenComesFirst(t *testing.T) {
	root := files(t, map[string]string{
		"project/.agents/skills/a/SKILL.md": "no frontmatter", "project/.agents/skills/a/fsm.json": "[]",
		"home/.codex/skills/a/":             "a",
		"project/.agents/skills/b/SKILL.md": "no frontmatter", "project/.agents/skills/b/fsm.json": "[]",
	})
	assertFound(t, root, homeOnly(filepath.Join(root, "home")),
		found{"codex", "a", "home/.codex/skills/a"}, found{"codex", "b", "project/.agents/skills/b"})
	s := agent.Codex().Search(homeOnly(filepath.Join(root, "home")))
	for _, w := range first(s.Workflows(filepath.Join(root, "project"))) {
		assert.Equal(t, strings.Contains(w.Path, "project"), w.Unused)
		assert.Empty(t, w.ShadowedBy)
		if w.Unused {
			assert.Equal(t, "is not a skill for Codex: it has no frontmatter", w.Off)
		}
	}
	assert.Len(t, s.Unfit(filepath.Join(root, "project")), 2)
	for _, c := range []agent.Call{
		{Moment: agent.Prompt, Prompt: "$b now"},
		{Moment: agent.After, Command: "cat .agents/skills/b/SKILL.md",
			Event: &client.Event{ToolName: "Bash", ToolResponse: []byte(`"no frontmatter"`)}},
	} {
		c.Cwd = filepath.Join(root, "project")
		assert.Nil(t, s.TakenUp(c), "%v", c)
	}
}

func first[T any](value T, _ bool) T { return value }
