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
