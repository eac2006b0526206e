package locator_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/locator"
)

// The list agrees with Locate: what it says first of a command is what Locate finds.
func TestWorkflowsAgreeWithLocate(t *testing.T) {
	w := newWorld(t)
	w.Home, w.ProjectDir = "/home/me", project
	folders := []string{
		config + "/skills/release",
		project + "/.claude/skills/release",
		project + "/.claude/skills/review",
		"/projects/.claude/skills/shared",
		project + "/web/.claude/skills/deploy",
		"/plugins/tools/skills/check",
	}
	for _, folder := range folders {
		w.skill(folder)
		w.put(folder+"/SKILL.md", "text")
	}
	w.put(project+"/.claude/skills/plain/SKILL.md", "no workflow")
	w.put(registry, arrayOf(entry{key: "tools@market", scope: "user", install: "/plugins/tools"}))
	list, complete := w.Workflows(project)
	assert.True(t, complete)
	var paths []string
	first := map[string]locator.Workflow{}
	for _, found := range list {
		paths = append(paths, filepath.Dir(found.Path))
		if _, known := first[found.Command]; !known {
			first[found.Command] = found
		}
	}
	assert.ElementsMatch(t, folders, paths)
	for command, found := range first {
		result := w.locate(command, project)
		assert.Equal(t, result.Path, found.Path, command)
		assert.Equal(t, result.Plugin, found.Plugin, command)
	}
	assert.Equal(t, locator.RuleNestedSkill, first["deploy"].Rule)
	assert.Equal(t, config+"/skills/release/fsm.json", first["release"].Path, "the user's takes precedence")
}

func TestSpecsBelow(t *testing.T) {
	w := newWorld(t)
	want := []string{w.skill("/p"), w.skill("/p/skills/a"), w.skill("/p/.claude/skills/b"), w.skill("/p/x/y/z")}
	w.skill("/p/.git/hooks")
	w.skill("/p/node_modules/m")
	w.skill("/q")
	paths, complete := locator.SpecsBelow(w.FS, "/p", 100)
	assert.True(t, complete)
	assert.ElementsMatch(t, want, paths)
	assert.Equal(t, "/p/fsm.json", paths[0], "the nearest first")
	_, complete = locator.SpecsBelow(w.FS, "/p", 2)
	assert.False(t, complete)
}
