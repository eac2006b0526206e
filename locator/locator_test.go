package locator_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/locator"
)

// search is a world and what is found there. Most folders have no SKILL.md: they are in places that only the client has, which the
// requirements do not mention.
type search struct {
	name      string
	set       func(*locator.Locator)
	installed []entry           // nil if there is no installed_plugins.json
	has       []string          // files, with "=" and their content; a folder has an fsm.json
	finds     map[string]string // NAME, or NAME in CWD, to the folder of its fsm.json; "" if there is none
	plugin    string            // of each that is found
	says      []string          // texts of the steps; with "!" those that are not there
}

const (
	mine, here, there = config + "/skills/", project + "/.claude/skills/", started + "/.claude/skills/"

	alias        = "=---\nname: alias\n---\n" // the content of a SKILL.md
	older, newer = "2025-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z"
)

func user(key, install string) entry { return entry{key: key, scope: "user", install: install} }

func enables(plugins string) string { return `={"enabledPlugins": {` + plugins + `}}` }

func startedThere(l *locator.Locator) { l.ProjectDir = started }

func plugins(dirs ...string) func(*locator.Locator) {
	return func(l *locator.Locator) { l.PluginDirs = dirs }
}

var (
	one     = []entry{user("p@m", "/p")}
	ofDev   = []string{"/dev/p/skills/folder/SKILL.md" + alias, "/dev/p/skills/folder/"}
	aliased = []string{"/p/skills/folder/SKILL.md" + alias, "/p/skills/folder/"}
	live    = []string{known + `={"m": {"source": {"source": "directory", "path": "/src/market"}, "installLocation": "/src/market"}}`,
		tree + `/.claude-plugin/marketplace.json={"plugins": [7, {"name": "q", "source": "./q"}, {"name": "p", "source": "./plugins/p"}]}`,
		"/p/skills/s/"}
	npm = []string{`/dev/folder/.claude-plugin/plugin.json={"name": "@scope/tools"}`, "/dev/folder/skills/s/",
		project + "/@scope/tools/.claude/skills/n/", project + "/@scope/tools/.claude/skills/n/SKILL.md=n",
		project + "/.claude/commands/@scope/tools/n.md=is @scope:tools:n", project + "/.claude/commands/@scope/tools/s.md=is @scope:tools:s"}
	below = []string{project + "/.git/HEAD=", "/p/skills/s/", here + "s/"}
	three = []string{"/p/skills/other/SKILL.md" + notAlias, "/q/skills/other/SKILL.md" + notAlias, "/r/skills/other/SKILL.md" + notAlias,
		"/p/skills/folder/SKILL.md=---\ndescription: what it does: this\nname: \"alias\"\n---\n", "/p/skills/folder/",
		"/r/skills/folder/SKILL.md" + alias, "/r/skills/folder/"}
	ofThree = []entry{user("p@m", "/p"), {"q@m", "local", project, "/q", ""}, {"r@m", "local", "/elsewhere", "/r", ""}}
	two     = []entry{user("p@m", "/p1"), user("p@n", "/p2")}
)

const notAlias = "=---\nname: something\ndescription: not the alias\n---\nname: alias\n"

func with(all []string, more ...string) []string { return append(append([]string{}, all...), more...) }

var searches = []search{
	{"SCN-THS-2.1: a plugin's skill", nil, one, []string{"/p/skills/s/", "/p/commands/s/", here + "s/"},
		map[string]string{"p:s": "/p/skills/s"}, "p@m", []string{"!" + string(locator.RuleMarketplace)}},
	{"SCN-THS-2.2: a plugin's command", nil, one, []string{"/p/commands/s/"}, map[string]string{"p:s": "/p/commands/s"}, "p@m", nil},
	{"SCN-THS-2.3: the project's skill", nil, nil, []string{here + "s/", mine + "s/"}, map[string]string{"s": here + "s"}, "", nil},
	{"SCN-THS-2.4: the user's skill", nil, nil, []string{mine + "s/"}, map[string]string{"s": mine + "s"}, "", nil},
	{"SCN-THS-2.5: nothing", nil, one, nil, map[string]string{"s": "", "p:s": "", "other:s": "", "p:a:b": ""}, "", nil},
	{"SCN-THS-3.1: local over project", nil, []entry{{"p@m", "project", project, "/low", newer}, {"p@m", "local", project, "/high", older}},
		[]string{"/low/skills/s/", "/high/skills/s/"}, map[string]string{"p:s": "/high/skills/s"}, "p@m", nil},
	{"SCN-THS-3.1: local over user", nil, []entry{{"p@m", "user", project, "/low", newer}, {"p@m", "local", project, "/high", older}},
		[]string{"/low/skills/s/", "/high/skills/s/"}, map[string]string{"p:s": "/high/skills/s"}, "p@m", nil},
	{"SCN-THS-3.1: project over user", nil, []entry{{"p@m", "user", project, "/low", newer}, {"p@m", "project", project, "/high", older}},
		[]string{"/low/skills/s/", "/high/skills/s/"}, map[string]string{"p:s": "/high/skills/s"}, "p@m", nil},
	{"SCN-THS-3.2: only local", nil, []entry{{"p@m", "local", project, "/p", ""}}, []string{"/p/skills/s/"},
		map[string]string{"p:s": "/p/skills/s"}, "p@m", nil},
	{"SCN-THS-3.3: only project", nil, []entry{{"p@m", "project", project, "/p", ""}}, []string{"/p/skills/s/"},
		map[string]string{"p:s": "/p/skills/s"}, "p@m", nil},
	{"SCN-THS-3.4: only user", nil, one, []string{"/p/skills/s/"}, map[string]string{"p:s": "/p/skills/s"}, "p@m", nil},
	{"SCN-THS-3.7: an unknown plugin, the user's skill", nil, []entry{user("another@m", "/p")}, []string{mine + "s/"},
		map[string]string{"p:s": mine + "s"}, "", nil},
	{"SCN-THS-3.7: an unknown plugin, the project's skill", nil, []entry{user("another@m", "/p")}, []string{mine + "s/", here + "s/"},
		map[string]string{"p:s": here + "s"}, "", nil},

	{"a plugin of another project", nil, []entry{{"p@m", "local", "/elsewhere", "/p", ""}}, []string{"/p/skills/s/", here + "s/"},
		map[string]string{"p:s": here + "s"}, "", []string{"/elsewhere is not that of"}},
	{"a plugin of a directory below, enabled in the repository", nil, []entry{{"p@m", "local", project + "/below", "/p", ""}},
		with(below, project+"/.claude/settings.local.json"+enables(`"p@m": true`)),
		map[string]string{"p:s": "/p/skills/s", "p:s in " + project + "/other": "/p/skills/s"}, "p@m", nil},
	{"a plugin of a directory below, disabled in the repository", nil, []entry{{"p@m", "local", project + "/below", "/p", ""}},
		with(below, project+"/.claude/settings.local.json"+enables(`"p@m": false`)),
		map[string]string{"p:s in " + project + "/below": ""}, "", nil},
	{"an installed plugin without the skill", startedThere, one, []string{here + "s/", there + "s/", mine + "s/"},
		map[string]string{"p:s": ""}, "", nil},
	{"two marketplaces, the scope first", nil, []entry{{"p@a", "user", "", "/a", newer}, {"p@b", "project", project, "/b", older}},
		[]string{"/a/skills/s/"}, map[string]string{"p:s": ""}, "", []string{": another one takes precedence"}},
	{"two marketplaces, a time before none", nil, []entry{user("p@a", "/a"), {"p@b", "user", "", "/b", older}},
		[]string{"/a/skills/s/", "/b/skills/s/"}, map[string]string{"p:s": "/b/skills/s"}, "p@b", []string{": another one takes precedence"}},
	{"two marketplaces, the nearest project last", nil, []entry{{"p@a", "local", "/projects", "/a", ""}, {"p@b", "local", project, "/b", ""}},
		[]string{"/a/skills/s/", "/b/skills/s/"}, map[string]string{"p:s": "/b/skills/s"}, "p@b", []string{": another one takes precedence"}},
	{"an installation whose skill has no workflow", nil, []entry{{"p@a", "user", "", "/a", newer}, user("p@b", "/b")},
		[]string{"/a/skills/s/SKILL.md=", "/b/skills/s/"}, map[string]string{"p:s": ""}, "", nil},
	{"an enabled plugin, the most specific scope", nil, []entry{{"p@m", "user", "", "/u", newer}, {"p@m", "local", project, "/l", ""}},
		[]string{config + "/settings.json" + enables(`"p@m": true`), "/u/skills/s/", "/l/skills/s/"}, map[string]string{"p:s": "/l/skills/s"},
		"p@m", []string{"p@m, scope user, updated 2026-01-01T00:00:00Z: another one takes precedence"}},
	{"names of plugins are compared whole", nil, []entry{user("my-plugin-two@m", "/two"), user("plugin@m", "/three")},
		[]string{"/two/skills/s/", "/three/skills/s/"}, map[string]string{"my-plugin:s": ""}, "", nil},
	{"an unknown cwd", nil, nil, []string{mine + "s/", "/.claude/skills/s/"},
		map[string]string{"s in ": mine + "s", "s in projects/myapp": mine + "s"}, "", []string{`", which is not an absolute path`}},
	{"a cwd that is gone", nil, nil, []string{mine + "s/", "/.claude/skills/s/"}, map[string]string{"s in /deleted/long/ago": mine + "s"}, "",
		nil},
	{"an unknown configuration", func(l *locator.Locator) { l.ConfigDir = "" }, nil, []string{mine + "s/"}, map[string]string{"s in ": ""},
		"", []string{`cwd is "", which is not an absolute path`}},

	{"where the client was started", startedThere, nil, []string{there + "s/"},
		map[string]string{"s": there + "s", "s in " + started: there + "s", "s in ": there + "s"}, "", nil},
	{"where the client was started, after the user's", startedThere, nil, []string{there + "s/", mine + "s/"},
		map[string]string{"s": mine + "s"}, "", nil},
	{"a relative start", func(l *locator.Locator) { l.ProjectDir = "projects/started" }, nil, []string{there + "s/"},
		map[string]string{"s": ""}, "", []string{`CLAUDE_PROJECT_DIR is "projects/started", which is not an absolute path`}},
	{"a plugin of where the client was started", startedThere, []entry{{"p@m", "local", started, "/p", ""},
		{"p@m", "project", "/elsewhere", "/other", ""}}, []string{"/p/skills/s/", "/other/skills/s/"},
		map[string]string{"p:s": "/p/skills/s"}, "p@m", nil},
	{"an unknown plugin where the client was started", startedThere, []entry{}, []string{there + "s/"}, map[string]string{"p:s": there + "s"},
		"", nil},
	{"a nested command", nil, one, []string{"/p/commands/sub/c/"}, map[string]string{"p:sub:c": "/p/commands/sub/c", "p:c": "", "p:sub": ""},
		"p@m", nil},
	{"a folder with a colon before a nested command", nil, one, []string{"/p/commands/sub/c/", "/p/skills/sub:c/"},
		map[string]string{"p:sub:c": "/p/skills/sub:c"}, "p@m", nil},
	{"a plugin with the name of a package", plugins("/dev/folder"), nil, npm,
		map[string]string{"@scope/tools:s": "/dev/folder/skills/s"}, "@scope/tools", nil},
	{"a directory with the name of a package", plugins("/dev/folder"), nil, npm,
		map[string]string{"@scope/tools:n": project + "/@scope/tools/.claude/skills/n"}, "", nil},
	{"a plugin directory without the skill, and no registry", plugins("/dev/p"), nil,
		[]string{`/dev/p/.claude-plugin/plugin.json={"name": "p"}`, here + "s/"}, map[string]string{"p:s": ""}, "", nil},
	{"a plugin directory comes first", plugins("/dev/p"), one, []string{"/dev/p/skills/s/", "/dev/p/commands/a/b/", "/p/skills/s/"},
		map[string]string{"p:s": "/dev/p/skills/s", "p:a:b": "/dev/p/commands/a/b"}, "p", nil},
	{"the first plugin directory of a name", plugins("/first/p", "/dev/p"), one,
		[]string{`/first/p/.claude-plugin/plugin.json={"name": "p"}`, "/dev/p/skills/s/"}, map[string]string{"p:s": ""}, "", nil},
	{"the skill of the first plugin directory", plugins("/first/p", "/dev/p"), one,
		[]string{`/first/p/.claude-plugin/plugin.json={"name": "p"}`, "/dev/p/skills/s/", "/first/p/skills/s/"},
		map[string]string{"p:s": "/first/p/skills/s"}, "p", nil},
	{"settings of a relative cwd", nil, one, []string{"projects/myapp/.claude/settings.json" + enables(`"p@m": false`), "/p/skills/s/"},
		map[string]string{"p:s in projects/myapp": "/p/skills/s"}, "p@m", nil},
	{"steps name the settings", nil, []entry{user("p@a", "/a"), user("p@b", "/b")},
		[]string{config + "/settings.json" + enables(`"p@a": false, "p@b": true`), project + "/.claude/settings.json={", "/a/skills/s/",
			"/b/skills/s/"}, map[string]string{"p:s": "/b/skills/s"}, "p@b",
		[]string{"p@a, scope user: disabled in " + config + "/settings.json",
			"settings | " + project + "/.claude/settings.json | failed | 1:2: unexpected end of file"}},
	{"the source tree of a marketplace", nil, one, with(live, tree+"/plugins/p/skills/s/"),
		map[string]string{"p:s": tree + "/plugins/p/skills/s"}, "p@m", []string{"in the source tree of its marketplace"}},
	{"a skill that was removed from the source tree", nil, one, with(live, tree+"/plugins/p/x="), map[string]string{"p:s": ""}, "", nil},

	{"a frontmatter's name", nil, ofThree, three, map[string]string{"alias": "/p/skills/folder", "folder": "", "ali": ""}, "p@m", nil},
	{"a folder's name comes before it", nil, ofThree, with(three, mine+"alias/SKILL.md=", mine+"alias/"),
		map[string]string{"alias": mine + "alias"}, "", nil},
	{"where the client was started, it is found", startedThere, []entry{{"p@m", "project", started, "/p", ""}}, aliased,
		map[string]string{"alias": "/p/skills/folder"}, "p@m", nil},
	{"in a source tree, it is found", nil, one, []string{known + `={"m": {"source": {"source": "directory", "path": "/src/market"}}}`,
		tree + `/.claude-plugin/marketplace.json={"plugins": [{"name": "p", "source": "./"}]}`, tree + "/skills/folder/SKILL.md" + alias,
		tree + "/skills/folder/"}, map[string]string{"alias": tree + "/skills/folder"}, "p@m", nil},
	{"a folder of the project comes first", startedThere, one, with(aliased, there+"alias/SKILL.md="), map[string]string{"alias": ""}, "",
		nil},
	{"a folder of a parent comes first", startedThere, one, with(aliased, "/projects/.claude/skills/alias/SKILL.md="),
		map[string]string{"alias": ""}, "", nil},
	{"a folder of the user comes first", startedThere, one, with(aliased, mine+"alias/SKILL.md="), map[string]string{"alias": ""}, "", nil},
	{"a relative folder does not come first", func(l *locator.Locator) { l.ConfigDir, l.PluginDirs = "", []string{"/dev/p"} }, nil,
		with(ofDev, ".claude/skills/alias/SKILL.md=", "skills/alias/SKILL.md="), map[string]string{"alias in ": "/dev/p/skills/folder"}, "p",
		nil},
	{"no registry", plugins("/dev/p"), nil, ofDev, map[string]string{"alias": "/dev/p/skills/folder"}, "p", nil},
	{"a broken registry", plugins("/dev/p"), nil, with(ofDev, registry+"={"), map[string]string{"alias": "/dev/p/skills/folder"}, "p",
		[]string{"plugin registry | " + registry + " | failed | 1:2: unexpected end of file"}},
	{"a broken frontmatter", plugins("/dev/p"), nil, []string{"/dev/p/skills/folder/SKILL.md=---\nname: \"alias\n---\n",
		"/dev/p/skills/folder/"}, map[string]string{"alias": ""}, "",
		[]string{"frontmatter | /dev/p/skills/folder/SKILL.md | failed | frontmatter is not valid YAML"}},
	{"a long text", plugins("/dev/p"), nil, with(ofDev, "/dev/p/skills/folder/SKILL.md"+alias+strings.Repeat("long\n", 1<<16)),
		map[string]string{"alias": "/dev/p/skills/folder"}, "p", nil},
	{"a frontmatter that is too long", plugins("/dev/p"), nil,
		with(ofDev, "/dev/p/skills/folder/SKILL.md=---\nname: alias\n"+strings.Repeat("# long\n", 1<<14)+"---\n"), map[string]string{"alias": ""},
		"", nil},
	{"twice in one plugin", plugins("/dev/p"), nil, []string{"/dev/p/skills/d/SKILL.md" + alias, "/dev/p/skills/d/",
		"/dev/p/skills/b/SKILL.md" + alias, "/dev/p/skills/b/", "/dev/p/skills/a/SKILL.md" + alias, "/dev/p/skills/a/",
		"/dev/p/skills/c/SKILL.md" + alias, "/dev/p/skills/c/"}, map[string]string{"alias": "/dev/p/skills/a", "p:alias": "/dev/p/skills/a",
		"p:c": "/dev/p/skills/c"}, "p", nil},
	{"a folder without a SKILL.md has none", plugins("/dev/p"), nil, []string{"/dev/p/skills/folder/"}, map[string]string{"alias": ""}, "",
		[]string{"!" + string(locator.OutcomeFailed)}},

	{"without a repository every parent", nil, nil, []string{"/.claude/skills/x/SKILL.md=", "/.claude/skills/x/"},
		map[string]string{"x in /a/b/c/d/e/f/g": "/.claude/skills/x"}, "", nil},
	{"a scoped name without a registry", nil, nil, nil, map[string]string{"apps/web:x": ""}, "", nil},
	{"a scoped name and a broken registry", nil, nil,
		[]string{registry + "={", project + "/web/.claude/skills/x/SKILL.md=", project + "/web/.claude/skills/x/"},
		map[string]string{"apps/web:x": "", "web:x": project + "/web/.claude/skills/x"}, "", nil},
	{"a command of the second plugin of the name", nil, two, []string{"/p1/skills/x/SKILL.md=", "/p1/skills/x/", "/p2/commands/x.md=",
		"/p2/commands/x/"}, map[string]string{"p:x": "/p2/commands/x"}, "p@n", nil},
	{"a command of the first plugin of the name", nil, two, []string{"/p1/commands/x.md=", "/p1/commands/x/", "/p2/skills/x/SKILL.md=",
		"/p2/skills/x/"}, map[string]string{"p:x": "/p1/commands/x"}, "p@m", nil},
	{"skills of both plugins of the name", nil, two, []string{"/p1/skills/x/SKILL.md=", "/p1/skills/x/", "/p2/skills/x/SKILL.md=",
		"/p2/skills/x/"}, map[string]string{"p:x": "/p1/skills/x"}, "p@m", nil},
}

func TestLocate(t *testing.T) {
	for _, c := range searches {
		for form, registryOf := range forms {
			t.Run(c.name+", "+form, func(t *testing.T) {
				w := newWorld(t)
				if c.set != nil {
					c.set(&w.Locator)
				}
				if c.installed != nil {
					w.put(registry, registryOf(c.installed...))
				}
				w.has(c.has...)
				for name, folder := range c.finds {
					command, cwd, elsewhere := strings.Cut(name, " in ")
					if !elsewhere {
						cwd = project
					}
					result := w.finds(specIn(folder), command, cwd)
					assert.NotEmpty(t, result.Steps)
					if folder != "" {
						assert.Equal(t, c.plugin, result.Plugin, name)
					}
					for _, text := range c.says {
						absent, not := strings.CutPrefix(text, "!")
						assert.Equal(t, !not, strings.Contains(explain(result), absent), "%s: %s\n%s", name, text, explain(result))
					}
				}
			})
		}
	}
}

// What lies in a project is said of package client: TestApplies.
func TestProjectPath(t *testing.T) {
	for _, c := range []struct {
		name, project, cwd string
		applies            bool
	}{
		{"SCN-THS-3.5: cwd is under the project", "/projects/myapp", "/projects/myapp/src/components", true},
		{"SCN-THS-3.6: cwd is elsewhere", "/projects/myapp", "/projects/otherapp", false},
		{"cwd is empty", "/projects/myapp", "", false},
		{"cwd is relative", "/projects/myapp", "projects/myapp", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.put(registry, objectOf(entry{key: "p@m", scope: "project", project: c.project, install: "/p"}))
			path := w.skill("/p/skills/s")
			if !c.applies {
				path = ""
			}
			w.finds(path, "p:s", c.cwd)
		})
	}
}

func TestRegistryErrors(t *testing.T) {
	const prefix = "Skill 'my-plugin:my-skill' not found - installed_plugins.json is missing or malformed: " + registry
	for content, want := range map[string]string{
		"{\n  \"version\": 2,\n":        ":3:1: unexpected end of file: the { at 1:1 is not closed",
		`{"plugins": {}}`:               `:1:1: "version" has to be 2`,
		`{"version": 2, "plugins": []}`: `:1:27: "plugins" has to be an object`,
	} {
		w := newWorld(t)
		w.has(registry+"="+content, here+"my-skill/", mine+"my-skill/")
		result, err := w.Locate("my-plugin:my-skill", project)
		require.ErrorIs(t, err, locator.ErrMalformed)
		require.EqualError(t, err, prefix+want)
		assert.False(t, result.Found())
		failed := locator.Step{Rule: locator.RuleRegistry, Path: registry, Outcome: locator.OutcomeFailed, Detail: want[1:]}
		assert.Equal(t, failed, result.Steps[0])
		var registryErr *locator.RegistryError
		require.ErrorAs(t, err, &registryErr)
		assert.Equal(t, "my-plugin:my-skill", registryErr.Command)

		_, err = w.Locate("my-skill", project)
		assert.NoError(t, err, "a plain name does not need the registry")
		w.PluginDirs = []string{"/dev/p"}
		_, err = w.Locate("p:s", project)
		require.ErrorIs(t, err, locator.ErrMalformed)
	}
	for _, dir := range []string{config, ""} {
		w := newWorld(t)
		w.ConfigDir = dir
		w.has("plugins/installed_plugins.json=[]", here+"s/")
		_, err := w.Locate("p:s", project)
		require.ErrorIs(t, err, fs.ErrNotExist)
		assert.Regexp(t, `^Skill 'p:s' not found - installed_plugins.json is missing or malformed: `+
			`.*plugins/installed_plugins.json: file does not exist$`, err.Error())
	}
}

// Fact 123: the client loads a plugin of a directory marketplace also where the registry is missing
// or broken, which is so until its first start has written it.
func TestPluginOfADirectoryMarketplaceWithoutARegistry(t *testing.T) {
	for _, content := range []string{"", "{"} {
		w := newWorld(t)
		w.has(config+"/settings.json"+enables(`"p@m": true`),
			known+`={"m": {"source": {"source": "directory", "path": "/market"}, "installLocation": "/market"}}`,
			`/market/.claude-plugin/marketplace.json={"name": "m", "plugins": [{"name": "p", "source": "./p"}]}`,
			"/market/p/skills/a/SKILL.md"+alias, "/market/p/skills/a/")
		if content != "" {
			w.put(registry, content)
		}
		for _, name := range []string{"p:a", "alias"} {
			w.finds("/market/p/skills/a/fsm.json", name, project)
		}
		_, err := w.Locate("p:gone", project)
		require.ErrorAs(t, err, new(*locator.RegistryError))
	}
}

func TestProblemsOfTheRegistryAreSteps(t *testing.T) {
	w := newWorld(t)
	w.put(registry, `[7, {"name": "p@m", "scope": "user", "installPath": "/cache/p"}]`)
	result := w.finds(w.skill("/cache/p/skills/s"), "p:s", project)
	assert.Equal(t, locator.Step{
		Rule: locator.RuleRegistry, Path: registry, Outcome: locator.OutcomeSkipped, Detail: "1:2: an entry: skipped: got a number",
	}, result.Steps[0])
}

func TestResultAsJSON(t *testing.T) {
	w := newWorld(t)
	w.has(mine+"s/SKILL.md=", mine+"s/")
	data := must(json.Marshal(w.locate("s", project)))
	assert.Equal(t, `{"command":"s","path":"/home/me/.claude/skills/s/fsm.json","plugin":"","steps":[`+
		`{"rule":"user skill","path":"/home/me/.claude/skills/s/SKILL.md","outcome":"found","detail":"the client runs this skill"},`+
		`{"rule":"user skill","path":"/home/me/.claude/skills/s/fsm.json","outcome":"used","detail":""}]}`, string(data))
}

// TestACommandOfTheProjectWithAColon needs no registry: the client runs it.
func TestACommandOfTheProjectWithAColon(t *testing.T) {
	w := newWorld(t)
	path := w.put(project+"/.claude/commands/a/b.md", "")
	assert.Equal(t, path, w.finds("", "a:b", project).Runs())
}

// TestPluginDirectory: without a registry, and with one that does not have the plugin.
func TestPluginDirectory(t *testing.T) {
	for _, c := range []struct {
		manifest, plugin string
		loaded           bool
	}{
		{`{"name": "my-plugin"}`, "my-plugin", true}, {"", "folder", true}, {`{"name": "my-pl`, "folder", false},
		{`{"version": "1"}`, "folder", false}, {`{"name": 1}`, "folder", false},
	} {
		w := newWorld(t)
		w.PluginDirs = []string{"/gone", "relative", "/dev/folder/"}
		if c.manifest != "" {
			w.put("/dev/folder/.claude-plugin/plugin.json", c.manifest)
		}
		w.has("/dev/folder/commands/s/", "relative/skills/s/")
		if !c.loaded {
			w.finds("", c.plugin+":s", project)
			w.Invoked = true // then the client has loaded it all the same
		}
		for range 2 {
			assert.Equal(t, c.plugin, w.finds("/dev/folder/commands/s/fsm.json", c.plugin+":s", project).Plugin)
			for _, other := range []string{"someone:s", "relative:s", "gone:s"} {
				w.finds("", other, project)
			}
			w.put(registry, objectOf())
		}
	}
}

func TestDisabledPluginIsSkipped(t *testing.T) {
	const user, shared = config + "/settings.json", project + "/.claude/settings.json"
	on, off := enables(`"p@m": true`), enables(`"p@m": false`)
	for name, c := range map[string]struct {
		files    []string
		disabled bool
	}{
		"not mentioned":          {nil, false},
		"enabled":                {[]string{user + on}, false},
		"another plugin enabled": {[]string{user + enables(`"q@m": true`)}, true},
		"the plugin of another marketplace disabled": {[]string{user + enables(`"p@n": false`)}, true},
		"disabled by the user":                       {[]string{user + off}, true},
		"null drops the file":                        {[]string{shared + enables(`"p@m": null`), user + off}, true},
		"text drops the file":                        {[]string{shared + enables(`"p@m": "false"`)}, true},
		"settings of another type are skipped":       {[]string{shared + `={"enabledPlugins": []}`, user + on}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(registry, objectOf(one...))
			w.has(append(aliased, c.files...)...)
			path := specIn("/p/skills/folder")
			if c.disabled {
				path = ""
			}
			w.finds(path, "p:folder", project)
			w.finds(path, "alias", project)

			// The project is where the client was started, if that is known.
			w.ProjectDir = project
			w.finds(path, "p:folder", "/somewhere/else")
		})
	}
}

func TestUnreadableFilesOfAnAlias(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.has(ofDev...)
	files := w.FS
	w.FS = forbidden{files, "/dev/p/skills/folder/fsm.json"}
	w.finds("/dev/p/skills/folder/fsm.json", "alias", project)
	w.FS = forbidden{files, "/dev/p/skills/folder/SKILL.md"}
	assert.Contains(t, explain(w.finds("", "alias", project)), "frontmatter | /dev/p/skills/folder/SKILL.md | failed | permission denied")
}
