package agent_test

import (
	"os"
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
		"---\nname: x\ndescription: d\n---\n":                                                            "codex copilot gemini qwen opencode",
		"text\n":                                                                                         "",
		"\n---\nname: x\ndescription: d\n---\n":                                                          "",
		"---\nname: x\ndescription: d\n":                                                                 "opencode",
		"\ufeff---\nname: x\ndescription: d\n---\n":                                                      "copilot qwen opencode",
		"---\ndescription: d\n---\n":                                                                     "codex copilot",
		"---\nname: \"\"\ndescription: d\n---\n":                                                         "codex",
		"---\nname: x\n---\n":                                                                            "copilot opencode",
		"---\nname: x\ndescription: \"\"\n---\n":                                                         "copilot gemini opencode",
		"---\nname: x\ndescription: a: [b\n---\n":                                                        "codex gemini qwen opencode",
		"---\nname: x\ndescription: d\nargument-hint: [a] [b]\n---\n":                                    "codex gemini qwen",
		"---\nname: x\ndescription: d\nm:\n  k: a: b\n---\n":                                             "codex gemini qwen",
		"---\nname: x\ndescription: d\nm:\n\tk: a\n---\n":                                                "gemini qwen opencode",
		"---\nname: x\ndescription: d\nglobs: **/*.go\n---\n":                                            "gemini qwen",
		"---\nname: x\ndescription: \"a\" or \"b\"\n---\n":                                               "gemini qwen",
		"---\nname: x\ndescription:\n  d\nk: [a] [b]\n---\n":                                             "codex gemini",
		"---\nname: x\n\"description\": d\nk: [a] [b]\n---\n":                                            "codex",
		"---\nname: x\ndescription:\ta: b\n---\n":                                                        "codex gemini qwen opencode",
		"---\nname: x\ndescription: # a: b\nk: [a] [b]\n---\n":                                           "gemini qwen",
		"---\nname: x\ndescription: d\nk:\t[a] [b]\n---\n":                                               "codex gemini qwen",
		"---\nname: x\ndescription: d\nhttp://x: b: c\n---\n":                                            "gemini qwen opencode",
		"---\nname: x\ndescription: d\nargument-hint: [a] <b: c>\n---\n":                                 "codex gemini qwen opencode",
		"---\nname: x\ndescription: d\nargument-hint: [a] [b: c]\n---\n":                                 "codex gemini qwen",
		"---\nname: x\ndescription: 'a' or: b\n---\n":                                                    "gemini qwen opencode",
		"---\nname: x\ndescription: d\nmetadata: m\n---\n":                                               "copilot gemini qwen opencode",
		"---\nname: x\ndescription: d\nmetadata:\n---\n":                                                 "codex copilot gemini qwen opencode",
		"---\nname: x\ndescription: 'it's d'\n---\n":                                                     "gemini qwen",
		"---\nname: x\ndescription: \"a: C:\\Users\"\n---\n":                                             "gemini qwen",
		"---\nname: x\ndescription: a: b # c\nk: c: # d\n---\n":                                          "gemini qwen opencode",
		"---\nname: x\ndescription: d\ndescription: e\n---\n":                                            "gemini qwen",
		"---\nname: x\ndescription: d\nk: a\nk: b\n---\n":                                                "codex gemini qwen",
		"---\nname: x\ndescription: [d]\n---\n":                                                          "gemini qwen",
		"---\nname: x\ndescription: 12\n---\n":                                                           "codex gemini qwen",
		"---\nname: x\ndescription: \xfcber\n---\n":                                                      "copilot gemini qwen opencode",
		"---\nname:x\ndescription:d\n---\n":                                                              "copilot gemini qwen",
		"---\nname: x\ndescription: " + strings.Repeat("d", 1025) + "\n---\n":                            "codex gemini qwen opencode",
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
		{Moment: agent.After, Tool: "Bash", Command: "cat .agents/skills/b/SKILL.md", Output: "no frontmatter"},
	} {
		c.Cwd = filepath.Join(root, "project")
		assert.Nil(t, s.TakenUp(c), "%v", c)
	}
}

func first[T any](value T, _ bool) T { return value }

// TestWhatCountsForGemini: a project's settings count only in a folder that the person trusts, and win there.
func TestWhatCountsForGemini(t *testing.T) {
	const off, on, listed = `{"skills": {"enabled": false}}`, `{"skills": {"enabled": true}}`, `{"skills": {"disabled": ["x"]}}`
	for name, c := range map[string]struct {
		user, project, trusted string
		off                    bool
	}{
		"not trusted":                 {"{}", listed, `{}`, false},
		"trusted, with a comment":     {"{}", listed, `{"ROOT/project": "TRUST_FOLDER" /* mine */}`, true},
		"no trust is asked for":       {`{"security": {"folderTrust": {"enabled": false}}}`, listed, `{}`, true},
		"a folder above":              {"{}", listed, `{"ROOT": "TRUST_FOLDER"}`, true},
		"a folder above, but not it":  {"{}", listed, `{"ROOT": "TRUST_FOLDER", "ROOT/project": "DO_NOT_TRUST"}`, false},
		"it, but not a folder above":  {"{}", listed, `{"ROOT": "DO_NOT_TRUST", "ROOT/project": "TRUST_FOLDER"}`, true},
		"a folder beside":             {"{}", listed, `{"ROOT/proj": "TRUST_FOLDER"}`, false},
		"a folder below":              {"{}", listed, `{"ROOT/project/a": "TRUST_FOLDER"}`, false},
		"the parent of a folder":      {"{}", listed, `{"ROOT/project/a": "TRUST_PARENT"}`, true},
		"where a link leads":          {"{}", listed, `{"ROOT/link": "TRUST_FOLDER"}`, true},
		"the project wins":            {off, on, `{"ROOT/project": "TRUST_FOLDER"}`, false},
		"the project wins, too":       {on, off, `{"ROOT/project": "TRUST_FOLDER"}`, true},
		"the project does not count":  {off, on, `{}`, true},
		"a word":                      {`{"skills": {"enabled": "false"}}`, "{}", `{}`, true},
		"the person's list, and more": {listed, `{"skills": {"disabled": ["y"], "enabled": true}}`, `{"ROOT/project": "TRUST_FOLDER"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, os.Symlink("project", filepath.Join(root, "link")))
			for path, text := range map[string]string{
				"home/.gemini/settings.json": c.user, "project/.gemini/settings.json": c.project,
				"home/.gemini/trustedFolders.json":  strings.ReplaceAll(c.trusted, "ROOT", root),
				"project/.agents/skills/x/SKILL.md": "---\nname: x\ndescription: x\n---\n",
			} {
				full := filepath.Join(root, path)
				require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
				require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
			}
			why := agent.Off("gemini", "x", filepath.Join(root, "project"), homeOnly(filepath.Join(root, "home")))
			assert.Equal(t, c.off, why != "", why)
		})
	}
}

// TestObstacles: as measured.
func TestObstacles(t *testing.T) {
	for _, c := range []struct{ agent, data, file, text, want string }{
		{"codex", `{}`, "home/config.toml", "[features]\nhooks = true\n", ""},
		{"codex", `{}`, "home/config.toml", "[features]\nhooks = false\n", "the feature hooks is false in ROOT/home/config.toml"},
		{"codex", `{}`, "home/config.toml", "features.codex_hooks = false", "the feature hooks is false"},
		{"codex", `{}`, "project/.codex/config.toml", "[features]\nhooks = false\n", ""},
		{"codex", `{"description": "x", "hooks": {}}`, "", "", ""},
		{"codex", `{"version": 1, "hooks": {}}`, "", "", `FILE has "version", which Codex does not know`},
		{"codex", "\ufeff{}", "", "", "FILE begins with a byte order mark"},
		{"copilot", `{"disableAllHooks": false}`, "", "", ""},
		{"copilot", `{"disableAllHooks": "no"}`, "", "", `"disableAllHooks" is "no" in FILE`},
		{"copilot", `{}`, "project/.claude/settings.local.json", `{"disableAllHooks": true}`,
			`"disableAllHooks" is true in ROOT/project/.claude`},
		{"copilot", `{}`, "project/.github/copilot/settings.json", `{"disableAllHooks": true}`, `"disableAllHooks" is true`},
		{"copilot", `{}`, "home/settings.json", `{"disableAllHooks": true}`, ""},
		{"gemini", `{}`, "home/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, `"enabled" of "hooksConfig" is false in`},
		{"gemini", `{}`, "project/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, ""},
		{"gemini", `{}`, "home/.gemini/settings.json", `{"tools": {"enableHooks": false}, "hooks": {"enabled": false}}`, ""},
		{"gemini", `{"command": "/a hook --agent=gemini"}`, "home/.gemini/settings.json",
			`{"hooksConfig": {"disabled": ["/a hook --agent=gemini"]}}`, `"disabled" of "hooksConfig" in`},
		{"gemini", `{}`, "home/.gemini/settings.json", `{"hooksConfig": {"disabled": ["/b hook --agent=gemini", "x"]}}`, ""},
		{"qwen", "\ufeff{}", "", "", ""},
		{"qwen", `{}`, "home/settings.json", `{"disableAllHooks": true} // mine`, `"disableAllHooks" is true in ROOT/home`},
		{"qwen", `{}`, "project/.qwen/settings.json", `{"disableAllHooks": "x"}`, `"disableAllHooks" is "x" in ROOT/project`},
		{"qwen", `{}`, "home/settings.json", `{"disableAllHooks": false, "hooksConfig": {"enabled": false}}`, ""},
	} {
		root := t.TempDir()
		trust := agent.Trust{File: "FILE", Data: []byte(c.data), Dir: filepath.Join(root, "project"), Config: filepath.Join(root, "home")}
		if c.file != "" {
			full := filepath.Join(root, c.file)
			require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
			require.NoError(t, os.WriteFile(full, []byte(c.text), 0o600))
		}
		all := agent.Named(c.agent).Obstacles(trust)
		if c.want == "" {
			assert.Empty(t, all, "%v", c)
			continue
		}
		require.Len(t, all, 1, "%v", c)
		assert.Contains(t, all[0].What, strings.ReplaceAll(c.want, "ROOT", root))
		assert.NotEmpty(t, all[0].Remedy)
	}
}

// TestServerObstacles: as measured, with "mcp list" of each.
func TestServerObstacles(t *testing.T) {
	const table = "[mcp_servers.fsmtx]\ncommand = \"/bin/fsmtx\"\nargs = [\"mcp\"]\n"
	for _, c := range []struct{ agent, data, want string }{
		{"codex", table, ""},
		{"codex", table + "enabled = true\n", ""},
		{"codex", table + "enabled = false\n", `"enabled" of the server is false in `},
		{"opencode", `{"mcp": {"fsmtx": {"enabled": true}, "o": {"enabled": false}}}`, ""},
		{"opencode", `{"mcp": {"fsmtx": {"enabled": false /* why */}}}`, `"enabled" of the server is false in `},
		{"gemini", `{"mcp": {"excluded": ["o"], "allowed": []}}`, ""},
		{"gemini", `{"mcp": {"excluded": ["FSMTX"]}}`, `"excluded" of "mcp" names it in `},
		{"gemini", `{"mcp": {"allowed": ["o"]}}`, `"allowed" of "mcp" does not name it in `},
		{"gemini", `{"mcp": {"allowed": ["o", " Fsmtx"]}}`, ""},
		{"qwen", `{"mcp": {"excluded": ["fsmtx"]}}`, ""},
		{"gemini disabled", `{}`, "it is disabled in "},
	} {
		home := t.TempDir()
		file := filepath.Join(home, ".gemini/settings.json")
		require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(c.data), 0o600))
		if strings.HasSuffix(c.agent, " disabled") {
			file = filepath.Join(home, ".gemini/mcp-server-enablement.json")
			require.NoError(t, os.WriteFile(file, []byte(`{"fsmtx": {"enabled": false}}`), 0o600))
			c.agent = "gemini"
		}
		lookup := func(string) (string, bool) { return "", false }
		all := agent.Named(c.agent).ServerObstacles(agent.Trust{File: file, Data: []byte(c.data), Dir: t.TempDir(), Config: home, Lookup: lookup})
		if c.want == "" {
			assert.Empty(t, all, "%v", c)
			continue
		}
		require.Len(t, all, 1, "%v", c)
		assert.Equal(t, c.want+file, all[0].What)
	}
}

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
		{"gemini", "../project/.gemini/settings.json", `{"skills": {"disabled": ["x"]}}`, false},
		{"qwen", ".qwen/settings.json", `{"skills": {"enabled": ["y"], "disabled": ["X"]}} // mine`, true},
		{"qwen", ".qwen/settings.json", `{"skills": {"enabled": ["y"], "disabled": ["y"]}}`, false},
		{"qwen", "../project/.qwen/settings.json", `{"skills": {"disabled": ["x"]}}`, true},
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
