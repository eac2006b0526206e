//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/locator"
)

// layouts is the number of layouts that the client is run in.
const layouts = 60

// layout is a set of skills around the start directory BASE/a/b.
type layout struct {
	base     string // "project", or "home/w" below HOME
	repo     string // the path of .git below base, "" if there is none
	worktree bool   // .git is a file, as in a worktree
	skills   []skillFolder
	command  bool   // the project has the command x
	options  bool   // the client is given --add-dir and --plugin-dir
	read     bool   // the model reads a file beside each nested skill first
	call     string // the name that the model invokes
}

// skillFolder is a folder with an fsm.json in a place.
type skillFolder struct {
	place string
	name  string // of the folder
	own   string // the name in the frontmatter, "" if there is none
	skill bool   // whether it has a SKILL.md
	link  bool   // whether it is a symbolic link
}

// skillPlaces are the directories with skills/ by their names in a layout; BASE stands
// for its base.
var skillPlaces = map[string]string{
	"user":    "home/.claude",
	"start":   "BASE/a/b/.claude",
	"parent":  "BASE/a/.claude",
	"top":     "BASE/.claude",
	"web":     "BASE/a/b/web/.claude",
	"api":     "BASE/a/b/apps/api/.claude",
	"added 1": "added1/.claude",
	"added 2": "added2/.claude",
	"plug":    "plug",
	"plug 2":  "plug2",
}

var nestedPlaces = []string{"web", "api"}

// genLayout generates layouts. One seed always gives the same layout.
func genLayout() *rapid.Generator[layout] {
	places := slices.Sorted(maps.Keys(skillPlaces))
	folder := rapid.Custom(func(t *rapid.T) skillFolder {
		f := skillFolder{
			place: rapid.SampledFrom(places).Draw(t, "place"),
			name:  rapid.SampledFrom([]string{"x", "x", "m", "z"}).Draw(t, "name"),
			own:   rapid.SampledFrom([]string{"", "x", "x", "other", "plug:x", "web:x"}).Draw(t, "own"),
			skill: rapid.IntRange(0, 5).Draw(t, "skill") > 0,
			link:  rapid.IntRange(0, 4).Draw(t, "link") == 0,
		}
		if slices.Contains(nestedPlaces, f.place) && strings.Contains(f.own, ":") {
			f.own = "" // the client knows this name; the locator does not look for it
		}
		return f
	})
	return rapid.Custom(func(t *rapid.T) layout {
		l := layout{
			base:     rapid.SampledFrom([]string{"project", "home/w"}).Draw(t, "base"),
			repo:     rapid.SampledFrom([]string{"", ".git", "a/.git", "a/b/.git"}).Draw(t, "repo"),
			worktree: rapid.Bool().Draw(t, "worktree"),
			skills: rapid.SliceOfNDistinct(folder, 2, 6, func(f skillFolder) string { return f.place + f.name }).
				Draw(t, "skills"),
			command: rapid.IntRange(0, 5).Draw(t, "command") == 0,
			options: rapid.IntRange(0, 3).Draw(t, "options") > 0,
			read:    rapid.Bool().Draw(t, "read"),
		}
		l.call = rapid.SampledFrom(l.names()).Draw(t, "call")
		return l
	})
}

// names returns the names that the skills may have to the client.
func (l layout) names() []string {
	scopes := map[string]string{"web": "web:", "api": "apps/api:", "plug": "plug:", "plug 2": "second:"}
	var names []string
	for _, f := range l.skills {
		names = append(names, scopes[f.place]+f.name)
		if f.own != "" {
			names = append(names, f.own)
		}
	}
	return append(names, "x")
}

// path returns the path of a layout's directory in the sandbox.
func (l layout) path(name string) string { return strings.ReplaceAll(name, "BASE", l.base) }

// catalog returns the files of the layout, and what the client is given and reads.
func (l layout) catalog() catalog {
	c := catalog{files: map[string]string{}, docs: map[string]string{}, links: map[string]string{}}
	for i, f := range l.skills {
		folder := l.path(skillPlaces[f.place]) + "/skills/" + f.name
		if f.link {
			target := fmt.Sprintf("linked/%d", i)
			c.links[folder], folder = target, target
		}
		c.files[folder+"/fsm.json"] = "[]"
		if f.skill {
			c.docs[folder+"/SKILL.md"] = f.own
		}
	}
	for _, file := range []string{"BASE/a/b/file", "BASE/a/b/web/file", "BASE/a/b/apps/api/file", "added1/file", "added2/file"} {
		c.files[l.path(file)] = "text"
	}
	if l.command {
		c.files[l.path("BASE/a/b/.claude/commands/x.md")] = "---\ndescription: d\n---\nbody\n"
	}
	switch {
	case l.repo != "" && l.worktree:
		c.files[l.base+"/"+l.repo] = "gitdir: /elsewhere\n"
	case l.repo != "":
		c.files[l.base+"/"+l.repo+"/HEAD"] = "ref: refs/heads/main\n"
	}
	for dir, name := range map[string]string{"plug": "plug", "plug2": "second"} {
		c.files[dir+"/.claude-plugin/plugin.json"] = `{"name": "` + name + `", "version": "1.0.0"}`
	}
	if l.options {
		c.plugins, c.added = []string{"plug", "plug2"}, []string{"added2", "added1"}
	}
	if l.read {
		c.read = []string{l.path("BASE/a/b/web/file"), l.path("BASE/a/b/apps/api/file")}
	}
	return c
}

// undecided reports whether the client's choice depends on what the model has read,
// which the hook cannot see: a nested folder has the name and so has a frontmatter.
func (l layout) undecided() bool {
	scopes := map[string]string{"web": "web:", "api": "apps/api:"}
	nested, named := false, false
	for _, f := range l.skills {
		scope, below := scopes[f.place]
		nested = nested || f.skill && below && (f.name == l.call || scope+f.name == l.call)
		named = named || f.skill && f.own == l.call
	}
	return nested && named
}

// ours returns the folder that the locator takes for the client's, "" if there is none with a SKILL.md.
func (l layout) ours(t *testing.T, s *realclient.Sandbox) (string, locator.Result) {
	t.Helper()
	result := locate(t, l.catalog().locator(s), l.call, filepath.Join(s.Project, "web"))
	if _, err := os.Stat(filepath.Join(filepath.Dir(result.Path), "SKILL.md")); !result.Found() || err != nil {
		return "", result
	}
	return resolved(result), result
}

// Facts 48 to 51, 59 to 61 and 65: the locator predicts the folder that the client runs.
func TestLocatorAgreesWithTheClient(t *testing.T) {
	version, err := realclient.Wanted(t.Context())
	require.NoError(t, err)
	agreed, unknown, undecided := 0, 0, 0
	for seed := range layouts {
		l := genLayout().Example(seed + 1)
		t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
			s := realclient.New(t)
			s.Project = s.Path(l.path("BASE/a/b"))
			c := l.catalog()
			c.write(t, s)
			_, known, ran := c.client(s, []string{l.call})
			want := ran[l.call]
			got, result := l.ours(t, s)
			switch {
			case !known[l.call]:
				unknown++ // no hook runs
			case want == got:
				agreed++
			case l.undecided():
				undecided++
			default:
				assert.Failf(t, "the locator chose another folder", "%+v\nclient:  %s\nlocator: %s\n%s", l, want, got, explain(result))
			}
		})
	}
	t.Logf("the locator agrees with client %s in %d of %d layouts in which it runs the skill; %d depend on what was "+
		"read, in %d the name is unknown",
		version, agreed, layouts-unknown, undecided, unknown)
	assert.GreaterOrEqual(t, agreed, layouts/3, "too few layouts in which the client runs a skill")
}

// explain returns the steps of a search as lines of text.
func explain(r locator.Result) string {
	var b strings.Builder
	for _, s := range r.Steps {
		fmt.Fprintln(&b, s.Rule, s.Path, s.Outcome, s.Detail)
	}
	return b.String()
}

// Fact 176: a linked work tree without skills of its own has those of the main one.
func TestASkillOfTheMainWorkTreeIsHydrated(t *testing.T) {
	for _, c := range []struct {
		name, own string // further skills of the linked tree
		from      string
		known     bool
	}{
		{"none", "", "linked", true},
		{"none, below the root", "", "linked/a", true},
		{"below the root", "linked/a/.claude/skills", "linked/a", true},
		{"in the root", "linked/.claude/skills", "linked", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := realclient.New(t)
			linkedTree(t, s)
			skill(s, "project/.claude/skills", "release", steps("Release"))
			if c.own != "" {
				skill(s, c.own, "other", steps("Other"))
			}
			onPath(s)
			hydrating(t, s, "--user")
			s.Project = s.Path(c.from)

			r := s.Try(Script{Main: []Turn{Do(Skill("skill", "release")), Say("done")}}, "go")

			assert.Equal(t, c.known, strings.Contains(r.Text("skill"), "Launching skill"))
			assert.Equal(t, c.known, strings.Contains(r.Told("skill"), "#1 Release"), r.Told("skill"))
		})
	}
}

// Fact 175: an organisation's skill comes before the user's.
func TestASkillOfTheOrganisationIsHydrated(t *testing.T) {
	realclient.CanManage(t)
	s := realclient.New(t)
	s.Managed = map[string]string{
		".claude/skills/release/SKILL.md": "---\ndescription: d\n---\nbody\n",
		".claude/skills/release/fsm.json": `[{"id": 1, "subject": "Of the organisation"}]`,
	}
	skill(s, userSkills, "release", steps("Of the user"))
	onPath(s)
	hydrating(t, s, "--user")

	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "release")), Say("done")}}, "go")

	assert.Contains(t, r.Told("skill"), "#1 Of the organisation")
}

// Fact 193: the client has the folders that are directly in a directory of skills, and install.TooDeep says so of others.
func TestDeepSkillsAreUnknown(t *testing.T) {
	s := realclient.New(t)
	var turns []Turn
	for folder, known := range map[string]bool{"parent": true, "a/ship": false, "a/b/deep": false, "parent/skills/part": false} {
		skill(s, "project/.claude/skills/"+filepath.Dir(folder), filepath.Base(folder), steps("One"))
		_, tooDeep := install.TooDeep(s.Path("project/.claude/skills/" + folder + "/fsm.json"))
		assert.Equal(t, known, !tooDeep, folder)
		turns = append(turns, Do(Skill(folder, filepath.Base(folder))))
	}

	r := s.Try(Script{Main: append(turns, Say("done"))}, "go")

	for _, folder := range []string{"parent", "a/ship", "a/b/deep", "parent/skills/part"} {
		assert.Equal(t, folder == "parent", strings.Contains(r.Text(folder), "Launching skill"), folder)
	}
}
