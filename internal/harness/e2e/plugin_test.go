//go:build e2e

// Plugins for several platforms, in the real client.

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// everywhere writes a plugin with the skill release. Its program for this platform is
// the built one; those for others are stand-ins.
func everywhere(t *testing.T, s *realclient.Sandbox, platforms ...install.Platform) (dir string) {
	t.Helper()
	p := install.Plugin{Name: "fsmtx", Version: "1.2.3", Parts: []install.Part{install.Workflows(settings.Hooks(install.Command,
		[]string{"--stop=off"}, settings.Duty{})), install.Planning("fsmtx", ""), install.SkillFiles()}}
	for _, platform := range platforms {
		one := install.Program{Platform: platform, Fsmtx: []byte("not for this platform")}
		if platform == install.ThisPlatform() {
			var err error
			one.Fsmtx, err = os.ReadFile(fsmtx)
			require.NoError(t, err)
		}
		p.Programs = append(p.Programs, one)
	}
	dir = s.Path("project/plugin")
	_, err := p.Write(dir, false)
	require.NoError(t, err)
	skill(s, "project/plugin/skills", "release", steps("Release"))
	return dir
}

// TestTheClientValidatesThePlugin: with every platform, every part, and nothing to warn of.
func TestTheClientValidatesThePlugin(t *testing.T) {
	s := realclient.New(t)
	dir := everywhere(t, s, install.Platforms()...)
	out := s.Claude("plugin", "validate", "--strict", dir)
	assert.Contains(t, out.Stdout, "Validation passed")
}

// TestAPluginForAnotherPlatformSaysSo: to the model and to the person, when the session
// starts (fact 71). Its other hooks neither stop a turn nor a typed skill.
func TestAPluginForAnotherPlatformSaysSo(t *testing.T) {
	s := realclient.New(t)
	dir := everywhere(t, s, "darwin/arm64")
	require.NotEqual(t, install.Platform("darwin/arm64"), install.ThisPlatform())

	r := s.Prompt(Script{Main: []Turn{Say("done")}}, "/fsmtx:release", "--plugin-dir", dir)

	assert.True(t, r.Exchanges(Main)[0].Request.Says("does not run on this machine"))
	assert.Contains(t, r.Stdout, "The program of a plugin, bin/fsmtx, does not run on this machine")
	for _, h := range r.Ran("UserPromptExpansion") {
		assert.Empty(t, h.Stdout+h.Stderr)
		assert.Zero(t, h.ExitCode)
	}

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "bin")))
	s.Session = realclient.NewSession()
	r = s.Prompt(Script{Main: []Turn{Say("done")}}, "go", "--plugin-dir", dir)
	assert.True(t, r.Exchanges(Main)[0].Request.Says("does not run on this machine"))
}

// TestAPluginInAnyDirectory: the shell that runs a hook gets the plugin's directory from its environment (fact 25), so a directory's
// name is never part of what the shell reads; with a program for Windows no shell runs. The script bin/fsmtx chooses the program of this
// platform. A skill of a plugin that a person types has its whole name (fact 20).
func TestAPluginInAnyDirectory(t *testing.T) {
	for _, platforms := range [][]install.Platform{install.Platforms(), install.Platforms()[:4]} {
		inAnyDirectory(t, platforms)
	}
}

func inAnyDirectory(t *testing.T, platforms []install.Platform) {
	s := realclient.New(t)
	written := everywhere(t, s, platforms...)
	for _, name := range []string{"a b", "it's $(touch PWNED)", "`touch PWNED`", `"; touch PWNED; "`} {
		dir := s.Path("project/" + name)
		require.NoError(t, os.Rename(written, dir))
		written = dir
		s.Session = realclient.NewSession()

		r := s.Prompt(look(), "/fsmtx:release 2.0", "--plugin-dir", dir)

		assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"), name)
		assert.False(t, r.Exchanges(Main)[0].Request.Says("does not run on this machine"), name)
		assert.NoFileExists(t, s.Path("project/PWNED"))
		assert.NoFileExists(t, filepath.Join(dir, "PWNED"))
	}
}

// TestACloneIsAMarketplace: its plugin runs the program on PATH, or says how to get it.
func TestACloneIsAMarketplace(t *testing.T) {
	s := realclient.New(t)
	clone, err := filepath.Abs("../../..")
	assert.NoError(t, err)
	s.Claude("plugin", "validate", "--strict", clone)
	s.Claude("plugin", "validate", "--strict", filepath.Join(clone, ".claude-plugin", "plugin"))
	s.Claude("plugin", "marketplace", "add", clone)
	s.Claude("plugin", "install", "fsmtx@fsmtx")
	skill(s, projectSkills, "release", `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Publish", "blockedBy": [1]}]`)

	r := s.Prompt(Script{Main: []Turn{Say("done")}}, "go")
	assert.Contains(t, r.Stdout, "Get it from https://github.com/fsmtx/fsmtx, ")

	onPath(s)
	s.Session = realclient.NewSession()
	r = s.Prompt(Script{Main: append(begun(), Do(TaskUpdate("early", "2", "completed")), Do(TaskList("list")),
		Say("done"), Say("done"))}, "go")
	assert.Equal(t, []string{"#1 [pending] Write", "#2 [pending] Publish [blocked by #1]"}, taskLines(t, r, "list"))
	assert.Contains(t, r.Text("early"), `#1 "Write" must be done first`)
}
