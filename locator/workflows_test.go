package locator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/locator"
)

// TestWorkflowsAgreeWithLocate: each name of a list leads to the file beside it, and no name
// leads to one that is unused.
func TestWorkflowsAgreeWithLocate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		w.PluginDirs, w.AddDirs = []string{"/plug"}, []string{"/added"}
		places := []string{config, project + "/.claude", "/projects/.claude", "/added/.claude", project + "/a/.claude", project + "/b/c/.claude", "/plug"}
		for _, place := range rapid.SliceOfNDistinct(rapid.SampledFrom(places), 1, 5, rapid.ID).Draw(r, "places") {
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), 1, 2, rapid.ID).Draw(r, "names") {
				folder := place + "/skills/" + name
				w.skill(folder)
				if own := rapid.SampledFrom([]string{"", "x", "own", "-"}).Draw(r, "own"); own != "-" {
					w.put(folder+"/SKILL.md", "---\nname: "+own+"\n---\n")
				}
			}
		}

		all, complete := w.Workflows(project)

		assert.True(r, complete)
		for _, found := range all {
			for _, name := range append([]string{found.Command}, found.Others...) {
				result, _ := w.Locate(name, project)
				assert.Equal(r, !found.Unused, result.Path == found.Path, "%s: %+v\n%s", name, found, explain(result))
			}
			if found.Unused {
				assert.Empty(r, found.Others)
			}
		}
	})
}

func TestWorkflowsAreBounded(t *testing.T) {
	w := newWorld(t)
	for i := range 1001 {
		w.put(fmt.Sprintf("%s/skills/s%04d/SKILL.md", config, i), "")
	}
	w.skill(config + "/skills/s0000")
	w.skill(config + "/skills/s1000")
	all, complete := w.Workflows(project)
	assert.False(t, complete)
	assert.Equal(t, []locator.Workflow{{Command: "s0000", Others: []string{}, Path: config + "/skills/s0000/fsm.json", Rule: locator.RuleUser}}, all)
}

// TestWorkflowsOfNestedCommands: a plugin's command in a folder is named by its path.
func TestWorkflowsOfNestedCommands(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/plug"}
	w.put("/plug/commands/a/b/c.md", "")
	path := w.skill("/plug/commands/a/b/c")
	all, _ := w.Workflows(project)
	assert.Equal(t, []locator.Workflow{{Command: "plug:a:b:c", Others: []string{}, Path: path, Rule: locator.RuleNested, Plugin: "plug"}}, all)
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
