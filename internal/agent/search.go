package agent

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/locator"
)

// Search finds the skills of an agent, as *locator.Locator finds Claude Code's: in the directories
// of the project and of the person, then in those of plugins. Each method reads the disk.
type Search struct {
	agent  *Agent
	lookup func(string) (string, bool)
}

// Search returns what finds the agent's skills. lookup is os.LookupEnv or a stand-in for it.
func (a *Agent) Search(lookup func(string) (string, bool)) Search { return Search{a, lookup} }

// Folder returns the folder in which an agent that runs in dir finds the skill with the name, empty
// if it finds none. It is also empty if program names an agent that this package does not have:
// Claude Code, whose places package locator knows, or an unknown one.
func Folder(program, name, dir string, lookup func(string) (string, bool)) string {
	if a := Named(program); a != nil {
		if s := a.Search(lookup).Find(name, dir); s != nil {
			return s.Dir
		}
	}
	return ""
}

const (
	maxSkills = 2000 // folders of one place that are looked into
	maxDepth  = 6    // levels of folders in folders
)

// place is a directory with a folder for each skill, or with plugins.
type place struct {
	Dirs    // Deep, Inside and Hidden count
	dir     string
	rule    locator.Rule
	scoped  bool // the names of its skills have the plugin's before them
	heading heading
}

// own yields the directories of the project, those of its parents up to the root of its git work
// tree, and those of the person.
func (s Search) own(cwd string) (all []place) {
	home, _ := s.lookup("HOME")
	rule := locator.RuleProject
	for _, dir := range upwards(cwd, home) {
		for _, sub := range s.agent.Skills.Project {
			all = append(all, place{Dirs: s.agent.Skills, dir: filepath.Join(dir, sub), rule: rule})
		}
		rule = locator.RuleParent
	}
	for _, sub := range s.agent.Skills.User {
		if dir := s.userDir(sub); dir != "" {
			all = append(all, place{Dirs: s.agent.Skills, dir: dir, rule: locator.RuleUser})
		}
	}
	return all
}

// userDir returns the absolute path of a directory of the person, empty if it is not known.
// The variable of Home moves only what is below the directory of Home.
func (s Search) userDir(sub string) string {
	if rest, err := filepath.Rel(s.agent.Home.Dir, sub); s.agent.Home.Dir == "" || err == nil && filepath.IsLocal(rest) {
		return s.agent.UserFile(s.lookup, sub)
	}
	if home, _ := s.lookup("HOME"); home != "" {
		return filepath.Join(home, sub)
	}
	return ""
}

// ofPlugins returns the directories with plugins.
func (s Search) ofPlugins(string) (all []place) {
	if s.agent.plugins == nil {
		return nil
	}
	for _, dir := range s.agent.plugins(s.userDir) {
		if filepath.IsAbs(dir) {
			all = append(all, place{Dirs: Dirs{Deep: true}, dir: dir, rule: locator.RulePluginSkill, scoped: s.agent.scoped})
		}
	}
	return all
}

// pluginOf returns the plugin that has the folder of a skill, by its path; empty if the place is not one of plugins.
func (p place) pluginOf(k *Skill) string {
	if p.rule != locator.RulePluginSkill || k == nil {
		return ""
	}
	path, _ := filepath.Rel(p.dir, k.Dir)
	plugin, _, _ := strings.Cut(filepath.ToSlash(path), "/skills/")
	return plugin
}

// skillIn returns the skill of a folder in the place, nil if it has no SKILL.md that can be read.
func (p place) skillIn(dir string) *Skill {
	k := skillIn(dir)
	if plugin := strings.Split(p.pluginOf(k), "/"); k != nil && p.scoped && plugin[0] != "" {
		k.Name = plugin[min(1, len(plugin)-1)] + ":" + k.Name // below a marketplace in Codex
	}
	return k
}

// isCalled reports whether a skill has the name, with the plugin's before it or without.
func (s Search) isCalled(k *Skill, name string) bool {
	return k.Name == name || s.agent.anyCase && strings.EqualFold(k.Name, name) || strings.HasSuffix(k.Name, ":"+name)
}

// each calls visit for the places in their order until it returns false. Plugins are read only if
// it comes to them.
func (s Search) each(cwd string, visit func(place) bool) {
	for _, of := range []func(string) []place{s.own, s.ofPlugins} {
		for _, p := range of(cwd) {
			p.heading = s.agent.heading
			if !visit(p) {
				return
			}
		}
	}
}

// Find returns the skill with the name, as the agent calls it: one whose SKILL.md says so, else a
// folder of that name that has a SKILL.md. It is nil if the agent finds none from cwd. One that the
// agent does not take for a skill is found only if no other one has the name.
func (s Search) Find(name, cwd string) (found *Skill) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return nil
	}
	s.each(cwd, func(p place) bool {
		found = better(found, s.in(p, name))
		return found == nil || !found.taken()
	})
	return found
}

// better returns the skill that the agent takes, the first one if it takes both or neither.
func better(first, second *Skill) *Skill {
	if first == nil || second != nil && second.taken() && !first.taken() {
		return second
	}
	return first
}

// in returns the skill with the name in a place; of several versions of a plugin that which was installed last.
func (s Search) in(p place, name string) (found *Skill) {
	visit := func(k *Skill) bool {
		if k != nil && s.isCalled(k, name) {
			isNewer := found != nil && installed(k).After(installed(found)) && p.rule == locator.RulePluginSkill
			if found = better(found, p.judged(k)); isNewer && k.taken() {
				found = k
			}
		}
		return found == nil || !found.taken() || p.rule == locator.RulePluginSkill
	}
	// A folder of the name is the likeliest one.
	if filepath.IsLocal(name) && !visit(p.skillIn(filepath.Join(p.dir, name))) {
		return found
	}
	p.walk(visit)
	return found
}

// installed returns the time at which the folder of a skill was written.
func installed(k *Skill) (at time.Time) {
	if info, err := os.Stat(k.Dir); err == nil {
		at = info.ModTime()
	}
	return at
}

// at returns the skill whose folder is given, nil if the agent does not find it from cwd.
func (s Search) at(folder, cwd string) (found *Skill) {
	s.each(cwd, func(p place) bool {
		if p.holds(folder) {
			found = p.judged(p.skillIn(folder))
		}
		return found == nil
	})
	return found
}

// judged returns the skill with the reason for which the agent does not take it.
func (p place) judged(k *Skill) *Skill {
	if k != nil {
		k.Unfit = p.heading.unfit(head(k.Dir))
	}
	return k
}

// holds reports whether a folder may be that of a skill in the place.
func (p place) holds(folder string) bool {
	for range p.depth() {
		folder = filepath.Dir(folder)
		if folder == p.dir || safefile.Same(folder, p.dir) {
			return true
		}
	}
	return false
}

func (p place) depth() int {
	if p.Deep {
		return maxDepth
	}
	return 1
}

// walk calls visit for the skills of the place, by their paths, until it returns false.
func (p place) walk(visit func(*Skill) bool) {
	left := maxSkills
	p.below(p.dir, p.depth(), &left, visit)
}

func (p place) below(dir string, levels int, left *int, visit func(*Skill) bool) (goOn bool) {
	folders, err := os.ReadDir(dir)
	if err != nil || levels == 0 {
		return true
	}
	for _, folder := range folders {
		if *left--; *left < 0 {
			return false
		}
		if folder.Type().IsRegular() || !p.Hidden && strings.HasPrefix(folder.Name(), ".") {
			continue
		}
		sub := filepath.Join(dir, folder.Name())
		k := p.skillIn(sub)
		if k != nil && !visit(k) {
			return false
		}
		if (k == nil || p.Inside) && !p.below(sub, levels-1, left, visit) {
			return false
		}
	}
	return true
}

// known is a skill and the place that has it.
type known struct {
	Skill
	place
	shadow string // SKILL.md of the skill that the agent runs under the name instead
}

// everySkill returns the skills that the agent finds from cwd. A folder that is reached in two ways
// is there once.
func (s Search) everySkill(cwd string) (all []known) {
	first, seen := map[string]string{}, map[string]bool{}
	s.each(cwd, func(p place) bool {
		p.walk(func(k *Skill) bool {
			if real := safefile.Resolve(k.Dir); !seen[real] {
				seen[real] = true
				all = append(all, known{*p.judged(k), p, first[k.Name]})
				if k.taken() {
					first[k.Name] = cmp.Or(first[k.Name], filepath.Join(k.Dir, "SKILL.md"))
				}
			}
			return true
		})
		return true
	})
	return all
}

const specName = "fsm.json"

// Locate finds the fsm.json of the skill that the agent calls command, and says where it searched.
// Finding none is not an error.
func (s Search) Locate(command, cwd string) (locator.Result, error) {
	r := locator.Result{Command: command}
	step := func(p place, path string, o locator.Outcome, detail string) {
		r.Steps = append(r.Steps, locator.Step{Rule: p.rule, Path: path, Outcome: o, Detail: detail})
	}
	if command == "" || strings.ContainsAny(command, `/\`) {
		return r, &locator.NameError{Name: command, Reason: "it is not the name of a skill"}
	}
	var spare func() // takes a skill that the agent does not
	s.each(cwd, func(p place) bool {
		k := s.in(p, command)
		if k == nil {
			step(p, p.dir, locator.OutcomeAbsent, "has no skill of the name")
			return true
		}
		path := filepath.Join(k.Dir, specName)
		_, err := os.Lstat(path)
		if !k.taken() {
			step(p, filepath.Join(k.Dir, "SKILL.md"), locator.OutcomeFailed, k.Why(s.agent))
			if err == nil && spare == nil {
				spare = func() {
					r.Path, r.Plugin = path, p.pluginOf(k)
					step(p, path, locator.OutcomeUsed, "by commands and tools; no other skill has the name")
				}
			}
			return true
		}
		step(p, filepath.Join(k.Dir, "SKILL.md"), locator.OutcomeFound, "")
		spare = nil
		if err == nil {
			r.Path, r.Plugin = path, p.pluginOf(k)
			step(p, path, locator.OutcomeUsed, "")
			return false
		}
		step(p, path, locator.OutcomeAbsent, "so the skill has no tasks")
		return false
	})
	if spare != nil {
		spare()
	}
	return r, nil
}

// Why says why the agent does not take the folder for a skill.
func (k *Skill) Why(a *Agent) string {
	return "is not a skill for " + a.Title + ": " + k.Unfit
}

// Workflows returns the workflows of the skills that the agent finds from cwd. complete is always
// true; see [locator.Locator.Workflows].
func (s Search) Workflows(cwd string) (all []locator.Workflow, complete bool) {
	for _, k := range s.everySkill(cwd) {
		path := filepath.Join(k.Dir, specName)
		if _, err := os.Lstat(path); err == nil {
			all = append(all, locator.Workflow{Command: k.Name, Others: []string{}, Path: path, Rule: k.rule, Plugin: k.pluginOf(&k.Skill),
				ShadowedBy: k.shadow, Unused: k.shadow != "" || !k.taken()})
			if !k.taken() {
				all[len(all)-1].Off = k.Why(s.agent)
			}
		}
	}
	return all, true
}

// Unfit returns the folders with a workflow that the agent does not accept as skills.
func (s Search) Unfit(cwd string) (all []Skill) {
	for _, k := range s.everySkill(cwd) {
		if _, err := os.Lstat(filepath.Join(k.Dir, specName)); err == nil && k.Unfit != "" {
			all = append(all, k.Skill)
		}
	}
	return all
}

// Skills returns the skills that the agent finds from cwd and that are not of plugins.
func (s Search) Skills(cwd string) (all []locator.Skill, complete bool) {
	for _, k := range s.everySkill(cwd) {
		if k.rule != locator.RulePluginSkill {
			all = append(all, locator.Skill{Command: k.Name, Folder: k.Dir})
		}
	}
	return all, true
}

// Near returns, sorted, the names of skills that the agent finds from cwd and that are similar to
// command, none if command is one of them.
func (s Search) Near(command, cwd string) (near []string) {
	for _, k := range s.everySkill(cwd) {
		switch {
		case k.Name == command:
			return nil
		case message.SimilarNames(command, k.Name):
			near = append(near, k.Name)
		}
	}
	slices.Sort(near)
	return slices.Compact(near)
}

// upwards returns dir and, if it is in a git work tree, its parents up to the root of that.
func upwards(dir, home string) (dirs []string) {
	if !filepath.IsAbs(dir) {
		return nil
	}
	for up := dir; up != home; up = filepath.Dir(up) {
		dirs = append(dirs, up)
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return dirs
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	return []string{dir}
}
