package locator_test

import (
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
