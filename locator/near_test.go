package locator_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNear(t *testing.T) {
	w := newWorld(t)
	w.AddDirs, w.PluginDirs = []string{"/added"}, []string{"/plug"}
	w.put(registry, objectOf(entry{"p@m", "user", "", "/p", ""}))
	for _, folder := range []string{
		config + "/skills/deploy", project + "/.claude/skills/deploy", "/added/.claude/skills/deplox",
		"/plug/skills/release-checklist", "/p/skills/release-checklist", "/p/skills/deploy",
	} {
		w.put(folder+"/SKILL.md", "")
	}
	w.skill(project + "/.claude/skills/deployy") // not a skill to the client
	for command, want := range map[string][]string{
		"release-checklist":        {"p:release-checklist", "plug:release-checklist"},
		"plugin:release-checklist": {"p:release-checklist", "plug:release-checklist"},
		"deploy":                   {"deplox", "p:deploy"},
		"deplyo":                   {"deplox", "deploy"},
		"deplo":                    {"deplox", "deploy"},
		"Deployment":               nil,
		"eplo":                     nil,
		"x":                        nil,
	} {
		assert.Equal(t, want, w.Near(command, project), command)
	}
}

func TestKnown(t *testing.T) {
	w := newWorld(t)
	assert.False(t, w.locate("x", project).Known())
	w.put(project+"/.claude/commands/x.md", "")
	assert.True(t, w.locate("x", project).Known())
	w.put(project+"/.claude/skills/y/SKILL.md", "")
	assert.True(t, w.locate("y", project).Known())
	w.skill(project + "/.claude/skills/z")
	assert.True(t, w.locate("z", project).Known())
}

// TestACommandOfAnyPluginOfTheName comes before the skill of another one; of two skills the first plugin's counts.
func TestACommandOfAnyPluginOfTheName(t *testing.T) {
	for want, files := range map[string][]string{
		"/p2/commands/x": {"/p1/skills/x/SKILL.md", "/p1/skills/x/fsm.json", "/p2/commands/x.md", "/p2/commands/x/fsm.json"},
		"/p1/commands/x": {"/p1/commands/x.md", "/p1/commands/x/fsm.json", "/p2/skills/x/SKILL.md", "/p2/skills/x/fsm.json"},
		"/p1/skills/x":   {"/p1/skills/x/SKILL.md", "/p1/skills/x/fsm.json", "/p2/skills/x/SKILL.md", "/p2/skills/x/fsm.json"},
	} {
		w := newWorld(t)
		w.put(registry, objectOf(entry{"p@m", "user", "", "/p1", ""}, entry{"p@n", "user", "", "/p2", ""}))
		for _, file := range files {
			w.put(file, "[]")
		}
		assert.Equal(t, want, filepath.Dir(w.locate("p:x", project).Path), want)
	}
}
