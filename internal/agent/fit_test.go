package agent_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
)

// TestWhatIsASkill: as measured; make agents asks the agents themselves.
func TestWhatIsASkill(t *testing.T) {
	all := strings.Fields("codex copilot gemini qwen opencode")
	for document, takers := range map[string]string{
		"---\nname: x\ndescription: d\n---\n":                                 "codex copilot gemini qwen opencode",
		"text\n":                                                              "",
		"\n---\nname: x\ndescription: d\n---\n":                               "",
		"---\nname: x\ndescription: d\n":                                      "opencode",
		"\ufeff---\nname: x\ndescription: d\n---\n":                           "copilot qwen opencode",
		"---\ndescription: d\n---\n":                                          "codex copilot",
		"---\nname: \"\"\ndescription: d\n---\n":                              "codex",
		"---\nname: x\n---\n":                                                 "copilot opencode",
		"---\nname: x\ndescription: \"\"\n---\n":                              "copilot gemini opencode",
		"---\nname: x\ndescription: a: [b\n---\n":                             "codex gemini qwen opencode",
		"---\nname: x\ndescription: " + strings.Repeat("d", 1025) + "\n---\n": "codex gemini qwen opencode",
		"---\nname: x\ndescription: use this --- always\n" + strings.Repeat("# filler\n", 600) + "---\n": "codex copilot gemini qwen opencode",
		"---\nname: x\ndescription: >\n  folded\n  text\nallowed-tools: [a, b]\nmetadata: {a: [1]}\n" +
			"---\nb\n": "codex copilot gemini qwen opencode",
	} {
		root := files(t, map[string]string{"project/.agents/skills/x/SKILL.md": document, "project/.agents/skills/x/fsm.json": "[]"})
		for _, name := range all {
			k := agent.Named(name).Search(homeOnly(filepath.Join(root, "home"))).Find("x", filepath.Join(root, "project"))
			require.NotNil(t, k, "it is found all the same")
			assert.Equal(t, strings.Contains(takers, name), k.Unfit == "", "%s: %.60q: %s", name, document, k.Unfit)
		}
	}
}

// TestASkillThatIsTakenComesFirst: what the agent does not take shadows nothing, and is found last.
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
		{Moment: agent.After, Tool: "Bash", Command: "cat .agents/skills/b/SKILL.md", Output: "no frontmatter"},
	} {
		c.Cwd = filepath.Join(root, "project")
		assert.Nil(t, s.TakenUp(c), "%v", c)
	}
}

func first[T any](value T, _ bool) T { return value }

// TestSwitchedOff: as measured.
func TestSwitchedOff(t *testing.T) {
	const off, on = "enabled = false\n", "enabled = true\n"
	rule := func(what, value string) string { return "[[skills.config]]\n" + what + "\n" + value }
	for _, c := range []struct {
		agent, file, text string
		off               bool
	}{
		{"codex", ".codex/config.toml", rule(`name = "x"`, off), true},
		{"codex", ".codex/config.toml", rule(`name = "X"`, off), false},
		{"codex", ".codex/config.toml", rule(`path = "ROOT/project/.agents/skills/x/SKILL.md"`, off), true},
		{"codex", ".codex/config.toml", rule(`path = "ROOT/project/.agents/skills/x"`, off), false},
		{"codex", ".codex/config.toml", rule(`path = "~/../project/.agents/skills/x/SKILL.md"`, off), true},
		{"codex", ".codex/config.toml", rule(`name = "x"`, off) + rule(`name = "x"`, on), false},
		{"codex", ".codex/config.toml", rule(`name = "x"`, off) + rule(`path = "ROOT/project/.agents/skills/x/SKILL.md"`, on), false},
		{"codex", ".codex/config.toml", `skills = {config = [{name = "x", enabled = false}]}`, true},
		{"codex", "../project/.codex/config.toml", rule(`name = "x"`, off), false},
		{"copilot", ".copilot/settings.json", "{// mine\n\"disabledSkills\": [\"x\"]}", true},
		{"copilot", ".copilot/settings.json", `{"disabledSkills": ["X"]}`, false},
		{"copilot", ".copilot/config.json", `{"disabledSkills": ["x"]}`, false},
		{"gemini", ".gemini/settings.json", `{"skills": {"disabled": ["X"]}} // mine`, true},
		{"gemini", ".gemini/settings.json", `{"skills": {"enabled": false}}`, true},
		{"gemini", "../project/.gemini/settings.json", `{"skills": {"disabled": ["x"]}}`, true},
		{"qwen", ".qwen/settings.json", `{"skills": {"disabled": ["x"]}}`, false},
	} {
		root := files(t, map[string]string{"project/.agents/skills/x/": "x", "home/" + c.file: c.text})
		lookup, cwd := homeOnly(filepath.Join(root, "home")), filepath.Join(root, "project")
		why := agent.Off(c.agent, "x", cwd, lookup)
		assert.Equal(t, c.off, why != "", "%v", c)
		assert.Equal(t, c.off, agent.Folder(c.agent, "x", cwd, lookup) == "", "%v", c)
		r, err := agent.Named(c.agent).Search(lookup).Locate("x", cwd)
		require.NoError(t, err)
		assert.Equal(t, !c.off, r.Found(), "%v", c)
		if c.off {
			assert.Contains(t, why, "switched off in "+root, "%v", c)
		}
	}
}
