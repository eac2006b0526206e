package locator_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/locator"
)

func TestPluginSkillInSkillsDirectory(t *testing.T) { // SCN-THS-2.1
	inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "my-plugin@market", scope: "user", install: "/cache/p"})
		path := w.skill("/cache/p/skills/my-skill")
		w.skill("/cache/p/commands/my-skill")
		w.skill(project + "/.claude/skills/my-skill")
		result := w.finds(path, "my-plugin:my-skill", project)
		assert.Equal(t, "my-plugin@market", result.Plugin)
	})
}

func TestPluginSkillInCommandsDirectory(t *testing.T) { // SCN-THS-2.2
	inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
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

func TestNothingFoundIsNoError(t *testing.T) { // SCN-THS-2.5
	inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
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
			inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
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
			inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
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
		{"trailing slash of the project", "/projects/myapp/", "/projects/myapp", true},
		{"trailing slash of cwd", "/projects/myapp", "/projects/myapp/", true},
		{"a longer name is not below", "/projects/app", "/projects/application", false},
		{"nor with a slash", "/projects/app/", "/projects/application", false},
		{"the project is below cwd", "/projects/myapp/src", "/projects/myapp", false},
		{"the root contains everything", "/", "/projects/myapp", true},
		{"dots", "/projects/./x/../myapp", "/projects/myapp/src", true},
		{"cwd is empty", "/projects/myapp", "", false},
		{"cwd is relative", "/projects/myapp", "projects/myapp", false},
		{"and the root does not help it", "/", "projects/myapp", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
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
	inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "another@m", scope: "user", install: "/cache/p"})
		user := w.skill(config + "/skills/my-skill")
		w.finds(user, "my-plugin:my-skill", project)
		local := w.skill(project + "/.claude/skills/my-skill")
		result := w.finds(local, "my-plugin:my-skill", project)
		assert.Empty(t, result.Plugin)
	})
}

func TestPluginThatDoesNotApplyFallsBack(t *testing.T) {
	inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
		install(entry{key: "p@m", scope: "local", project: "/elsewhere", install: "/cache/p"})
		w.skill("/cache/p/skills/s")
		path := w.skill(project + "/.claude/skills/s")
		result := w.finds(path, "p:s", project)
		assert.Contains(t, told(result), "/elsewhere does not contain")
	})
}

func TestInstalledPluginNeverFallsBack(t *testing.T) {
	inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
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
		detail  string
	}{
		{
			"scope decides before the skill does",
			[]entry{{"p@a", "user", "", "/a", newer}, {"p@b", "project", project, "/b", older}},
			[]string{"/a/skills/s"},
			"", "scope project goes first",
		}, {
			"the skill decides before the time does",
			[]entry{{"p@a", "user", "", "/a", newer}, {"p@b", "user", "", "/b", older}},
			[]string{"/b/skills/s"},
			"/b/skills/s/fsm.json", "p@a, scope user, updated 2025-06-01T00:00:00Z: it does not have the skill",
		}, {
			"the time decides among those that have it",
			[]entry{{"p@a", "user", "", "/a", older}, {"p@b", "user", "", "/b", newer}},
			[]string{"/a/skills/s", "/b/commands/s"},
			"/b/commands/s/fsm.json", "p@a, scope user, updated 2025-01-01T00:00:00Z: another was updated later",
		}, {
			"a time goes before none",
			[]entry{{"p@a", "user", "", "/a", ""}, {"p@b", "user", "", "/b", older}},
			[]string{"/a/skills/s", "/b/skills/s"},
			"/b/skills/s/fsm.json", "another was updated later",
		}, {
			"then the nearest project does",
			[]entry{{"p@a", "local", "/projects", "/a", ""}, {"p@b", "local", project, "/b", ""}},
			[]string{"/a/skills/s", "/b/skills/s"},
			"/b/skills/s/fsm.json", "p@a, scope local: another goes first",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBothFormats(t, func(t *testing.T, w *world, install func(...entry)) {
				install(test.entries...)
				for _, skill := range test.skills {
					w.skill(skill)
				}
				result := w.finds(test.want, "p:s", project)
				assert.Contains(t, told(result), test.detail)
			})
		})
	}
}

func TestSkillWithoutTasksStillCompetes(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@a", "user", "", "/a", "2026-01-01T00:00:00Z"}, entry{"p@b", "user", "", "/b", ""}))
	w.put("/a/skills/s/SKILL.md", "")
	w.skill("/b/skills/s")
	w.finds("", "p:s", project)
}

func TestBadEntriesAreSkippedAndReported(t *testing.T) {
	good := `{"name": "p@m", "scope": "user", "installPath": "/cache/p"}`
	bad := map[string]string{
		`7`:                                      "[0]: a number, and an object is wanted",
		`{"scope": "user", "installPath": "/x"}`: `[0]: skipped: "name" is missing`,
		`{"name": 1, "scope": "user", "installPath": "/x"}`:                                         `[0]: skipped: "name" is a number, and a string is wanted`,
		`{"name": "p", "scope": "user", "installPath": "/x"}`:                                       `not of the form plugin@marketplace`,
		`{"name": "p@m", "installPath": "/x"}`:                                                      `"scope" is missing`,
		`{"name": "p@m", "scope": ["user"], "installPath": "/x"}`:                                   `"scope" is an array, and a string is wanted`,
		`{"name": "p@m", "scope": "galaxy", "installPath": "/x"}`:                                   `"scope" is "galaxy", and not one of local, project, user`,
		`{"name": "p@m", "scope": "user"}`:                                                          `"installPath" is missing`,
		`{"name": "p@m", "scope": "user", "installPath": null}`:                                     `"installPath" is missing`,
		`{"name": "p@m", "scope": "user", "installPath": {}}`:                                       `"installPath" is an object, and a string is wanted`,
		`{"name": "p@m", "scope": "user", "installPath": "x/../y"}`:                                 `"installPath" is "x/../y", which is not an absolute path`,
		`{"name": "p@m", "scope": "local", "installPath": "/x"}`:                                    `"projectPath" is missing, and scope local needs it`,
		`{"name": "p@m", "scope": "project", "projectPath": true, "installPath": "/x"}`:             `"projectPath" is a boolean, and a string is wanted`,
		`{"name": "p@m", "scope": "project", "projectPath": "./projects", "installPath": "/x"}`:     `which is not an absolute path`,
		`{"name": "p@m", "scope": "user", "projectPath": 1, "installPath": "/x"}`:                   `"projectPath" is a number, and a string is wanted`,
		`{"name": "other@m", "scope": "user", "installPath": "/x", "lastUpdated": 1700000000}`:      `[0]: kept, without the time: "lastUpdated" is a number, and a string is wanted`,
		`{"name": "other@m", "scope": "user", "installPath": "/x", "lastUpdated": "the other day"}`: `"lastUpdated" is "the other day", which is no time`,
	}
	for entry, reason := range bad {
		t.Run(reason, func(t *testing.T) {
			w := newWorld(t)
			w.put(registry, "["+entry+", "+good+"]")
			w.skill("/x/skills/s")
			result := w.finds(w.skill("/cache/p/skills/s"), "p:s", project)
			assert.Equal(t, locator.Skipped, result.Steps[0].Outcome)
			assert.Contains(t, result.Steps[0].Detail, reason)
		})
	}
}

func TestBadEntriesOfTheObjectAreSkipped(t *testing.T) {
	w := newWorld(t)
	w.put(registry, `{"version": 2, "plugins": {"p@a": {}, "p@b": [null, {"scope": "user", "installPath": "/b"}], "p@c": null, "p": []}}`)
	result := w.finds(w.skill("/b/skills/s"), "p:s", project)
	for _, reason := range []string{`plugins["p@a"]: an object, and an array is wanted`, `plugins["p@b"][0]: null`, `plugins["p@c"]: null`} {
		assert.Contains(t, told(result), reason)
	}
}

func TestRegistryErrors(t *testing.T) {
	const prefix = "Skill 'my-plugin:my-skill' not found - installed_plugins.json is missing or malformed"
	tests := []struct{ name, content, cause string }{
		{"empty", "", "unexpected EOF at line 1, column 1"},
		{"torn", "{\n  \"version\": 2,\n", "at line 3, column 1"},
		{"no JSON", `{"version": 2, plugins}`, "at line 1, column 16"},
		{"trailing text", `[]]`, "at line 1, column 3"},
		{"null", `null`, "null, and an object is wanted"},
		{"string", `"x"`, "a string, and an object is wanted"},
		{"no version", `{"plugins": {}}`, `"version" is missing`},
		{"version 1", `{"version": 1, "plugins": {}}`, `"version" is 1, and 2 is wanted`},
		{"version as text", `{"version": "2", "plugins": {}}`, `"version" is a string, and the number 2 is wanted`},
		{"no plugins", `{"version": 2}`, `"plugins" is missing`},
		{"plugins is an array", `{"version": 2, "plugins": []}`, `"plugins" is an array, and an object is wanted`},
		{"plugins is null", `{"version": 2, "plugins": null}`, `"plugins" is null, and an object is wanted`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.put(registry, test.content)
			w.skill(project + "/.claude/skills/my-skill")
			w.skill(config + "/skills/my-skill")
			result, err := w.Locate("my-plugin:my-skill", project)
			require.ErrorIs(t, err, locator.ErrMalformed)
			require.True(t, strings.HasPrefix(err.Error(), prefix+": "+registry+": "), err.Error())
			assert.Contains(t, err.Error(), test.cause)
			assert.False(t, result.Found())
			assert.Equal(t, locator.Failed, result.Steps[0].Outcome)
			var typed *locator.RegistryError
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, "my-plugin:my-skill", typed.Command)

			_, err = w.Locate("my-skill", project)
			assert.NoError(t, err, "a plain name does not need the registry")
		})
	}
}

func TestMissingRegistry(t *testing.T) {
	for _, dir := range []string{config, ""} {
		w := newWorld(t)
		w.ConfigDir = dir
		w.put("plugins/installed_plugins.json", `[]`)
		w.skill(project + "/.claude/skills/s")
		_, err := w.Locate("p:s", project)
		require.Error(t, err)
		assert.Regexp(t, `^Skill 'p:s' not found - installed_plugins.json is missing or malformed: .*plugins/installed_plugins.json: file does not exist$`, err.Error())
	}
}

func TestEmptyPlaces(t *testing.T) {
	w := newWorld(t)
	path := w.skill(config + "/skills/s")
	w.put("/.claude/skills/s/fsm.json", spec)
	for _, cwd := range []string{"", "projects/myapp", "/deleted/long/ago"} {
		w.finds(path, "s", cwd)
	}
	assert.Contains(t, told(w.locate("s", "")), `cwd is "", which is not an absolute path`)

	w.ConfigDir = ""
	w.finds("", "s", "")
}

func TestDocumentedNameOfAPluginIsItsWholeName(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{key: "my-plugin-two@m", scope: "user", install: "/two"}, entry{key: "plugin@m", scope: "user", install: "/three"}))
	w.skill("/two/skills/s")
	w.skill("/three/skills/s")
	w.finds("", "my-plugin:s", project)
}

func TestResultAsJSON(t *testing.T) {
	w := newWorld(t)
	w.skill(config + "/skills/s")
	data, err := json.Marshal(w.locate("s", project))
	require.NoError(t, err)
	assert.Equal(t, `{"command":"s","path":"/home/me/.claude/skills/s/fsm.json","plugin":"","steps":[`+
		`{"rule":"project skill","path":"/projects/myapp/.claude/skills/s/fsm.json","outcome":"absent","detail":""},`+
		`{"rule":"user skill","path":"/home/me/.claude/skills/s/fsm.json","outcome":"used","detail":""}]}`, string(data))
}
