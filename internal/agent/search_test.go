package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/locator"
)

// files writes files into a new world, and ROOT in them is its path. A path that ends in a slash
// is the folder of a skill with a workflow, whose content is the name in its SKILL.md.
func files(t *testing.T, all map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	write := func(path, text string) {
		full := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(strings.ReplaceAll(text, "ROOT", root)), 0o644))
	}
	for path, text := range all {
		if !strings.HasSuffix(path, "/") {
			write(path, text)
			continue
		}
		write(path+"SKILL.md", "---\nname: "+text+"\ndescription: d\n---\nBody.\n")
		write(path+"fsm.json", "[]")
	}
	write("project/.git/HEAD", "")
	return root
}

// found is what an agent finds: a name and a folder, relative to the world.
type found struct{ agent, name, want string }

func assertFound(t *testing.T, root string, lookup func(string) (string, bool), all ...found) {
	t.Helper()
	for _, c := range all {
		s := agent.Named(c.agent).Search(lookup)
		r := must(s.Locate(c.name, filepath.Join(root, "project")))
		folder := agent.Folder(c.agent, c.name, filepath.Join(root, "project"), lookup)
		if c.want == "" {
			assert.Empty(t, folder, "%v", c)
			assert.False(t, r.Found(), "%v", c)
			continue
		}
		assert.Equal(t, filepath.Join(root, c.want), folder, "%v", c)
		assert.Equal(t, filepath.Join(root, c.want, "fsm.json"), r.Path, "%v", c)
	}
}

// TestSkillsOfPlugins: they are in folders below the directory of an agent's plugins, and may have the plugin's name and a
// colon before their own.
func TestSkillsOfPlugins(t *testing.T) {
	const cache = "home/.codex/plugins/cache/mk/"
	root := files(t, map[string]string{
		cache + "p/1.9.0/skills/ship/":                "ship",
		cache + "p/1.10.0/skills/group/dir/":          "ship",
		cache + "q/1.0.0/skills/ship/":                "other",
		"project/.agents/skills/own/":                 "own",
		"home/.gemini/extensions/inst/skills/one/":    "one",
		"home/.gemini/extensions/inst/skills/shared/": "shared",
		"home/.qwen/extensions/inst/skills/two/":      "two",
		"project/.agents/skills/shared/":              "shared",
		"home/.copilot/settings.json": `{"extraKnownMarketplaces": {"mk": {"source":
			{"source": "directory", "path": "ROOT/mk"}}}}`,
		"home/.copilot/config.json":                "// Managed.\n" + `{"installedPlugins": [{"name": "d", "cache_path": "ROOT/copied/d"}]}`,
		"copied/d/skills/three/":                   "three",
		"mk/plugins/live/custom/four/":             "four",
		"project/.agents/skills/group/deep/":       "deep",
		"project/.agents/skills/group/deep/inner/": "inner",
		"project/.agents/skills/.hidden/":          "hidden",
		"home/.opencode/skills/person/":            "person",
	})
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(root, cache, "p/1.10.0/skills/group/dir"), later, later))
	home := homeOnly(filepath.Join(root, "home"))
	assertFound(t, root, home,
		found{"codex", "p:ship", cache + "p/1.10.0/skills/group/dir"},
		found{"codex", "ship", cache + "p/1.10.0/skills/group/dir"},
		found{"codex", "q:other", cache + "q/1.0.0/skills/ship"},
		found{"codex", "q:ship", ""},
		found{"codex", "own", "project/.agents/skills/own"},
		found{"codex", "p:own", ""},
		found{"gemini", "p:ship", ""},
		found{"gemini", "one", "home/.gemini/extensions/inst/skills/one"},
		found{"gemini", "shared", "project/.agents/skills/shared"},
		found{"gemini", "two", ""},
		found{"qwen", "two", "home/.qwen/extensions/inst/skills/two"},
		found{"qwen", "inst:two", "home/.qwen/extensions/inst/skills/two"},
		found{"copilot", "three", "copied/d/skills/three"},
		found{"copilot", "THREE", "copied/d/skills/three"},
		found{"copilot", "four", "mk/plugins/live/custom/four"},
		found{"copilot", "deep", "project/.agents/skills/group/deep"},
		found{"copilot", "inner", ""},
		found{"copilot", "hidden", ""},
		found{"codex", "inner", "project/.agents/skills/group/deep/inner"},
		found{"codex", "Deep", ""},
		found{"qwen", "deep", ""},
		found{"qwen", "hidden", "project/.agents/skills/.hidden"},
		found{"opencode", "inner", "project/.agents/skills/group/deep/inner"},
		found{"opencode", "person", "home/.opencode/skills/person"},
	)
	// Its SKILL.md is read, or it is typed.
	for name, text := range map[string]string{
		"read": `{"hook_event_name": "PostToolUse", "turn_id": "t", "cwd": "` + root + `/project", "tool_name": "Bash", "tool_input":
			{"command": "cat ` + root + `/` + cache + `p/1.9.0/skills/ship/SKILL.md"}, "tool_response": "name: ship"}`,
		"typed": `{"hook_event_name": "UserPromptSubmit", "turn_id": "t", "cwd": "` + root + `/project", "prompt": "use $p:ship."}`,
	} {
		call, _ := agent.Codex().Read(must(client.Parse([]byte(text))))
		if s := agent.Codex().Search(home).TakenUp(call); assert.NotNil(t, s, name) {
			version := map[string]string{"read": "1.9.0", "typed": "1.10.0"}[name]
			assert.Contains(t, s.Dir, "/p/"+version+"/", name)
		}
	}
	// The agent's own files are elsewhere.
	require.NoError(t, os.Rename(filepath.Join(root, "home/.codex"), filepath.Join(root, "elsewhere")))
	assertFound(t, root, home, found{"codex", "q:other", ""})
	assertFound(t, root, env(map[string]string{"HOME": filepath.Join(root, "home"), "CODEX_HOME": filepath.Join(root, "elsewhere")}),
		found{"codex", "q:other", "elsewhere/plugins/cache/mk/q/1.0.0/skills/ship"})
}

// TestTheSearchIsThatOfALocator: the lists that commands print.
func TestTheSearchIsThatOfALocator(t *testing.T) {
	root := files(t, map[string]string{
		"project/.agents/skills/ship/":            "ship",
		"project/.agents/skills/plain/SKILL.md":   "---\nname: plain\ndescription: d\n---\n",
		"home/.agents/skills/ship/":               "ship",
		"home/.gemini/extensions/x/skills/bring/": "bring",
	})
	require.NoError(t, os.Symlink(filepath.Join(root, "project/.agents/skills"), filepath.Join(root, "linked")))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "project/.gemini"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(root, "linked"), filepath.Join(root, "project/.gemini/skills")))
	s, cwd := agent.Gemini().Search(homeOnly(filepath.Join(root, "home"))), filepath.Join(root, "project")
	all, complete := s.Workflows(cwd)
	assert.True(t, complete)
	first := filepath.Join(root, "project/.gemini/skills/ship")
	assert.Equal(t, []locator.Workflow{
		{Command: "ship", Others: []string{}, Path: first + "/fsm.json", Rule: locator.RuleProject},
		{Command: "ship", Others: []string{}, Path: filepath.Join(root, "home/.agents/skills/ship/fsm.json"), Rule: locator.RuleUser,
			ShadowedBy: first + "/SKILL.md", Unused: true},
		{Command: "bring", Others: []string{}, Path: filepath.Join(root, "home/.gemini/extensions/x/skills/bring/fsm.json"),
			Rule: locator.RulePluginSkill, Plugin: "x"},
	}, all)
	skills, _ := s.Skills(cwd)
	var names []string
	for _, k := range skills {
		names = append(names, k.Command)
	}
	assert.Equal(t, []string{"plain", "ship", "ship"}, names)
	assert.Equal(t, []string{"ship"}, s.Near("shop", cwd))
	assert.Empty(t, s.Near("plain", cwd))
	assert.False(t, must(s.Locate("plain", cwd)).Found())
	_, err := s.Locate("../ship", cwd)
	assert.ErrorContains(t, err, "../ship")
}
