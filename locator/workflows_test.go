package locator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/locator"
)

// TestWorkflowsAgreeWithLocate: Locate finds each workflow by each of its names, and an unused
// one by none.
func TestWorkflowsAgreeWithLocate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		w.PluginDirs, w.AddDirs = []string{"/plug"}, []string{"/added"}
		places := []string{config, project + "/.claude", "/projects/.claude", "/added/.claude", project + "/a/.claude",
			project + "/b/c/.claude", "/plug"}
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

// TestEveryWorkflowIsListed: there is no limit to the number of skills.
func TestEveryWorkflowIsListed(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/plug"}
	for i := range 1500 {
		w.skill(fmt.Sprintf("%s/skills/s%04d", config, i))
		w.skill(fmt.Sprintf("/plug/commands/s%04d", i))
	}
	all, complete := w.Workflows(project)
	assert.True(t, complete)
	assert.Len(t, all, 3000)
}

// TestWorkflowsOfNestedCommands: the name of a plugin's command in a folder has its path.
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
	want := []string{w.skill("/p"), w.skill("/p/skills/a"), w.skill("/p/.claude/skills/b"), w.skill("/p/x/y/z"),
		w.skill("/p/.agents/skills/c"), w.skill("/p/x/.github/skills/d"), w.skill("/p/.new/skills/e")}
	w.skill("/p/.git/hooks")
	w.skill("/p/node_modules/m")
	w.skill("/p/.venv/lib")
	w.put("/p/.venv/pyvenv.cfg", "")
	w.skill("/p/.cache/x")
	w.put("/p/.cache/CACHEDIR.TAG", "")
	w.skill("/q")
	paths, complete := locator.SpecsBelow(w.FS, "/p", 100)
	assert.True(t, complete)
	assert.ElementsMatch(t, want, paths)
	assert.Equal(t, "/p/fsm.json", paths[0], "the nearest first")
	_, complete = locator.SpecsBelow(w.FS, "/p", 2)
	assert.False(t, complete)
}

// TestWorkflowsHaveAllTheirNames: a skill is listed once, with the names of its folder and its
// frontmatter. A nested skill has its scoped name if another one has the name of its folder.
func TestWorkflowsHaveAllTheirNames(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/plug"}
	folders := []string{project + "/.claude/skills/x", "/plug/skills/y", project + "/a/.claude/skills/x"}
	var paths []string
	for _, folder := range folders {
		w.put(folder+"/SKILL.md", "---\nname: own"+filepath.Base(folder)+"\n---\n")
		paths = append(paths, w.skill(folder))
	}
	w.put("/plug/commands/c.md", "")
	paths = append(paths, w.skill("/plug/commands/c"))
	all, complete := w.Workflows(project)
	assert.True(t, complete)
	assert.Equal(t, []locator.Workflow{
		{Command: "x", Others: []string{"ownx"}, Path: paths[0], Rule: locator.RuleProject},
		{Command: "plug:c", Others: []string{}, Path: paths[3], Rule: locator.RulePluginCommand, Plugin: "plug"},
		{Command: "plug:y", Others: []string{"owny", "plug:owny"}, Path: paths[1], Rule: locator.RulePluginSkill, Plugin: "plug"},
		{Command: "a:x", Others: []string{}, Path: paths[2], Rule: locator.RuleNestedSkill},
	}, all)
}

// TestWorkflowsFollowLinksOfCommands: the folder of a command may be a symbolic link.
func TestWorkflowsFollowLinksOfCommands(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"plug/commands", "elsewhere", "home"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "elsewhere/fsm.json"), []byte(spec), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "plug/commands/c.md"), nil, 0o644))
	require.NoError(t, os.Symlink("../../elsewhere", filepath.Join(root, "plug/commands/c")))
	l := locator.Locator{FS: locator.OS{}, ConfigDir: filepath.Join(root, "home"), PluginDirs: []string{filepath.Join(root, "plug")}}
	all, _ := l.Workflows(root)
	require.Len(t, all, 1)
	assert.Equal(t, "plug:c", all[0].Command)
}

// TestResultFromAnAddedDirectoryIsNotCertain: it depends on the client's options, unlike a
// result from the project.
func TestResultFromAnAddedDirectoryIsNotCertain(t *testing.T) {
	w := newWorld(t)
	w.AddDirs = []string{"/added"}
	for folder, want := range map[string]bool{project + "/.claude/skills/x": true, "/added/.claude/skills/y": false} {
		w.put(folder+"/SKILL.md", "")
		w.skill(folder)
		assert.Equal(t, want, w.locate(filepath.Base(folder), project).Certain(), folder)
	}
}

// TestCommandsInFolders: in commands/ a file comes before a folder of its name.
func TestCommandsInFolders(t *testing.T) {
	w := newWorld(t)
	commands := project + "/.claude/commands/"
	w.put(commands+"low/SKILL.md", "")
	w.put(commands+"low/x.md", "")
	w.put(commands+"both.md", "")
	w.put(commands+"both/SKILL.md", "")
	low := w.skill(commands + "low")
	w.skill(commands + "both")

	all, _ := w.Workflows(project)

	assert.Equal(t, commands+"low/SKILL.md", w.finds(low, "low", project).Runs())
	beside, _ := w.Locate("low:x", project)
	assert.False(t, beside.Known())
	assert.Equal(t, commands+"both.md", w.finds("", "both", project).Runs())
	require.Len(t, all, 2)
	assert.Equal(t, commands+"both.md", all[0].ShadowedBy)
	assert.False(t, all[1].Unused)
}

// TestSources: the client loads no skill, no command and no setting of a source that its option leaves out.
func TestSources(t *testing.T) {
	for _, c := range []struct {
		sources                    []string
		both, mine, theirs, nested string
		off                        bool
	}{
		{nil, "user", "user", "project", "nested", true},
		{[]string{"user"}, "user", "user", "", "", true},
		{[]string{"project"}, "project", "", "project", "nested", false},
		{[]string{"local"}, "", "", "", "", false},
		{[]string{}, "", "", "", "", false},
	} {
		w := newWorld(t)
		w.Sources, w.AddDirs = c.sources, []string{"/added"}
		w.put(registry, `{"version": 2, "plugins": {}}`)
		paths := map[string]string{"": ""}
		for name, dir := range map[string]string{"user": config, "project": project + "/.claude", "nested": project + "/sub/.claude",
			"added": "/added/.claude"} {
			paths[name] = dir
			for _, folder := range []string{"skills/both", "skills/" + name, "commands/c" + name} {
				w.put(dir+"/"+folder+"/SKILL.md", "")
				w.skill(dir + "/" + folder)
			}
		}
		w.skill(config + "/skills/bare")
		w.put(config+"/settings.json", `{"skillOverrides": {"project": "off", "both": "off"}}`)
		in := func(name, below string) string {
			if name == "" {
				return ""
			}
			return paths[name] + below + "/fsm.json"
		}

		for _, w.Invoked = range []bool{false, true} {
			both := w.finds(in(c.both, "/skills/both"), "both", project)
			assert.Equal(t, c.off && !w.Invoked, both.Off() != "", c.sources)
			w.finds(in(c.mine, "/skills/user"), "user", project)
			w.finds(in(c.mine, "/commands/cuser"), "cuser", project)
			w.finds(in(c.mine, "/skills/bare"), "bare", project)
			w.finds(in(c.theirs, "/skills/project"), "project", project)
			w.finds(in(c.nested, "/skills/nested"), "nested", project)
			w.finds(in(c.nested, "/skills/nested"), "sub:nested", project)
			found, _ := w.Locate("added", project)
			assert.Equal(t, c.theirs != "", found.Found(), c.sources)
		}
	}
}

// TestWorkflowsOfPluginsAgreeWithLocate: Locate finds each skill that a plugin lists by each of
// its names, invoked or not, and an unused one by none.
func TestWorkflowsOfPluginsAgreeWithLocate(t *testing.T) {
	skills := []string{"", `, "skills": "./more"`, `, "skills": ["./skills/x", "./one"]`, `, "skills": ["more"]`, `, "skills": "."`}
	commands := []string{"", `, "commands": "./cmds"`}
	rapid.Check(t, func(r *rapid.T) {
		pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(r, label) }
		w := newWorld(t)
		entries, enabled := []string{}, []string{}
		for _, name := range []string{"p", "q"} {
			source := pick("source", "./", "./"+name)
			dir := filepath.Join(tree, source)
			entries = append(entries, fmt.Sprintf(`{"name": %q, "source": %q%s%s%s}`, name, source, pick("strict", "", `, "strict": false`),
				pick("entry's skills", skills...), pick("entry's commands", commands...)))
			enabled = append(enabled, fmt.Sprintf(`"%s@m": %s`, name, pick("enabled", "true", "true", "false")))
			if rapid.Bool().Draw(r, "manifest") {
				w.put(dir+"/.claude-plugin/plugin.json", `{"name": "`+pick("name", name, "other"+name)+`"`+pick("skills", skills...)+
					pick("commands", commands...)+`}`)
			}
			for _, folder := range []string{"skills/x", "skills/a.b", "more/y", "one", "."} {
				w.skill(dir + "/" + folder)
				if own := pick("own", "", "x", "own", "p:x", "-"); own != "-" {
					w.put(dir+"/"+folder+"/SKILL.md", "---\nname: "+own+"\n---\n")
				}
			}
			for _, file := range []string{"commands/c", "commands/sub/x", "cmds/d", "notes"} {
				w.skill(dir + "/" + file)
				w.put(dir+"/"+file+".md", "")
			}
			w.skill(dir + "/commands/t")
		}
		w.put(registry, objectOf(entry{"p@m", "user", "", tree + "/p", ""}))
		w.put(known, `{"m": {"source": {"source": "directory", "path": "`+tree+`"}}}`)
		w.put(tree+"/.claude-plugin/marketplace.json", `{"plugins": [`+strings.Join(entries, ", ")+`]}`)
		w.put(config+"/settings.json", `{"enabledPlugins": {`+strings.Join(enabled, ", ")+`}}`)

		all, complete := w.Workflows(project)

		assert.True(r, complete)
		for _, found := range all {
			for _, name := range append([]string{found.Command}, found.Others...) {
				w.Invoked = false
				result, _ := w.Locate(name, project)
				require.Equal(r, !found.Unused, result.Path == found.Path, "%s: %+v\n%s", name, found, explain(result))
				if !found.Unused && result.Runs() != "" {
					w.Invoked = true
					result, _ = w.Locate(name, project)
					require.Equal(r, found.Path, result.Path, "invoked %s: %+v\n%s", name, found, explain(result))
				}
			}
		}
	})
}

// TestACommandHidesTheSkillOfItsName: the client has no skill that has the name of a command of
// its plugin, so the name in its frontmatter is that of the next skill that has it.
func TestACommandHidesTheSkillOfItsName(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"/dev/p"}
	w.put("/dev/p/.claude-plugin/plugin.json", `{"name": "p"}`)
	w.put("/dev/p/commands/x.md", "")
	for _, name := range []string{"x", "y"} {
		w.skill("/dev/p/skills/" + name)
		w.put("/dev/p/skills/"+name+"/SKILL.md", "---\nname: own\n---\n")
	}
	for _, invoked := range []bool{false, true} {
		w.Invoked = invoked
		assert.Equal(t, "/dev/p/skills/y/fsm.json", w.locate("p:own", project).Path, "invoked: %t", invoked)
	}
}

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
