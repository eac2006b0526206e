package agent

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsmtx/fsmtx/internal/hint"
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
	a := Named(program)
	if a == nil {
		return ""
	}
	if s := a.Search(lookup).Find(name, dir); s != nil && s.Off == "" {
		return s.Dir
	}
	return ""
}

// Off returns what switches off the skill that Folder does not find, for people; empty if nothing does.
func Off(program, name, dir string, lookup func(string) (string, bool)) string {
	if a := Named(program); a != nil {
		if s := a.Search(lookup).Find(name, dir); s != nil {
			return s.Off
		}
	}
	return ""
}

const (
	maxSkills = 2000 // folders of one place that are looked into
	maxDepth  = 6    // levels of folders in folders
)

// place is a directory with a folder for each skill.
type place struct {
	Dirs   // Deep, Inside and Hidden count
	dir    string
	rule   locator.Rule
	plugin string // the name of the plugin; empty if it is not one's
	prefix string // of the names of its skills

	heading heading
	off     func(*Skill) string
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

// ofPlugins returns the directories of the plugins that are enabled in cwd.
func (s Search) ofPlugins(cwd string) (all []place) {
	if s.agent.plugins == nil {
		return nil
	}
	for _, p := range s.agent.plugins(s.userDir, cwd) {
		for _, dir := range p.dirs {
			all = append(all, place{Dirs: s.agent.Skills, dir: dir, rule: locator.RulePluginSkill, plugin: p.name, prefix: p.prefix})
		}
	}
	return all
}

// each calls visit for the places in their order until it returns false. Plugins are read only if
// it comes to them.
func (s Search) each(cwd string, visit func(place) bool) {
	off := func(*Skill) string { return "" }
	if s.agent.off != nil {
		read := sync.OnceValue(func() func(*Skill) string { return s.agent.off(s.userDir, cwd) })
		off = func(k *Skill) string { return read()(k) }
	}
	for _, of := range []func(string) []place{s.own, s.ofPlugins} {
		for _, p := range of(cwd) {
			p.heading, p.off = s.agent.heading, off
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

// in returns the skill with the name in a place.
func (s Search) in(p place, name string) (found *Skill) {
	visit := func(k *Skill) bool {
		if k != nil && (k.Name == name || s.agent.anyCase && strings.EqualFold(k.Name, name)) {
			found = better(found, p.judged(k))
		}
		return found == nil || !found.taken()
	}
	// A folder of the name is the likeliest one.
	if rest, ok := strings.CutPrefix(name, p.prefix); ok && filepath.IsLocal(rest) && !visit(p.skillIn(filepath.Join(p.dir, rest))) {
		return found
	}
	p.walk(visit)
	return found
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

// judged returns the skill with the reasons for which the agent does not take it.
func (p place) judged(k *Skill) *Skill {
	if k != nil {
		k.Unfit, k.Off = p.heading.unfit(head(k.Dir)), p.off(k)
	}
	return k
}

func (p place) skillIn(dir string) *Skill {
	k := skillIn(dir)
	if k != nil {
		if p.heading.hyphens {
			k.Name = strings.ReplaceAll(k.Name, " ", "-")
		}
		k.Name = p.prefix + k.Name
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
	var spare *place // of a skill that the agent does not take
	var spec string
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
			if err == nil && k.Off == "" && spare == nil {
				spare, spec = &p, path
			}
			return true
		}
		step(p, filepath.Join(k.Dir, "SKILL.md"), locator.OutcomeFound, "")
		spare = nil
		if err == nil {
			r.Path, r.Plugin = path, p.plugin
			step(p, path, locator.OutcomeUsed, "")
			return false
		}
		step(p, path, locator.OutcomeAbsent, "so the skill has no tasks")
		return false
	})
	if spare != nil {
		r.Path, r.Plugin = spec, spare.plugin
		step(*spare, spec, locator.OutcomeUsed, "by commands and tools; no other skill has the name")
	}
	return r, nil
}

// Why says why the agent does not take the folder for a skill.
func (k *Skill) Why(a *Agent) string {
	if k.Off != "" {
		return k.Off
	}
	return "is not a skill for " + a.Title + ": " + k.Unfit
}

// Workflows returns the workflows of the skills that the agent finds from cwd. complete is always
// true; see [locator.Locator.Workflows].
func (s Search) Workflows(cwd string) (all []locator.Workflow, complete bool) {
	for _, k := range s.everySkill(cwd) {
		path := filepath.Join(k.Dir, specName)
		if _, err := os.Lstat(path); err == nil {
			all = append(all, locator.Workflow{Command: k.Name, Others: []string{}, Path: path, Rule: k.rule, Plugin: k.plugin,
				ShadowedBy: k.shadow, Unused: k.shadow != "" || !k.taken()})
			if !k.taken() {
				all[len(all)-1].Off = k.Why(s.agent)
			}
		}
	}
	return all, true
}

// Unfit returns the folders with a workflow that the agent does not accept as skills, without those that
// are switched off.
func (s Search) Unfit(cwd string) (all []Skill) {
	for _, k := range s.everySkill(cwd) {
		if _, err := os.Lstat(filepath.Join(k.Dir, specName)); err == nil && k.Unfit != "" && k.Off == "" {
			all = append(all, k.Skill)
		}
	}
	return all
}

// Skills returns the skills that the agent finds from cwd and that are not of plugins.
func (s Search) Skills(cwd string) (all []locator.Skill, complete bool) {
	for _, k := range s.everySkill(cwd) {
		if k.plugin == "" {
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
		case hint.SimilarNames(command, k.Name):
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
