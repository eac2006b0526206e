//go:build e2e

package e2e

import (
	"os"
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
			require.Zero(t, s.Command("", "git", "init", "--quiet").Code)
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

// Facts 114 and 162: the client ignores a settings file with a mistake in any member, and so do locate and
// doctor.
func TestSettingsFilesThatAreIgnored(t *testing.T) {
	for name, c := range map[string]struct {
		member  string
		ignored bool
	}{
		"a number as text":    {`"cleanupPeriodDays": "30"`, true},
		"a theme":             {`"theme": 7`, false},
		"an unknown override": {`"skillOverrides": {"a": "hidden"}`, true},
		"a hook":              {`"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}`, true},
		"null":                {`"statusLine": null`, true},
		"a rule":              {`"permissions": {"allow": [7]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := realclient.New(t)
			catalog := parseCatalog(t, `
skill market/p/skills/a
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
`)
			catalog.write(t, s)
			s.Write("home/.claude/settings.json", `{"enabledPlugins": {"p@m": true}, `+c.member+`}`)

			_, known, _ := catalog.client(s, []string{"p:a"})

			located := s.Command("", fsmtx, "locate", "p:a")
			assert.Equal(t, !c.ignored, known["p:a"])
			assert.Equal(t, !c.ignored, located.Code == 0, located)
			doctor := s.Command("", fsmtx, "doctor")
			assert.Equal(t, c.ignored, strings.Contains(doctor.Stdout+doctor.Stderr, "ignores the whole file"), doctor)
		})
	}
}
