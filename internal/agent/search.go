package agent

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
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
	if a := Other(program); a != nil {
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
func (s Search) ofPlugins() (all []place) {
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
func (p place) pluginOf(folder string) string {
	if p.rule != locator.RulePluginSkill {
		return ""
	}
	path, _ := filepath.Rel(p.dir, folder)
	plugin, _, _ := strings.Cut(filepath.ToSlash(path), "/skills/")
	return plugin
}

// skillIn returns the skill of a folder in the place, nil if it has no SKILL.md that can be read.
func (p place) skillIn(dir string) *Skill {
	document := head(dir)
	if document == nil {
		return nil
	}
	name, _ := frontmatter.Field(document, "name")
	k := &Skill{Name: cmp.Or(name, filepath.Base(dir)), Dir: dir, Unfit: p.heading.unfit(document), place: p, begins: document}
	if plugin := strings.Split(p.pluginOf(dir), "/"); p.scoped && plugin[0] != "" {
		k.Name = plugin[min(1, len(plugin)-1)] + ":" + k.Name // below a marketplace in Codex
	}
	return k
}

// isCalled reports whether a skill has the name, with the plugin's before it or without.
func (s Search) isCalled(k *Skill, name string) bool {
	return k.Name == name || s.agent.anyCase && strings.EqualFold(k.Name, name) || strings.HasSuffix(k.Name, ":"+name)
}

// places returns the directories with skills in their order.
func (s Search) places(cwd string) []place {
	all := append(s.own(cwd), s.ofPlugins()...)
	for i := range all {
		all[i].heading = s.agent.heading
	}
	return all
}

// Find returns the skill with the name, as the agent calls it: one whose SKILL.md says so, else a
// folder of that name that has a SKILL.md. It is nil if the agent finds none from cwd. One that the
// agent does not take for a skill is found only if no other one has the name.
func (s Search) Find(name, cwd string) *Skill {
	if strings.ContainsAny(name, `/\`) {
		return nil
	}
	return s.best(s.every(cwd), name)
}

// best returns the first of the skills with the name that the agent takes, else the first; of several versions of a plugin that
// which was installed last.
func (s Search) best(all []*Skill, name string) (found *Skill) {
	for _, k := range all {
		switch {
		case !s.isCalled(k, name):
		case found == nil, k.taken() && !found.taken(),
			k.taken() && k.rule == locator.RulePluginSkill && k.place.dir == found.place.dir && k.installed().After(found.installed()):
			found = k
		}
	}
	return found
}

// installed returns the time at which the folder of a skill was written.
func (k *Skill) installed() (at time.Time) {
	if info, err := os.Stat(k.Dir); err == nil {
		at = info.ModTime()
	}
	return at
}

// walk returns the skills of the place by their paths.
func (p place) walk() (all []*Skill) {
	left, levels := maxSkills, 1
	if p.Deep {
		levels = maxDepth
	}
	p.below(p.dir, levels, &left, &all)
	return all
}

func (p place) below(dir string, levels int, left *int, all *[]*Skill) {
	folders, err := os.ReadDir(dir)
	if err != nil || levels == 0 {
		return
	}
	for _, folder := range folders {
		if *left--; *left < 0 {
			return
		}
		if folder.Type().IsRegular() || !p.Hidden && strings.HasPrefix(folder.Name(), ".") {
			continue
		}
		sub := filepath.Join(dir, folder.Name())
		k := p.skillIn(sub)
		if k != nil {
			*all = append(*all, k)
		}
		if k == nil || p.Inside {
			p.below(sub, levels-1, left, all)
		}
	}
}

// every returns the skills that the agent finds from cwd. A folder that is reached in two ways
// is there once.
func (s Search) every(cwd string) (all []*Skill) {
	first, seen := map[string]string{}, map[string]bool{}
	for _, p := range s.places(cwd) {
		for _, k := range p.walk() {
			real := safefile.Resolve(k.Dir)
			if seen[real] {
				continue
			}
			seen[real], k.shadow = true, first[k.Name]
			all = append(all, k)
			if k.taken() {
				first[k.Name] = cmp.Or(first[k.Name], filepath.Join(k.Dir, "SKILL.md"))
			}
		}
	}
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
	all := s.every(cwd)
	var spare func() // takes a skill that the agent does not
	for _, p := range s.places(cwd) {
		k := s.best(slices.DeleteFunc(slices.Clone(all), func(k *Skill) bool { return k.place.dir != p.dir }), command)
		if k == nil {
			step(p, p.dir, locator.OutcomeAbsent, "has no skill of the name")
			continue
		}
		path := filepath.Join(k.Dir, specName)
		_, err := os.Lstat(path)
		use := func(why string) {
			r.Path, r.Plugin = path, p.pluginOf(k.Dir)
			step(p, path, locator.OutcomeUsed, why)
		}
		switch {
		case k.taken():
			step(p, filepath.Join(k.Dir, "SKILL.md"), locator.OutcomeFound, "")
			if err == nil {
				use("")
			} else {
				step(p, path, locator.OutcomeAbsent, "so the skill has no tasks")
			}
			return r, nil
		case err == nil && spare == nil:
			spare = func() { use("by commands and tools; no other skill has the name") }
		}
		step(p, filepath.Join(k.Dir, "SKILL.md"), locator.OutcomeFailed, k.Why(s.agent))
	}
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
	for _, k := range s.every(cwd) {
		path := filepath.Join(k.Dir, specName)
		if _, err := os.Lstat(path); err == nil {
			all = append(all, locator.Workflow{Command: k.Name, Others: []string{}, Path: path, Rule: k.rule, Plugin: k.pluginOf(k.Dir),
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
	for _, k := range s.every(cwd) {
		if _, err := os.Lstat(filepath.Join(k.Dir, specName)); err == nil && k.Unfit != "" {
			all = append(all, *k)
		}
	}
	return all
}

// Skills returns the skills that the agent finds from cwd and that are not of plugins.
func (s Search) Skills(cwd string) (all []locator.Skill, complete bool) {
	for _, k := range s.every(cwd) {
		if k.rule != locator.RulePluginSkill {
			all = append(all, locator.Skill{Command: k.Name, Folder: k.Dir})
		}
	}
	return all, true
}

// Near returns, sorted, the names of skills that the agent finds from cwd and that are similar to
// command, none if command is one of them.
func (s Search) Near(command, cwd string) (near []string) {
	for _, k := range s.every(cwd) {
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
