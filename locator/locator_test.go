package locator_test

import (
	"io/fs"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/locator"
)

func TestPluginSkillInSkillsDirectory(t *testing.T) { // SCN-THS-2.1
	inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "my-plugin@market", scope: "user", install: "/cache/p"})
		path := w.skill("/cache/p/skills/my-skill")
		w.skill("/cache/p/commands/my-skill")
		w.skill(project + "/.claude/skills/my-skill")
		result := w.finds(path, "my-plugin:my-skill", project)
		assert.Equal(t, "my-plugin@market", result.Plugin)
	})
}

func TestPluginSkillInCommandsDirectory(t *testing.T) { // SCN-THS-2.2
	inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "my-plugin@market", scope: "user", install: "/cache/p"})
		path := w.skill("/cache/p/commands/my-command")
		w.finds(path, "my-plugin:my-command", project)
	})
}

func TestPlainSkillInProject(t *testing.T) { // SCN-THS-2.3
	w := newWorld(t)
	path := w.skill(project + "/.claude/skills/my-skill")
	w.skill(config + "/skills/my-skill")
	result := w.finds(path, "my-skill", project)
	assert.Empty(t, result.Plugin)
}

func TestPlainSkillFallsBackToUser(t *testing.T) { // SCN-THS-2.4
	w := newWorld(t)
	path := w.skill(config + "/skills/my-skill")
	w.finds(path, "my-skill", project)
}

func TestFindingNothingIsNotAnError(t *testing.T) { // SCN-THS-2.5
	inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "my-plugin@market", scope: "user", install: "/cache/p"})
		for _, command := range []string{"my-skill", "my-plugin:my-skill", "other:my-skill", "my-plugin:a:b"} {
			result := w.finds("", command, project)
			assert.NotEmpty(t, result.Steps)
		}
	})
}

func TestScopePrecedence(t *testing.T) { // SCN-THS-3.1
	for _, pair := range [][2]string{{"local", "project"}, {"local", "user"}, {"project", "user"}} {
		t.Run(pair[0]+" over "+pair[1], func(t *testing.T) {
			inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
				higher := entry{"p@m", pair[0], project, "/cache/higher", "2020-01-01T00:00:00Z"}
				lower := entry{"p@m", pair[1], project, "/cache/lower", "2026-01-01T00:00:00Z"}
				install(lower, higher)
				path := w.skill("/cache/higher/skills/s")
				w.skill("/cache/lower/skills/s")
				w.finds(path, "p:s", project)
			})
		})
	}
}

func TestOneScopeOnly(t *testing.T) { // SCN-THS-3.2, SCN-THS-3.3, SCN-THS-3.4
	for _, scope := range []string{"local", "project", "user"} {
		t.Run(scope, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
				e := entry{key: "p@m", scope: scope, install: "/cache/p"}
				if scope != "user" {
					e.project = project
				}
				install(e)
				w.finds(w.skill("/cache/p/skills/s"), "p:s", project)
			})
		})
	}
}

func TestProjectPath(t *testing.T) {
	tests := []struct {
		name, project, cwd string
		applies            bool
	}{
		{"SCN-THS-3.5: cwd is under the project", "/projects/myapp", "/projects/myapp/src/components", true},
		{"SCN-THS-3.6: cwd is elsewhere", "/projects/myapp", "/projects/otherapp", false},
		{"the same", "/projects/myapp", "/projects/myapp", true},
		{"trailing slash on the project", "/projects/myapp/", "/projects/myapp", true},
		{"trailing slash on cwd", "/projects/myapp", "/projects/myapp/", true},
		{"longer name", "/projects/app", "/projects/application", false},
		{"longer name, trailing slash on the project", "/projects/app/", "/projects/application", false},
		{"the project is below cwd", "/projects/myapp/src", "/projects/myapp", false},
		{"the root contains everything", "/", "/projects/myapp", true},
		{"dots", "/projects/./x/../myapp", "/projects/myapp/src", true},
		{"cwd is empty", "/projects/myapp", "", false},
		{"cwd is relative", "/projects/myapp", "projects/myapp", false},
		{"cwd is relative and the project is the root", "/", "projects/myapp", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
				install(entry{key: "p@m", scope: "project", project: test.project, install: "/cache/p"})
				path := w.skill("/cache/p/skills/s")
				if !test.applies {
					path = ""
				}
				w.finds(path, "p:s", test.cwd)
			})
		})
	}
}

func TestUnknownPluginFallsBack(t *testing.T) { // SCN-THS-3.7
	inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "another@m", scope: "user", install: "/cache/p"})
		user := w.skill(config + "/skills/my-skill")
		w.finds(user, "my-plugin:my-skill", project)
		local := w.skill(project + "/.claude/skills/my-skill")
		result := w.finds(local, "my-plugin:my-skill", project)
		assert.Empty(t, result.Plugin)
	})
}

func TestPluginThatDoesNotApplyFallsBack(t *testing.T) {
	inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "p@m", scope: "local", project: "/elsewhere", install: "/cache/p"})
		w.skill("/cache/p/skills/s")
		path := w.skill(project + "/.claude/skills/s")
		result := w.finds(path, "p:s", project)
		assert.Contains(t, explain(result), "/elsewhere is not that of")
	})
}

// A plugin that was installed for a directory below is loaded in the root of the repository,
// whose settings enable it.
func TestPluginOfAnotherProjectThatIsEnabledHere(t *testing.T) {
	inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "p@m", scope: "local", project: project + "/below", install: "/cache/p"})
		w.put(project+"/.git/HEAD", "")
		w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": {"p@m": true}}`)
		path := w.skill("/cache/p/skills/s")
		w.skill(project + "/.claude/skills/s")
		w.finds(path, "p:s", project)
		w.finds(path, "p:s", project+"/other")

		w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": {"p@m": false}}`)
		w.finds("", "p:s", project+"/below")
	})
}

func TestInstalledPluginDoesNotFallBack(t *testing.T) {
	inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "p@m", scope: "user", install: "/cache/p"})
		w.ProjectDir = "/projects/started"
		w.skill(project + "/.claude/skills/s")
		w.skill("/projects/started/.claude/skills/s")
		w.skill(config + "/skills/s")
		w.finds("", "p:s", project)
	})
}

func TestSeveralMarketplaces(t *testing.T) {
	older, newer := "2025-01-01T00:00:00.000Z", "2025-06-01T00:00:00.000Z"
	tests := []struct {
		name    string
		entries []entry
		skills  []string
		want    string
	}{
		{
			"the scope is compared first",
			[]entry{{"p@a", "user", "", "/a", newer}, {"p@b", "project", project, "/b", older}},
			[]string{"/a/skills/s"},
			"",
		}, {
			"a time takes precedence over none",
			[]entry{{"p@a", "user", "", "/a", ""}, {"p@b", "user", "", "/b", older}},
			[]string{"/a/skills/s", "/b/skills/s"},
			"/b/skills/s/fsm.json",
		}, {
			"the nearest project is compared last",
			[]entry{{"p@a", "local", "/projects", "/a", ""}, {"p@b", "local", project, "/b", ""}},
			[]string{"/a/skills/s", "/b/skills/s"},
			"/b/skills/s/fsm.json",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
				install(test.entries...)
				for _, skill := range test.skills {
					w.skill(skill)
				}
				result := w.finds(test.want, "p:s", project)
				assert.Contains(t, explain(result), ": another one takes precedence")
			})
		})
	}
}

func TestInstallationWhoseSkillHasNoSpecTakesPrecedence(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@a", "user", "", "/a", "2026-01-01T00:00:00Z"}, entry{"p@b", "user", "", "/b", ""}))
	w.put("/a/skills/s/SKILL.md", "")
	w.skill("/b/skills/s")
	w.finds("", "p:s", project)
}

func TestRegistryErrors(t *testing.T) {
	const prefix = "Skill 'my-plugin:my-skill' not found - installed_plugins.json is missing or malformed: " + registry
	tests := []struct{ name, content, want string }{
		{"torn", "{\n  \"version\": 2,\n", ":3:1: unexpected end of file: the { at 1:1 is not closed"},
		{"no version", `{"plugins": {}}`, `:1:1: "version" has to be 2`},
		{"plugins is an array", `{"version": 2, "plugins": []}`, `:1:27: "plugins" has to be an object`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.put(registry, test.content)
			w.skill(project + "/.claude/skills/my-skill")
			w.skill(config + "/skills/my-skill")
			result, err := w.Locate("my-plugin:my-skill", project)
			require.ErrorIs(t, err, locator.ErrMalformed)
			require.EqualError(t, err, prefix+test.want)
			assert.False(t, result.Found())
			assert.Equal(t, locator.Step{Rule: locator.RuleRegistry, Path: registry, Outcome: locator.OutcomeFailed, Detail: test.want[1:]},
				result.Steps[0])
			var registryErr *locator.RegistryError
			require.ErrorAs(t, err, &registryErr)
			assert.Equal(t, "my-plugin:my-skill", registryErr.Command)

			_, err = w.Locate("my-skill", project)
			assert.NoError(t, err, "a plain name does not need the registry")
		})
	}
}

// Fact 123: the client loads a plugin of a directory marketplace also where the registry is missing
// or broken, which is so until its first start has written it.
func TestPluginOfADirectoryMarketplaceWithoutARegistry(t *testing.T) {
	for _, content := range []string{"", "{"} {
		w := newWorld(t)
		w.put(config+"/settings.json", `{"enabledPlugins": {"p@m": true}}`)
		w.put(config+"/plugins/known_marketplaces.json",
			`{"m": {"source": {"source": "directory", "path": "/market"}, "installLocation": "/market"}}`)
		w.put("/market/.claude-plugin/marketplace.json", `{"name": "m", "plugins": [{"name": "p", "source": "./p"}]}`)
		w.put("/market/p/skills/a/SKILL.md", "---\nname: named\n---\n")
		if content != "" {
			w.put(registry, content)
		}
		w.put("/market/p/skills/a/fsm.json", "[]")
		for _, name := range []string{"p:a", "named"} {
			w.finds("/market/p/skills/a/fsm.json", name, project)
		}
		_, err := w.Locate("p:gone", project)
		require.ErrorAs(t, err, new(*locator.RegistryError))
	}
}

// TestInstallationOfAPluginThatTheSettingsEnable: the most specific scope, as the requirements say.
func TestInstallationOfAPluginThatTheSettingsEnable(t *testing.T) {
	inBothForms(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{"p@m", "user", "", "/cache/user", "2026-01-01T00:00:00Z"}, entry{"p@m", "local", project, "/cache/local", ""})
		w.put(config+"/settings.json", `{"enabledPlugins": {"p@m": true}}`)
		w.skill("/cache/user/skills/s")
		result := w.finds(w.skill("/cache/local/skills/s"), "p:s", project)
		assert.Contains(t, explain(result), "p@m, scope user, updated 2026-01-01T00:00:00Z: another one takes precedence")
	})
}

func TestProblemsOfTheRegistryAreSteps(t *testing.T) {
	w := newWorld(t)
	w.put(registry, `[7, {"name": "p@m", "scope": "user", "installPath": "/cache/p"}]`)
	result := w.finds(w.skill("/cache/p/skills/s"), "p:s", project)
	assert.Equal(t, locator.Step{
		Rule: locator.RuleRegistry, Path: registry, Outcome: locator.OutcomeSkipped, Detail: "1:2: an entry: skipped: got a number",
	}, result.Steps[0])
}

func TestMissingRegistry(t *testing.T) {
	for _, dir := range []string{config, ""} {
		w := newWorld(t)
		w.ConfigDir = dir
		w.put("plugins/installed_plugins.json", `[]`)
		w.skill(project + "/.claude/skills/s")
		_, err := w.Locate("p:s", project)
		require.ErrorIs(t, err, fs.ErrNotExist)
		assert.Regexp(t, `^Skill 'p:s' not found - installed_plugins.json is missing or malformed: `+
			`.*plugins/installed_plugins.json: file does not exist$`, err.Error())
	}
}

func TestUnknownDirectoriesAreNotSearched(t *testing.T) {
	w := newWorld(t)
	path := w.skill(config + "/skills/s")
	w.put("/.claude/skills/s/fsm.json", spec)
	for _, cwd := range []string{"", "projects/myapp", "/deleted/long/ago"} {
		w.finds(path, "s", cwd)
	}
	assert.Contains(t, explain(w.locate("s", "")), `cwd is "", which is not an absolute path`)

	w.ConfigDir = ""
	w.finds("", "s", "")
}

func TestPluginNamesAreComparedWhole(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{key: "my-plugin-two@m", scope: "user", install: "/two"},
		entry{key: "plugin@m", scope: "user", install: "/three"}))
	w.skill("/two/skills/s")
	w.skill("/three/skills/s")
	w.finds("", "my-plugin:s", project)
}

func TestResultAsJSON(t *testing.T) {
	w := newWorld(t)
	w.put(config+"/skills/s/SKILL.md", "")
	w.skill(config + "/skills/s")
	data, err := json.Marshal(w.locate("s", project))
	require.NoError(t, err)
	assert.Equal(t, `{"command":"s","path":"/home/me/.claude/skills/s/fsm.json","plugin":"","steps":[`+
		`{"rule":"user skill","path":"/home/me/.claude/skills/s/SKILL.md","outcome":"found","detail":"the client runs this skill"},`+
		`{"rule":"user skill","path":"/home/me/.claude/skills/s/fsm.json","outcome":"used","detail":""}]}`, string(data))
}
