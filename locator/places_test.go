package locator_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/locator"
)

// Tests of folders without a SKILL.md, in places that only the client has: the requirements
// do not mention them.

const started = "/projects/started"

func TestProjectDirIsSearchedAfterCwdAndUser(t *testing.T) {
	w := newWorld(t)
	w.ProjectDir = started
	path := w.skill(started + "/.claude/skills/s")
	w.finds(path, "s", project)
	w.finds(path, "s", started)
	w.finds(path, "s", "")

	user := w.skill(config + "/skills/s")
	w.finds(user, "s", project)
}

func TestRelativeProjectDirIsNotSearched(t *testing.T) {
	w := newWorld(t)
	w.ProjectDir = "projects/started"
	w.put("/projects/started/.claude/skills/s/fsm.json", spec)
	result := w.finds("", "s", project)
	assert.Contains(t, explain(result), `CLAUDE_PROJECT_DIR is "projects/started", which is not an absolute path`)
}

func TestPluginOfProjectDir(t *testing.T) {
	w := newWorld(t)
	w.ProjectDir = started
	w.put(registry, objectOf(
		entry{"p@m", "local", started, "/cache/p", ""},
		entry{"p@m", "project", "/elsewhere", "/cache/other", ""},
	))
	path := w.skill("/cache/p/skills/s")
	w.skill("/cache/other/skills/s")
	result := w.finds(path, "p:s", project)
	assert.Equal(t, "p@m", result.Plugin)
}

func TestUnknownPluginFallsBackToProjectDir(t *testing.T) {
	w := newWorld(t)
	w.ProjectDir = started
	w.put(registry, objectOf())
	w.finds(w.skill(started+"/.claude/skills/s"), "p:s", project)
}

// TestACommandOfTheProjectWithAColon needs no registry: the client runs it.
func TestACommandOfTheProjectWithAColon(t *testing.T) {
	w := newWorld(t)
	path := w.put(project+"/.claude/commands/a/b.md", "")
	assert.Equal(t, path, w.finds("", "a:b", project).Runs())
}

func TestNestedCommand(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@m", "user", "", "/cache/p", ""}))
	nested := w.skill("/cache/p/commands/sub/mycmd")
	result := w.finds(nested, "p:sub:mycmd", project)
	assert.Equal(t, "p@m", result.Plugin)
	w.finds("", "p:mycmd", project)
	w.finds("", "p:sub", project)

	flat := w.skill("/cache/p/skills/sub:mycmd")
	w.finds(flat, "p:sub:mycmd", project)
}

func TestPluginDirectory(t *testing.T) {
	tests := []struct {
		name, manifest, plugin string
		loaded                 bool
	}{
		{"name in the manifest", `{"name": "my-plugin"}`, "my-plugin", true},
		{"no manifest", "", "folder", true},
		{"torn manifest", `{"name": "my-pl`, "folder", false},
		{"manifest without a name", `{"version": "1"}`, "folder", false},
		{"name is not a string", `{"name": 1}`, "folder", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.PluginDirs = []string{"/gone", "relative", "/dev/folder/"}
			if test.manifest != "" {
				w.put("/dev/folder/.claude-plugin/plugin.json", test.manifest)
			}
			path := w.skill("/dev/folder/commands/s")
			if !test.loaded {
				w.finds("", test.plugin+":s", project)
				w.Invoked = true // then the client has loaded it all the same
			}

			// Without a registry.
			result := w.finds(path, test.plugin+":s", project)
			assert.Equal(t, test.plugin, result.Plugin)
			w.skill("relative/skills/s")
			for _, other := range []string{"someone:s", "relative:s", "gone:s"} {
				w.finds("", other, project)
			}

			// With one that does not have the plugin.
			w.put(registry, objectOf())
			w.finds(path, test.plugin+":s", project)
			w.finds("", "someone:s", project)
		})
	}
}

// A plugin may have the name of an npm package, which looks like the directory of a nested skill.
func TestPluginWithTheNameOfAPackage(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/folder"}
	w.put("/dev/folder/.claude-plugin/plugin.json", `{"name": "@scope/tools"}`)
	path := w.skill("/dev/folder/skills/s")
	nested := w.skill(project + "/@scope/tools/.claude/skills/n")
	w.put(project+"/@scope/tools/.claude/skills/n/SKILL.md", "n")
	w.put(project+"/.claude/commands/@scope/tools/n.md", "is @scope:tools:n")
	w.put(project+"/.claude/commands/@scope/tools/s.md", "is @scope:tools:s")

	assert.Equal(t, "@scope/tools", w.finds(path, "@scope/tools:s", project).Plugin)
	w.finds(nested, "@scope/tools:n", project)
}

func TestPluginDirectoryWithoutTheSkillNeedsNoRegistry(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.put("/dev/p/.claude-plugin/plugin.json", `{"name": "p"}`)
	w.skill(project + "/.claude/skills/s")
	w.finds("", "p:s", project)
}

func TestMissingRegistryIsAnErrorWithoutPluginDirectories(t *testing.T) {
	w := newWorld(t)
	_, err := w.Locate("p:s", project)
	require.ErrorIs(t, err, fs.ErrNotExist)

	w.PluginDirs = []string{"/dev/p"}
	w.put(registry, "{")
	_, err = w.Locate("p:s", project)
	require.ErrorIs(t, err, locator.ErrMalformed)
}

func TestPluginDirectoryTakesPrecedenceOverInstallation(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.skill("/dev/p/skills/s")
	nested := w.skill("/dev/p/commands/a/b")
	w.put(registry, objectOf(entry{"p@m", "user", "", "/cache/p", ""}))
	w.finds("/dev/p/skills/s/fsm.json", "p:s", project)
	w.finds(nested, "p:a:b", project)
	w.skill("/cache/p/skills/s")
	w.finds("/dev/p/skills/s/fsm.json", "p:s", project)

	w.PluginDirs = []string{"/first/p", "/dev/p"}
	w.put("/first/p/.claude-plugin/plugin.json", `{"name": "p"}`)
	w.finds("", "p:s", project)
	w.finds(w.skill("/first/p/skills/s"), "p:s", project)
}

func TestDisabledPluginIsSkipped(t *testing.T) {
	const user, shared, local = config + "/settings.json", project + "/.claude/settings.json", project + "/.claude/settings.local.json"
	on, off := `{"enabledPlugins": {"p@m": true}}`, `{"enabledPlugins": {"p@m": false}}`
	tests := []struct {
		name     string
		files    map[string]string
		disabled bool
	}{
		{"not mentioned", nil, false},
		{"enabled", map[string]string{user: on}, false},
		{"another plugin enabled", map[string]string{user: `{"enabledPlugins": {"q@m": true}}`}, true},
		{"the plugin of another marketplace disabled", map[string]string{user: `{"enabledPlugins": {"p@n": false}}`}, true},
		{"disabled by the user", map[string]string{user: off}, true},
		{"disabled by the project", map[string]string{shared: off, user: on}, true},
		{"disabled by the user in the project", map[string]string{local: off, shared: on, user: on}, true},
		{"disabled by the user, enabled by the project", map[string]string{shared: on, user: off}, false},
		{"enabled by the user in the project", map[string]string{local: on, shared: off, user: off}, false},
		{"a list of versions does not enable", map[string]string{shared: `{"enabledPlugins": {"p@m": ["1.0"]}}`}, true},
		{"null drops the file", map[string]string{shared: `{"enabledPlugins": {"p@m": null}}`, user: off}, true},
		{"text drops the file", map[string]string{shared: `{"enabledPlugins": {"p@m": "false"}}`}, true},
		{"torn settings are skipped", map[string]string{shared: `{"enabledPl`, user: on}, false},
		{"torn settings enable nothing", map[string]string{user: `{"enabledPlugins": {"p@m": true},`}, true},
		{"settings of another type are skipped", map[string]string{shared: `{"enabledPlugins": []}`, user: on}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.put(registry, objectOf(entry{"p@m", "user", "", "/cache/p", ""}))
			w.put("/cache/p/skills/s/SKILL.md", "---\nname: alias\n---\n")
			path := w.skill("/cache/p/skills/s")
			for file, content := range test.files {
				w.put(file, content)
			}
			if test.disabled {
				path = ""
			}
			w.finds(path, "p:s", project)
			w.finds(path, "alias", project)

			// The project is where the client was started, if that is known.
			w.ProjectDir = project
			w.finds(path, "p:s", "/somewhere/else")
		})
	}
}

func TestSettingsOfARelativeCwdAreNotRead(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@m", "user", "", "/cache/p", ""}))
	w.put("projects/myapp/.claude/settings.json", `{"enabledPlugins": {"p@m": false}}`)
	w.finds(w.skill("/cache/p/skills/s"), "p:s", "projects/myapp")
}

func TestStepsNameTheSettings(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@a", "user", "", "/a", ""}, entry{"p@b", "user", "", "/b", ""}))
	w.put(config+"/settings.json", `{"enabledPlugins": {"p@a": false, "p@b": true}}`)
	w.put(project+"/.claude/settings.json", `{`)
	w.skill("/a/skills/s")
	result := w.finds(w.skill("/b/skills/s"), "p:s", project)
	assert.Contains(t, explain(result), "p@a, scope user: disabled in "+config+"/settings.json")
	assert.Contains(t, explain(result), "settings | "+project+"/.claude/settings.json | failed | 1:2: unexpected end of file")
}

const (
	known = config + "/plugins/known_marketplaces.json"
	tree  = "/src/market"
)

func TestDirectoryMarketplaceIsReadLive(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@m", "user", "", "/cache/p", ""}))
	cached := w.skill("/cache/p/skills/s")
	result := w.finds(cached, "p:s", project)
	assert.NotContains(t, explain(result), locator.RuleMarketplace)

	w.put(known, `{"m": {"source": {"source": "directory", "path": "/src/market"}, "installLocation": "/src/market"}}`)
	w.put(tree+"/.claude-plugin/marketplace.json", `{"plugins": [7, {"name": "q", "source": "./q"}, {"name": "p", "source": "./plugins/p"}]}`)
	live := w.skill(tree + "/plugins/p/skills/s")
	result = w.finds(live, "p:s", project)
	assert.Equal(t, "p@m", result.Plugin)
	assert.Contains(t, explain(result), "in the source tree of its marketplace")

	// A skill that was removed from the source tree is not read from the installed copy.
	require.NoError(t, w.mem.Remove(live))
	w.finds("", "p:s", project)
}

func TestAlias(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(
		entry{"p@m", "user", "", "/p", ""},
		entry{"q@m", "local", project, "/q", ""},
		entry{"r@m", "local", "/elsewhere", "/r", ""},
	))
	for _, root := range []string{"/p", "/q", "/r"} {
		w.put(root+"/skills/other/SKILL.md", "---\nname: something\ndescription: not the alias\n---\nname: alias\n")
	}
	w.put("/p/skills/folder/SKILL.md", "---\ndescription: what it does: this\nname: \"alias\"\n---\n")
	w.put("/r/skills/folder/SKILL.md", "---\nname: alias\n---\n")
	w.skill("/r/skills/folder")
	path := w.skill("/p/skills/folder")
	result := w.finds(path, "alias", project)
	assert.Equal(t, "p@m", result.Plugin)
	w.finds("", "folder", project)
	w.finds("", "ali", project)

	// A folder name takes precedence over every alias.
	w.put(config+"/skills/alias/SKILL.md", "")
	w.finds(w.skill(config+"/skills/alias"), "alias", project)
}

func TestAliasOfProjectDir(t *testing.T) {
	w := newWorld(t)
	w.ProjectDir = started
	w.put(registry, objectOf(entry{"p@m", "project", started, "/p", ""}))
	w.put("/p/skills/folder/SKILL.md", "---\nname: alias\n---\n")
	w.finds(w.skill("/p/skills/folder"), "alias", project)
}

func TestAliasInTheSourceTree(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@m", "user", "", "/cache/p", ""}))
	w.put(known, `{"m": {"source": {"source": "directory", "path": "/src/market"}}}`)
	w.put(tree+"/.claude-plugin/marketplace.json", `{"plugins": [{"name": "p", "source": "./"}]}`)
	w.put(tree+"/skills/folder/SKILL.md", "---\nname: alias\n---\n")
	w.finds(w.skill(tree+"/skills/folder"), "alias", project)
}

func TestFolderNameTakesPrecedenceOverAlias(t *testing.T) {
	for _, folder := range []string{started + "/.claude", "/projects/.claude", config} {
		w := newWorld(t)
		w.ProjectDir = started
		w.put(registry, objectOf(entry{"p@m", "user", "", "/p", ""}))
		w.put("/p/skills/folder/SKILL.md", "---\nname: alias\n---\n")
		path := w.skill("/p/skills/folder")
		w.finds(path, "alias", project)
		w.put(folder+"/skills/alias/SKILL.md", "")
		w.finds("", "alias", project)
	}
}

func TestRelativeFolderDoesNotTakePrecedenceOverAlias(t *testing.T) {
	w := newWorld(t)
	w.ConfigDir = ""
	w.PluginDirs = []string{"/dev/p"}
	w.put("/dev/p/skills/folder/SKILL.md", "---\nname: alias\n---\n")
	w.put(".claude/skills/alias/SKILL.md", "")
	w.put("skills/alias/SKILL.md", "")
	w.finds(w.skill("/dev/p/skills/folder"), "alias", "")
}

func TestAliasWithoutUsableRegistry(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.put("/dev/p/skills/folder/SKILL.md", "---\nname: alias\n---\n")
	path := w.skill("/dev/p/skills/folder")
	w.finds(path, "alias", project)
	w.put(registry, `{`)
	result := w.finds(path, "alias", project)
	assert.Contains(t, explain(result), "plugin registry | "+registry+" | failed | 1:2: unexpected end of file")
}

func TestAliasInInvalidFrontmatterIsReported(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.put("/dev/p/skills/folder/SKILL.md", "---\nname: \"alias\n---\n")
	w.skill("/dev/p/skills/folder")
	result := w.finds("", "alias", project)
	assert.Contains(t, explain(result), "frontmatter | /dev/p/skills/folder/SKILL.md | failed | frontmatter is not valid YAML")
}

func TestUnreadableAliasIsReported(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.skill("/dev/p/skills/folder")
	path := w.put("/dev/p/skills/folder/SKILL.md", "---\nname: alias\n---\n")
	w.FS = forbidden{w.FS, path}
	result := w.finds("", "alias", project)
	assert.Contains(t, explain(result), "frontmatter | "+path+" | failed | permission denied")
}

func TestFrontmatterIsBounded(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	path := w.skill("/dev/p/skills/folder")
	w.put("/dev/p/skills/folder/SKILL.md", "---\nname: alias\n---\n"+strings.Repeat("long\n", 1<<16))
	w.finds(path, "alias", project)
	w.put("/dev/p/skills/folder/SKILL.md", "---\nname: alias\n"+strings.Repeat("# long\n", 1<<14)+"---\n")
	w.finds("", "alias", project)
}

func TestAliasTwiceInOnePlugin(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	for _, folder := range []string{"d", "b", "a", "c"} {
		w.put("/dev/p/skills/"+folder+"/SKILL.md", "---\nname: alias\n---\n")
		w.skill("/dev/p/skills/" + folder)
	}
	w.finds("/dev/p/skills/a/fsm.json", "alias", project)
	w.finds("/dev/p/skills/a/fsm.json", "p:alias", project)
	w.finds("/dev/p/skills/c/fsm.json", "p:c", project)
}

func TestAliasWithUnreadableSpecIsFound(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.put("/dev/p/skills/folder/SKILL.md", "---\nname: alias\n---\n")
	path := w.skill("/dev/p/skills/folder")
	w.FS = forbidden{w.FS, path}
	w.finds(path, "alias", project)
}

func TestFolderWithoutSkillHasNoAlias(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.skill("/dev/p/skills/folder")
	result := w.finds("", "alias", project)
	assert.NotContains(t, explain(result), locator.OutcomeFailed)
}
