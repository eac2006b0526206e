package locator_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/locator"
)

// calls counts what a search asks of the file system.
type calls struct {
	locator.FS
	opened map[string]int // files and directories, by path
	asked  int            // Stat, Lstat and Readlink
}

func (c *calls) Open(path string) (fs.File, error) {
	c.opened[path]++
	return c.FS.Open(path)
}

func (c *calls) ReadDir(path string) ([]fs.DirEntry, error) {
	c.opened[path]++
	return c.FS.ReadDir(path)
}

func (c *calls) Stat(path string) (fs.FileInfo, error) {
	c.asked++
	return c.FS.Stat(path)
}

func (c *calls) Lstat(path string) (fs.FileInfo, error) {
	c.asked++
	return c.FS.Lstat(path)
}

func (c *calls) Readlink(path string) (string, error) {
	c.asked++
	return c.FS.Readlink(path)
}

// crowd is a world with n plugins of two skills each, half of them from a directory
// marketplace, the others copied from another one, and with a few skills of the user.
func crowd(t *testing.T, n int) *world {
	w := newWorld(t)
	var entries []entry
	var enabled, listed []string
	for i := range n {
		name, market, dir := fmt.Sprintf("p%d", i), "far", fmt.Sprintf("/cache/p%d", i)
		if i%2 == 0 {
			market, dir = "m", fmt.Sprintf("%s/p%d", tree, i)
			listed = append(listed, fmt.Sprintf(`{"name": %q, "source": "./%s"}`, name, name))
		}
		w.put(dir+"/.claude-plugin/plugin.json", fmt.Sprintf(`{"name": %q}`, name))
		w.put(dir+"/skills/a/SKILL.md", "---\nname: a\n---\n")
		w.put(dir+"/skills/s/SKILL.md", fmt.Sprintf("---\nname: own%d\n---\n", i))
		w.put(fmt.Sprintf("%s/skills/alias%d/SKILL.md", dir, i), fmt.Sprintf("---\nname: alias%d\n---\n", i))
		entries = append(entries, entry{name + "@" + market, "user", "", dir, ""})
		enabled = append(enabled, fmt.Sprintf("%q: true", name+"@"+market))
	}
	w.put(registry, objectOf(entries...))
	w.put(config+"/settings.json", `{"enabledPlugins": {`+strings.Join(enabled, ", ")+`}}`)
	w.put(known, fmt.Sprintf(`{"m": {"source": {"source": "directory", "path": %q}}, "far": {"source": {"source": "github"}, `+
		`"installLocation": "/far"}}`, tree))
	w.put(tree+"/.claude-plugin/marketplace.json", `{"plugins": [`+strings.Join(listed, ", ")+`]}`)
	w.put("/far/.claude-plugin/marketplace.json", `{"plugins": []}`)
	w.put(config+"/skills/mine/SKILL.md", "---\nname: called\n---\n")
	return w
}

// count locates a command that was invoked, and returns the numbers of opened files and of other calls. listed says
// that the client lists the name.
func (w *world) count(command string, listed bool) (result locator.Result, opened, asked int) {
	w.t.Helper()
	c := &calls{FS: w.FS, opened: map[string]int{}}
	l := w.Locator
	l.FS, l.Invoked, l.Listed = c, true, func(string) bool { return listed }
	result = must(l.Locate(command, project))
	for _, times := range c.opened {
		opened += times
	}
	return result, opened, c.asked
}

// TestTheCostOfACallIsThatOfItsName: other plugins and their skills cost nothing, and a name that is in no folder, such as
// that of the client's own skills, costs nothing in any plugin.
func TestTheCostOfACallIsThatOfItsName(t *testing.T) {
	few, many := crowd(t, 10), crowd(t, 1000)
	for _, command := range []string{"mine", "p4:s", "p5:s", "p4:own4", "p5:alias5", "simplify"} {
		t.Run(command, func(t *testing.T) {
			result, opened, asked := few.count(command, command == "simplify")
			_, openedOfMany, askedOfMany := many.count(command, command == "simplify")
			assert.Equal(t, command != "simplify", result.Runs() != "", explain(result))
			assert.Equal(t, opened, openedOfMany, "files opened")
			assert.Equal(t, asked, askedOfMany, "other calls")
		})
	}
}

// TestOnlySkillsWithAWorkflowAreReadForANameInAFrontmatter that was invoked.
func TestOnlySkillsWithAWorkflowAreReadForANameInAFrontmatter(t *testing.T) {
	w := crowd(t, 10)
	for i := range 1000 {
		w.put(fmt.Sprintf("%s/skills/u%d/SKILL.md", config, i), fmt.Sprintf("---\nname: u own %d\n---\n", i))
	}
	w.skill(config + "/skills/mine")
	result, opened, _ := w.count("called", false)
	assert.Equal(t, config+"/skills/mine/fsm.json", result.Path)
	assert.Less(t, opened, 10)
}

// TestAListedNameIsNotThatOfAFrontmatter: the client runs its own skill, or a plugin's folder,
// and not the skill whose frontmatter has the name (measured with 2.1.329, fact 147).
func TestAListedNameIsNotThatOfAFrontmatter(t *testing.T) {
	w := crowd(t, 10)
	w.put(config+"/skills/mine/SKILL.md", "---\nname: simplify\n---\n")
	w.put(config+"/skills/other/SKILL.md", "---\nname: mcp:x\n---\n")
	w.skill(config + "/skills/mine")
	w.skill(config + "/skills/other")
	for _, command := range []string{"simplify", "mcp:x"} {
		result, _, _ := w.count(command, false)
		assert.NotEmpty(t, result.Path, command)
		result, _, _ = w.count(command, true)
		assert.Empty(t, result.Path, explain(result))
	}
}

// TestListingReadsEachFileOnce and makes as many other calls as there are skills.
func TestListingReadsEachFileOnce(t *testing.T) {
	list := func(n int) (asked int) {
		w := crowd(t, n)
		for i := range n {
			w.skill(fmt.Sprintf("/cache/p%d/skills/a", i))
			w.skill(fmt.Sprintf("%s/p%d/skills/a", tree, i))
		}
		c := &calls{FS: w.FS, opened: map[string]int{}}
		l := w.Locator
		l.FS = c
		all, _ := l.Workflows(project)
		assert.Len(t, all, n)
		for path, times := range c.opened {
			if strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".json") {
				assert.Equal(t, 1, times, path)
			}
		}
		return c.asked
	}
	few, many := list(20), list(200)
	assert.LessOrEqual(t, many, 11*few)
}
