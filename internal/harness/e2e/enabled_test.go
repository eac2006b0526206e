//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// Fact 102: which of its settings files decide whether the client loads a plugin when it
// starts below the root of a git repository. The locator has to find the skills of the
// plugins that the client loads.
func TestPluginsEnabledInARepository(t *testing.T) {
	const on, off = `{"enabledPlugins": {"fsmtx@fsmtx": true}}`, `{"enabledPlugins": {"fsmtx@fsmtx": false}}`
	for name, c := range map[string]struct {
		scope, in string            // install the plugin with this scope, in this directory
		settings  map[string]string // written afterwards, below the project
		from      string            // start the client in this directory
		loaded    bool
	}{
		"the root disables it":                  {"user", "project", map[string]string{"": off, "a": on}, "project/a", false},
		"the root enables it":                   {"user", "project", map[string]string{"": on, "a": off}, "project/a", true},
		"installed for the root":                {"local", "project", nil, "project/a", true},
		"installed below the root":              {"local", "project/a", nil, "project", true},
		"installed below, disabled at the root": {"local", "project/a", map[string]string{"": off}, "project/a", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := realclient.New(t)
			require.NoError(t, os.MkdirAll(s.Path("project/a"), 0o755))
			git(t, s, "init --quiet")
			dir := s.Path("plugin")
			out := s.Command("", fsmtx, "plugin", "--no-steps", dir)
			require.Zero(t, out.Code, out)
			s.Project = s.Path(c.in)
			s.Claude("plugin", "marketplace", "add", dir)
			s.Claude("plugin", "install", "--scope", c.scope, "fsmtx@fsmtx")
			for dir, text := range c.settings {
				s.Write("project/"+dir+"/.claude/settings.local.json", text)
			}

			s.Project = s.Path(c.from)
			r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "fsmtx:release-checklist")), Say("done")}}, "go")
			located := s.Command("", fsmtx, "locate", "fsmtx:release-checklist")

			assert.Equal(t, c.loaded, len(r.Ran("PostToolUse")) == 1)
			assert.Equal(t, c.loaded, located.Code == 0, located)
			assert.Equal(t, c.loaded, strings.Contains(r.Told("skill"), "#1 Check that the tree is clean"))
		})
	}
}

// Fact 185: which of several installations of a plugin the client loads. The marketplace is not a
// directory: from one the client runs the source tree. The installation N is in cache/N.
func TestTheInstallationThatTheClientLoads(t *testing.T) {
	entry := func(n, scope, project string) string {
		return fmt.Sprintf(`{"scope": %q, "projectPath": "ROOT/%s", "installPath": "ROOT/cache/%s", "version": "%s",
			"installedAt": "2026-01-01T00:00:00Z", "lastUpdated": "2026-0%s-01T00:00:00Z"}`, scope, project, n, n, n)
	}
	user, newer := entry("1", "user", ""), entry("2", "user", "")
	projects := entry("2", "project", "project")
	for name, c := range map[string]struct {
		entries []string
		from    string // where the client is started
		git     bool   // project is a repository
		want    string // "" if the client does not know the skill
	}{
		"the project's first":          {[]string{projects, user}, "project", false, "cache/2"},
		"the older first":              {[]string{user, newer}, "project", false, "cache/1"},
		"of a directory above":         {[]string{projects}, "project/a", false, ""},
		"of the repository":            {[]string{projects}, "project/a", true, "cache/2"},
		"of one in the repository":     {[]string{entry("2", "local", "project/b"), user}, "project/a", true, "cache/2"},
		"of another project, and none": {[]string{entry("2", "local", "other")}, "project", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := realclient.New(t)
			root := filepath.Dir(s.Home)
			for _, n := range []string{"1", "2"} {
				skill(s, "cache/"+n+"/skills", "a", steps("Of cache/"+n))
			}
			s.Write("market/.claude-plugin/marketplace.json",
				`{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}`)
			s.Write("home/.claude/settings.json", `{"enabledPlugins": {"p@m": true}}`)
			s.Write("home/.claude/plugins/known_marketplaces.json", `{"m": {"source": {"source": "github", "repo": "someone/market"}, `+
				`"installLocation": "`+s.Path("market")+`", "lastUpdated": "2026-01-01T00:00:00Z"}}`)
			s.Write("home/.claude/plugins/installed_plugins.json",
				strings.ReplaceAll(`{"version": 2, "plugins": {"p@m": [`+strings.Join(c.entries, ", ")+`]}}`, "ROOT", root))
			if c.git {
				git(t, s, "init --quiet")
			}
			s.Project = s.Path(c.from)
			require.NoError(t, os.MkdirAll(s.Project, 0o755))
			onPath(s)
			hydrating(t, s, "--user")

			r := s.Try(Script{Main: []Turn{Do(Skill("skill", "p:a")), Say("done")}}, "go")

			assert.Equal(t, c.want != "", strings.Contains(r.Text("skill"), "Launching skill"))
			if c.want != "" { // else the client installs it for the user, for its next start
				assert.Contains(t, r.Told("skill"), "Base directory for this skill: "+s.Path(c.want)+"/")
				assert.Contains(t, r.Told("skill"), "#1 Of "+c.want+":")
			}
		})
	}
}

// Fact 123: the first start of the client writes the registry, and runs the skills of a directory
// marketplace before it has. The model gets the tasks with the result of the call in any case.
func TestASkillOfAPluginIsHydrated(t *testing.T) {
	for name, registry := range map[string]string{"whole": "kept", "none": "", "broken": "{"} {
		t.Run(name, func(t *testing.T) {
			s := realclient.New(t)
			c := parseCatalog(t, catalogs["two plugins of one root"])
			c.write(t, s)
			switch path := "home/.claude/plugins/installed_plugins.json"; registry {
			case "kept":
			case "":
				require.NoError(t, os.Remove(s.Path(path)))
			default:
				s.Write(path, registry)
			}
			s.Write("market/skills/x/fsm.json", `[{"id": 1, "subject": "Weigh the anchor"}]`)
			installHooks(t, s, hook{"PostToolUse", "Skill", fsmtx + " hydrate --announce"})

			r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "p1:xname")), Say("done")}}, "go")

			assert.Contains(t, r.Told("skill"), "#1 Weigh the anchor")
		})
	}
}

// Fact 163: skillOverrides switch skills and commands of the user and the project off, by the name that
// the client lists, and no skill of a plugin.
func TestSkillsThatAreSwitchedOff(t *testing.T) {
	s := realclient.New(t)
	c := parseCatalog(t, `
skill market/p/skills/a pname
skill home/.claude/skills/u uname
skill home/.claude/skills/only
skill project/.claude/skills/v
skill project/.claude/skills/again
skill project/.claude/commands/k
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
-- project/.claude/settings.json --
{"skillOverrides": {"u": "off", "uname": "on", "v": "off", "k": "off", "p:a": "off", "pname": "off", "again": "off", "only": "user-invocable-only"}}
-- project/.claude/settings.local.json --
{"skillOverrides": {"again": "name-only"}}
`)
	c.write(t, s)
	runs := map[string]bool{"u": false, "uname": false, "v": false, "k": false, "only": false, "p:a": true, "pname": true, "again": true}
	var names []string
	for name := range runs {
		names = append(names, name)
	}

	_, known, _ := c.client(s, names)

	assert.Equal(t, runs, known)
	for name, runs := range runs {
		located := s.Command("", fsmtx, "locate", name)
		assert.Equal(t, runs || name == "only", located.Code == 0, "%s\n%s", name, located)
		assert.Equal(t, !runs, strings.Contains(located.Stdout, "skillOverrides"), "%s\n%s", name, located)
	}
}
