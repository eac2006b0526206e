package locator_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/locator"
)

// The order in which the client itself looks for skills, which are folders with a
// SKILL.md (facts 48, 49, 51, 59 to 61 and 65).

// layout is a set of skills. Each is written as folder, or as folder=name with the name in
// its frontmatter, and has an fsm.json unless it ends with "!".
type layout struct {
	name    string
	skills  []string
	files   []string // further files, or file=content
	command string
	want    string // the folder, "" if there are no tasks
}

const base = "/w/repo/a/b" // the start directory of the layouts, in a git repository

// linked makes /w/repo/a a linked work tree of /w/repo.
var linked = []string{"/w/repo/a/.git=gitdir: /w/repo/.git/worktrees/a", "/w/repo/.git/worktrees/a/commondir=../..",
	"/w/repo/.git/worktrees/a/gitdir=/w/repo/a/.git"}

var layouts = []layout{
	{"the user's folder comes first", []string{"/home/me/.claude/skills/x", base + "/.claude/skills/x"}, nil, "x",
		"/home/me/.claude/skills/x"},
	{"the start directory comes before its parents", []string{base + "/.claude/skills/x", "/w/repo/a/.claude/skills/x"}, nil, "x",
		base + "/.claude/skills/x"},
	{"the nearest parent comes first", []string{"/w/repo/.claude/skills/x", "/w/repo/a/.claude/skills/x"}, nil, "x",
		"/w/repo/a/.claude/skills/x"},
	{"the root of the repository is searched", []string{"/w/repo/.claude/skills/x"}, nil, "x", "/w/repo/.claude/skills/x"},
	{"above the repository nothing is searched", []string{"/w/.claude/skills/x"}, nil, "x", ""},
	{"a worktree has its own root", []string{"/w/repo/.claude/skills/x"}, []string{"/w/repo/a/.git=gitdir: /elsewhere"}, "x", ""},
	{"a linked work tree without skills has those of the main one", []string{"/w/repo/.claude/skills/x"}, linked, "x",
		"/w/repo/.claude/skills/x"},
	{"their frontmatters too", []string{"/w/repo/.claude/skills/p=x"}, linked, "x", "/w/repo/.claude/skills/p"},
	{"those of its own directories come first", []string{"/w/repo/.claude/skills/x", base + "/.claude/skills/x"}, linked, "x",
		base + "/.claude/skills/x"},
	{"those of the main one come before added directories", []string{"/w/repo/.claude/skills/x", "/added/.claude/skills/x"}, linked, "x",
		"/w/repo/.claude/skills/x"},
	{"a linked work tree with skills has only its own", []string{"/w/repo/.claude/skills/x", "/w/repo/a/.claude/skills/y"}, linked, "x", ""},
	{"a linked work tree without skills has the commands of the main one", nil,
		append([]string{"/w/repo/.claude/commands/x/SKILL.md", "/w/repo/.claude/commands/x/fsm.json=[]"}, linked...), "x",
		"/w/repo/.claude/commands/x"},
	{"the organisation's folder comes first", []string{"/managed/.claude/skills/x", "/home/me/.claude/skills/x"}, nil, "x",
		"/managed/.claude/skills/x"},
	{"the organisation's frontmatter comes first", []string{"/managed/.claude/skills/m=x", "/home/me/.claude/skills/u=x"}, nil, "x",
		"/managed/.claude/skills/m"},
	{"the organisation's command comes first", []string{"/home/me/.claude/skills/u=x"},
		[]string{"/managed/.claude/commands/x/SKILL.md", "/managed/.claude/commands/x/fsm.json=[]", "/home/me/.claude/commands/x/SKILL.md"}, "x",
		"/managed/.claude/commands/x"},
	{"parents come before added directories", []string{"/added/.claude/skills/x", "/w/repo/.claude/skills/x"}, nil, "x",
		"/w/repo/.claude/skills/x"},
	{"added directories are searched in their order", []string{"/added/.claude/skills/x", "/added2/.claude/skills/x"}, nil, "x",
		"/added2/.claude/skills/x"},
	{"a folder's name comes before the user's frontmatter", []string{"/home/me/.claude/skills/u=x", "/added/.claude/skills/x"}, nil, "x",
		"/added/.claude/skills/x"},
	{"the user's frontmatter comes first", []string{"/home/me/.claude/skills/u=x", base + "/.claude/skills/p=x"}, nil, "x",
		"/home/me/.claude/skills/u"},
	{"a parent's frontmatter", []string{"/w/repo/.claude/skills/p=x"}, nil, "x", "/w/repo/.claude/skills/p"},
	{"folders of one place are sorted", []string{base + "/.claude/skills/z=x", base + "/.claude/skills/m=x"}, nil, "x",
		base + "/.claude/skills/m"},
	{"a folder keeps its name beside that of its frontmatter", []string{base + "/.claude/skills/x=y"}, nil, "x", base + "/.claude/skills/x"},
	{"names are case-sensitive", []string{base + "/.claude/skills/X=Y"}, nil, "y", ""},

	{"the choice has no workflow", []string{"/home/me/.claude/skills/x!", base + "/.claude/skills/x"}, nil, "x", ""},
	{"the frontmatter's choice has no workflow", []string{"/home/me/.claude/skills/u=x!", base + "/.claude/skills/p=x"}, nil, "x", ""},
	{"the frontmatter's choice has no workflow, an installed plugin has", []string{"/home/me/.claude/skills/u=x!", "/plug/skills/p=x"},
		nil, "x", ""},
	{"a skill comes before a folder without SKILL.md", []string{"/w/repo/.claude/skills/x"},
		[]string{base + "/.claude/skills/x/fsm.json"}, "x", "/w/repo/.claude/skills/x"},
	{"a frontmatter comes before a folder without SKILL.md", []string{"/w/repo/.claude/skills/p=x!"},
		[]string{base + "/.claude/skills/x/fsm.json"}, "x", ""},
	{"a folder without SKILL.md is used if there is no skill", nil, []string{base + "/.claude/skills/x/fsm.json"}, "x",
		base + "/.claude/skills/x"},
	{"a directory SKILL.md is not a skill", []string{"/w/repo/.claude/skills/x"}, []string{base + "/.claude/skills/x/SKILL.md/below"},
		"x", "/w/repo/.claude/skills/x"},

	{"a command comes before a frontmatter", []string{base + "/.claude/skills/p=x"}, []string{"/w/repo/.claude/commands/x.md"}, "x", ""},
	{"a skill comes before a command", []string{base + "/.claude/skills/x"}, []string{"/home/me/.claude/commands/x.md"}, "x",
		base + "/.claude/skills/x"},
	{"a folder without SKILL.md may carry a command's tasks", nil, []string{base + "/.claude/commands/x.md",
		base + "/.claude/skills/x/fsm.json"}, "x", base + "/.claude/skills/x"},

	{"a scoped name", []string{base + "/apps/web/.claude/skills/x", base + "/.claude/skills/x"}, nil, "apps/web:x",
		base + "/apps/web/.claude/skills/x"},
	{"a scope of one directory", []string{base + "/web/.claude/skills/x"}, nil, "web:x", base + "/web/.claude/skills/x"},
	{"a scope is not that of the repository", []string{"/w/repo/web/.claude/skills/x"}, nil, "web:x", ""},
	{"a scoped name is not that of a frontmatter", []string{base + "/web/.claude/skills/d=x"}, nil, "web:x", ""},
	{"a scoped skill without a workflow", []string{base + "/web/.claude/skills/x!", base + "/.claude/skills/x"}, nil, "web:x", ""},
	{"an unknown scope with a path", []string{base + "/.claude/skills/x"}, nil, "apps/web:x", ""},
	{"a nested skill by its name alone", []string{base + "/apps/web/.claude/skills/x"}, nil, "x", base + "/apps/web/.claude/skills/x"},
	{"a nested skill by its frontmatter", []string{base + "/apps/web/.claude/skills/d=x"}, nil, "x", base + "/apps/web/.claude/skills/d"},
	{"two nested skills", []string{base + "/web/.claude/skills/x", base + "/api/.claude/skills/x!"}, nil, "x", ""},
	{"a nested skill's name is taken by a frontmatter", []string{base + "/web/.claude/skills/x", base + "/.claude/skills/p=x!"}, nil, "x", ""},
	{"a nested skill's name is taken by a command", []string{base + "/web/.claude/skills/x"},
		[]string{base + "/.claude/commands/x.md"}, "x", ""},
	{"hidden directories are not searched", []string{base + "/.hidden/.claude/skills/x"}, nil, "x", ""},
	{"packages are not searched", []string{base + "/node_modules/.claude/skills/x"}, nil, "x", ""},
	{"a hidden directory by its scope", []string{base + "/.hidden/.claude/skills/x"}, nil, ".hidden:x", base + "/.hidden/.claude/skills/x"},

	{"a folder with a colon", []string{base + "/.claude/skills/web:x", base + "/web/.claude/skills/x"}, nil, "web:x",
		base + "/.claude/skills/web:x"},
	{"a frontmatter with a colon", []string{base + "/.claude/skills/p=web:x"}, nil, "web:x", base + "/.claude/skills/p"},
	{"a scope comes before a frontmatter with a colon", []string{base + "/.claude/skills/p=web:x", base + "/web/.claude/skills/x"}, nil,
		"web:x", base + "/web/.claude/skills/x"},

	{"a plugin's folder", []string{"/plug/skills/x", base + "/.claude/skills/x"}, nil, "plug:x", "/plug/skills/x"},
	{"a plugin's frontmatter", []string{"/plug/skills/d=x"}, nil, "plug:x", "/plug/skills/d"},
	{"a plugin's bare frontmatter", []string{"/plug/skills/d=x"}, nil, "x", "/plug/skills/d"},
	{"a plugin's folder has no bare name", []string{"/plug/skills/x"}, nil, "x", ""},
	{"a plugin's folder comes before a frontmatter with a colon", []string{"/plug/skills/x", base + "/.claude/skills/p=plug:x"}, nil,
		"plug:x", "/plug/skills/x"},
	{"a frontmatter with a colon comes before a plugin's", []string{"/plug/skills/d=x", base + "/.claude/skills/p=plug:x"}, nil, "plug:x",
		base + "/.claude/skills/p"},
	{"a plugin's command comes before its skill", []string{"/plug/skills/x"}, []string{"/plug/commands/x.md"}, "plug:x", ""},
	{"a plugin's command with a workflow", []string{"/plug/skills/x"}, []string{"/plug/commands/x.md", "/plug/commands/x/fsm.json"},
		"plug:x", "/plug/commands/x"},
	{"a plugin's command beside a folder without SKILL.md", nil, []string{"/plug/commands/x.md", "/plug/skills/x/fsm.json"}, "plug:x",
		"/plug/skills/x"},
	{"a plugin's skill comes before a folder without SKILL.md", []string{"/plug/skills/x!"}, []string{"/plug/commands/x/fsm.json"},
		"plug:x", ""},
}

func TestClientsOrder(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			w := newWorld(t)
			w.Home, w.ProjectDir, w.ManagedDir = "/home/me", base, "/managed"
			w.AddDirs, w.PluginDirs = []string{"/added2", "/added"}, []string{"/plug"}
			w.put("/w/repo/.git/HEAD", "")
			w.put("/plug/file", "")
			for _, skill := range l.skills {
				skill, without := strings.CutSuffix(skill, "!")
				folder, name, _ := strings.Cut(skill, "=")
				w.put(folder+"/SKILL.md", "---\nname: "+name+"\n---\n")
				if !without {
					w.skill(folder)
				}
			}
			for _, file := range l.files {
				path, content, _ := strings.Cut(file, "=")
				w.put(path, content)
			}
			want := specIn(l.want)
			// The model may have changed cwd: only the start directory matters.
			w.finds(want, l.command, base+"/src")
			if !strings.Contains(fmt.Sprint(l.files), base) {
				w.finds(want, l.command, "/")
			}
		})
	}
}

func TestParentsBelowHome(t *testing.T) {
	w := newWorld(t)
	w.Home, w.ConfigDir = "/home/me", "/config"
	for _, dir := range []string{"/home/me", "/home"} {
		w.put(dir+"/.claude/skills/x/SKILL.md", "")
		w.skill(dir + "/.claude/skills/x")
	}
	w.finds("", "x", "/home/me/a/b")
	w.finds("/home/.claude/skills/x/fsm.json", "x", "/home/you/a")
	w.put("/home/me/a/.claude/skills/x/SKILL.md", "")
	w.finds(w.skill("/home/me/a/.claude/skills/x"), "x", "/home/me/a/b")
	w.put("/home/me/.git/HEAD", "")
	w.finds("", "x", "/home/me/c/d")

	w.Home = ""
	w.finds("/home/me/.claude/skills/x/fsm.json", "x", "/home/me/c/d")
}

func TestSearchForNestedSkillsIsBounded(t *testing.T) {
	w := newWorld(t)
	var opened []string
	w.FS = recording{w.FS, &opened}
	for i := range 300 {
		w.put(fmt.Sprintf("%s/d%04d/file", project, i), "")
	}
	w.put(project+"/d0248/.claude/skills/in/SKILL.md", "")
	w.put(project+"/d0249/.claude/skills/out/SKILL.md", "")
	w.skill(project + "/d0249/.claude/skills/out")
	w.finds(w.skill(project+"/d0248/.claude/skills/in"), "in", project)
	opened = nil
	result := w.finds("", "out", project)
	assert.Less(t, len(opened), 300)
	assert.Contains(t, explain(result), "nested skill | "+project+" | skipped | more directories than are searched for nested skills")
	w.finds(project+"/d0249/.claude/skills/out/fsm.json", "d0249:out", project)

	for _, dir := range []string{"/", "/home/me"} { // not projects
		w.Home = "/home/me"
		w.put("/home/me/sub/.claude/skills/x/SKILL.md", "")
		w.skill("/home/me/sub/.claude/skills/x")
		opened = nil
		w.finds("", "x", dir)
		assert.Less(t, len(opened), 10)
	}
}

// The search in parent directories ends below the home, by whichever path that is named.
func TestTheSearchEndsBelowALinkedHome(t *testing.T) {
	root := worlds.Tree(t, "link -> home", "home/project/sub/", "home/project/.claude/skills/near/SKILL.md",
		"home/project/.claude/skills/near/fsm.json",
		"home/.claude/skills/far/SKILL.md", "home/.claude/skills/far/fsm.json")
	for _, home := range []string{"home", "link"} {
		l := locator.Locator{FS: locator.OS{}, ConfigDir: filepath.Join(root, "config"), Home: filepath.Join(root, home)}
		for name, found := range map[string]bool{"near": true, "far": false} {
			assert.Equal(t, found, must(l.Locate(name, filepath.Join(root, "home/project/sub"))).Found(), "%s with HOME at %s", name, home)
		}
	}
}
