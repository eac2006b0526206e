package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/claude/event"
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
		r, err := s.Locate(c.name, filepath.Join(root, "project"))
		require.NoError(t, err)
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

// TestPluginsOfCodex: as measured with 0.169.0.
func TestPluginsOfCodex(t *testing.T) {
	const cache = "home/.codex/plugins/cache/mk/"
	plugin := func(name string) string { return `{"name": "` + name + `"}` }
	root := files(t, map[string]string{
		"home/.codex/config.toml": `model = "x"
[plugins."newest@mk"]
enabled = true

[plugins."texts@mk"]
[plugins."local@mk"]
enabled = true # yes
[plugins."off@mk"]
enabled = false
[plugins.'custom@mk']
enabled = true
[plugins."../out@mk"]
[plugins."bare@mk"]
[other]
enabled = false
`,
		cache + "newest/1.9.0/.claude-plugin/plugin.json":        plugin("newest"),
		cache + "newest/1.9.0/skills/old/":                       "old",
		cache + "newest/1.10.0-rc1/skills/rc/":                   "rc",
		cache + "newest/1.10.0/.claude-plugin/plugin.json":       plugin("newest"),
		cache + "newest/1.10.0/skills/group/dir/":                "ship",
		cache + "texts/1.10.0/.claude-plugin/plugin.json":        plugin("texts"),
		cache + "texts/abcdef/.claude-plugin/plugin.json":        plugin("called"),
		cache + "texts/abcdef/.codex-plugin/plugin.json":         plugin("of-codex"),
		cache + "texts/abcdef/skills/ship/":                      "ship",
		cache + "local/local/.claude-plugin/plugin.json":         plugin("local"),
		cache + "local/local/skills/ship/":                       "ship",
		cache + "local/zzz/.claude-plugin/plugin.json":           plugin("zzz"),
		cache + "off/1.0.0/.claude-plugin/plugin.json":           plugin("off"),
		cache + "off/1.0.0/skills/ship/":                         "ship",
		cache + "unlisted/1.0.0/.claude-plugin/plugin.json":      plugin("unlisted"),
		cache + "unlisted/1.0.0/skills/ship/":                    "ship",
		cache + "custom/1.0.0/.claude-plugin/plugin.json":        `{"name": "custom", "skills": ["./mine", "../../../../../../outside"]}`,
		cache + "custom/1.0.0/mine/ship/":                        "ship",
		cache + "custom/1.0.0/skills/other/":                     "other",
		cache + "bare/1.0.0/skills/ship/":                        "ship",
		"home/.codex/plugins/out/1.0/.claude-plugin/plugin.json": plugin("out"),
		"home/.codex/plugins/out/1.0/skills/ship/":               "ship",
		"home/outside/ship/":                                     "ship",
		"project/.agents/skills/own/":                            "own",
	})
	home := homeOnly(filepath.Join(root, "home"))
	assertFound(t, root, home,
		found{"codex", "newest:ship", cache + "newest/1.10.0/skills/group/dir"},
		found{"codex", "newest:dir", ""},
		found{"codex", "newest:old", ""},
		found{"codex", "newest:rc", ""},
		found{"codex", "ship", ""},
		found{"codex", "of-codex:ship", cache + "texts/abcdef/skills/ship"},
		found{"codex", "texts:ship", ""},
		found{"codex", "local:ship", cache + "local/local/skills/ship"},
		found{"codex", "off:ship", ""},
		found{"codex", "unlisted:ship", ""},
		found{"codex", "custom:ship", cache + "custom/1.0.0/mine/ship"},
		found{"codex", "custom:other", ""},
		found{"codex", "out:ship", ""},
		found{"codex", "bare:ship", ""},
		found{"codex", "own", "project/.agents/skills/own"},
		found{"codex", "mk:own", ""},
		found{"gemini", "newest:ship", ""},
	)
	// Its SKILL.md is read, or it is typed.
	for name, text := range map[string]string{
		"read": `{"hook_event_name": "PostToolUse", "turn_id": "t", "cwd": "` + root + `/project", "tool_name": "Bash", "tool_input":
			{"command": "cat ` + root + `/` + cache + `newest/1.10.0/skills/group/dir/SKILL.md"}, "tool_response": "name: ship"}`,
		"typed": `{"hook_event_name": "UserPromptSubmit", "turn_id": "t", "cwd": "` + root + `/project", "prompt": "use $newest:ship."}`,
	} {
		e, err := event.Parse([]byte(text))
		require.NoError(t, err)
		call, _ := agent.Codex().Read(e)
		if s := agent.Codex().Search(home).TakenUp(call); assert.NotNil(t, s, name) {
			assert.Equal(t, "newest:ship", s.Name, name)
		}
	}
	// The feature is off, and the agent's own files are elsewhere.
	config := filepath.Join(root, "home/.codex/config.toml")
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, append(text, "[features]\nplugins = false\n"...), 0o644))
	assertFound(t, root, home, found{"codex", "newest:ship", ""})
	require.NoError(t, os.WriteFile(config, text, 0o644))
	require.NoError(t, os.Rename(filepath.Join(root, "home/.codex"), filepath.Join(root, "elsewhere")))
	assertFound(t, root, home, found{"codex", "newest:ship", ""})
	assertFound(t, root, env(map[string]string{"HOME": filepath.Join(root, "home"), "CODEX_HOME": filepath.Join(root, "elsewhere")}),
		found{"codex", "newest:ship", "elsewhere/plugins/cache/mk/newest/1.10.0/skills/group/dir"})
}

// TestExtensionsOfGeminiAndQwen: as measured with 0.61.0 and with 0.15.10 and 0.24.4, which has the
// extension's name before the skill's.
func TestExtensionsOfGeminiAndQwen(t *testing.T) {
	for _, name := range []string{"gemini", "qwen"} {
		dir, manifest := "home/."+name+"/extensions/", "/"+name+"-extension.json"
		root := files(t, map[string]string{
			dir + "inst" + manifest:                             `{"name": "inst"}`,
			dir + "inst/skills/one/":                            "one",
			dir + "inst/skills/shared/":                         "shared",
			dir + "inst/skills/group/deep/":                     "deep",
			dir + "bydir" + manifest:                            `{"name": "othername"}`,
			dir + "bydir/skills/three/":                         "three",
			dir + "linked/." + name + "-extension-install.json": `{"source": "ROOT/src", "type": "link"}`,
			"src" + manifest:                                    `{"name": "linked"}`,
			"src/skills/two/":                                   "two",
			dir + "none/skills/four/":                           "four",
			dir + "there" + manifest:                            `{"name": "there"}`,
			dir + "there/skills/five/":                          "five",
			dir + "back" + manifest:                             `{"name": "back"}`,
			dir + "back/skills/six/":                            "six",
			"project/.agents/skills/shared/":                    "shared",
			dir + "extension-enablement.json": `{"othername": {"overrides": ["/*", "!ROOT/project/*"]}, ` +
				`"there": {"overrides": ["!ROOT/projects/*", "!ROOT/project/sub"]},
				"back": {"overrides": ["!/*", "ROOT/project"]}}`,
		})
		assertFound(t, root, homeOnly(filepath.Join(root, "home")),
			found{name, "one", dir + "inst/skills/one"},
			found{"gemini", "inst:one", ""},
			found{name, "other:one", ""},
			found{name, "deep", ""},
			found{name, "shared", "project/.agents/skills/shared"},
			found{name, "two", "src/skills/two"},
			found{name, "three", ""},
			found{name, "four", ""},
			found{name, "five", dir + "there/skills/five"},
			found{name, "six", dir + "back/skills/six"},
			found{"codex", "one", ""},
		)
		if name == "qwen" {
			assertFound(t, root, homeOnly(filepath.Join(root, "home")),
				found{name, "inst:one", dir + "inst/skills/one"},
				found{name, "inst:shared", dir + "inst/skills/shared"},
			)
		}
	}
}

// TestDirectoriesOfQwen: as measured with 0.24.4.
func TestDirectoriesOfQwen(t *testing.T) {
	root := files(t, map[string]string{
		"home/.qwen/settings.json":    `{"skills": {"directories": ["~/more", "ROOT/far", " "]}}`,
		"project/.qwen/settings.json": `{"skills": {"directories": ["mine"]}} // and those of the person`,
		"home/more/one/":              "one",
		"far/two/":                    "two",
		"project/mine/three/":         "three",
		"project/four/":               "four",
		"home/.qwen/skills/three/":    "three",
	})
	assertFound(t, root, homeOnly(filepath.Join(root, "home")),
		found{"qwen", "one", "home/more/one"},
		found{"qwen", "two", "far/two"},
		found{"qwen", "three", "home/.qwen/skills/three"},
		found{"qwen", "four", ""},
		found{"gemini", "one", ""},
	)
}

// TestPluginsOfCopilot: as measured with 1.0.102.
func TestPluginsOfCopilot(t *testing.T) {
	root := files(t, map[string]string{
		"home/.copilot/settings.json": `{"extraKnownMarketplaces": {"mk": {"source": {"source": "directory", "path": "ROOT/mk"}}},
			"enabledPlugins": {"live@mk": true, "off@mk": false, "out@mk": true, "gone@mk": true}}`,
		"home/.copilot/config.json": `// Managed.
{"installedPlugins": [
	{"name": "direct", "marketplace": "", "cache_path": "ROOT/copied/direct", "enabled": true},
	{"name": "disabled", "marketplace": "x", "cache_path": "ROOT/copied/disabled", "enabled": false}]}`,
		"copied/direct/.claude-plugin/plugin.json":   `{"name": "other"}`,
		"copied/direct/skills/two/":                  "two",
		"copied/disabled/.claude-plugin/plugin.json": `{"name": "disabled"}`,
		"copied/disabled/skills/three/":              "three",
		"mk/.claude-plugin/marketplace.json": `{"plugins": [{"name": "live", "source": "./plugins/live"}, {"name": "off", ` +
			`"source": "./plugins/off"},
			{"name": "out", "source": "../copied/disabled"}, {"name": "far", "source": {"source": "github"}}]}`,
		"mk/plugins/live/.claude-plugin/plugin.json": `{"name": "live", "skills": "./custom"}`,
		"mk/plugins/live/custom/one/":                "one",
		"mk/plugins/live/skills/four/":               "four",
		"mk/plugins/off/.claude-plugin/plugin.json":  `{"name": "off"}`,
		"mk/plugins/off/skills/five/":                "five",
		"project/.agents/skills/group/deep/":         "deep",
		"project/.agents/skills/group/deep/inner/":   "inner",
		"project/.agents/skills/.hidden/":            "hidden",
		"home/.config/opencode/opencode.json":        `{"skills": {"paths": ["ROOT/paths", "mk"]}} /* mine */`,
		"paths/elsewhere/":                           "elsewhere",
		"home/.opencode/skills/person/":              "person",
	})
	assertFound(t, root, homeOnly(filepath.Join(root, "home")),
		found{"copilot", "one", "mk/plugins/live/custom/one"},
		found{"copilot", "live:one", ""},
		found{"copilot", "two", "copied/direct/skills/two"},
		found{"copilot", "TWO", "copied/direct/skills/two"},
		found{"copilot", "three", ""},
		found{"copilot", "four", ""},
		found{"copilot", "five", ""},
		found{"copilot", "deep", "project/.agents/skills/group/deep"},
		found{"copilot", "inner", ""},
		found{"copilot", "hidden", ""},
		found{"codex", "inner", "project/.agents/skills/group/deep/inner"},
		found{"codex", "hidden", ""},
		found{"codex", "Deep", ""},
		found{"qwen", "deep", ""},
		found{"qwen", "hidden", "project/.agents/skills/.hidden"},
		found{"gemini", "hidden", ""},
		found{"opencode", "inner", "project/.agents/skills/group/deep/inner"},
		found{"opencode", "hidden", "project/.agents/skills/.hidden"},
		found{"opencode", "elsewhere", "paths/elsewhere"},
		found{"opencode", "person", "home/.opencode/skills/person"},
		found{"opencode", "one", ""},
	)
}

// TestPathsOfOpenCode: as "opencode debug skill" of 1.18.33 answered. Each file replaces the paths of those before it.
func TestPathsOfOpenCode(t *testing.T) {
	all := map[string]string{
		"1/one/": "one", "2/two/": "two", "3/three/": "three", "project/4/four/": "four", "home/5/five/": "five",
		"home/.config/opencode/skills/own/": "own", "moved/opencode/skills/moved/": "moved",
	}
	steps := []struct{ file, paths, want string }{
		{"home/.config/opencode/config.json", `["ROOT/1"]`, "one"},
		{"home/.config/opencode/opencode.json", `["ROOT/2", "missing"]`, "two"},
		{"home/.config/opencode/opencode.jsonc", `["ROOT/3",] /* mine */`, "three"},
		{"project/opencode.json", `["4"]`, "four"},
		{"project/.opencode/opencode.json", `["~/5"]`, "five"},
		{"home/.opencode/opencode.json", `[]`, ""},
	}
	for _, step := range steps {
		all[step.file] = `{"skills": {"paths": ` + step.paths + `}}`
		root := files(t, all)
		rows := []found{{"opencode", "own", "home/.config/opencode/skills/own"}}
		for name, dir := range map[string]string{
			"one": "1/one", "two": "2/two", "three": "3/three", "four": "project/4/four", "five": "home/5/five",
		} {
			if name != step.want {
				dir = ""
			}
			rows = append(rows, found{"opencode", name, dir})
		}
		assertFound(t, root, homeOnly(filepath.Join(root, "home")), rows...)
	}
	root := files(t, all)
	assertFound(t, root, func(name string) (string, bool) {
		value, is := map[string]string{"HOME": root + "/home", "XDG_CONFIG_HOME": root + "/moved"}[name]
		return value, is
	}, found{"opencode", "moved", "moved/opencode/skills/moved"}, found{"opencode", "own", ""})
}

// TestTheSearchIsThatOfALocator: the lists that commands print.
func TestTheSearchIsThatOfALocator(t *testing.T) {
	root := files(t, map[string]string{
		"project/.agents/skills/ship/":                    "ship",
		"project/.agents/skills/plain/SKILL.md":           "---\nname: plain\ndescription: d\n---\n",
		"home/.agents/skills/ship/":                       "ship",
		"home/.gemini/extensions/x/gemini-extension.json": `{"name": "x"}`,
		"home/.gemini/extensions/x/skills/bring/":         "bring",
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
	r, err := s.Locate("plain", cwd)
	require.NoError(t, err)
	assert.False(t, r.Found())
	_, err = s.Locate("../ship", cwd)
	assert.ErrorContains(t, err, "../ship")
}
