package locator

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Workflow is the fsm.json of a skill that the client knows in a directory.
type Workflow struct {
	Command string   `json:"command"` // the name under which the client runs the skill, or would if ShadowedBy did not exist
	Others  []string `json:"others"`  // further names under which the client runs the skill
	Path    string   `json:"path"`    // the fsm.json
	Rule    Rule     `json:"rule"`    // the kind of place that has it
	Plugin  string   `json:"plugin"`  // as in Result
	// the SKILL.md or command that the client runs under Command instead; "" if there is none or it is not known
	ShadowedBy string `json:"shadowedBy"`
	Unused     bool   `json:"unused"` // Locate finds this fsm.json under no name
	Off        string `json:"off"`    // the setting that switches the skill off, for people; "" if none does
}

// Bounds of Workflows.
const maxCommandDepth = 8 // levels of folders below a plugin's commands

// Workflows returns the workflows of the skills that the client knows in cwd: those of
// the user, of cwd and its parents, of the plugins that apply there, and nested ones
// below, in this order, and in each place by name. It reads each file once. complete is
// false if there are more directories than are searched for nested skills.
func (l *Locator) Workflows(cwd string) (all []Workflow, complete bool) {
	s := l.search("", cwd, &shared{})
	found, complete := s.everySkill()
	for _, known := range found {
		if s.hasSpec(known.candidate) {
			all = append(all, s.workflow(known))
		}
	}
	return all, complete
}

// Skill is a skill of the user or the project, not of a plugin.
type Skill struct {
	Command string `json:"command"` // the name by which the client calls it
	Folder  string `json:"folder"`
	Plugin  string `json:"plugin"` // the plugin of PluginDirs that has it, or ""
}

// Skills returns the skills that the client knows in cwd, of plugins only those in PluginDirs, in the
// order of [Locator.Workflows]. complete is false if there are more directories than are
// searched for nested skills.
func (l *Locator) Skills(cwd string) (all []Skill, complete bool) {
	s := l.search("", cwd, &shared{})
	found, complete := s.everySkill()
	for _, known := range found {
		given := func(dir string) bool { return strings.HasPrefix(known.folder, dir+string(filepath.Separator)) }
		if known.plugin != "" && !slices.ContainsFunc(s.PluginDirs, given) || !s.isSkill(known.folder) {
			continue
		}
		if names := s.usable(known, func(string) bool { return true }); len(names) > 0 {
			all = append(all, Skill{names[0], known.folder, known.plugin})
		}
	}
	return all, complete
}

// knownSkill is a folder and the names under which the client may know it, that of the
// folder first.
type knownSkill struct {
	candidate
	names  []string
	scoped string // of a nested skill: its name if another skill has the first of names
}

func (s *search) workflow(k knownSkill) Workflow {
	w := Workflow{Command: k.names[0], Others: []string{}, Path: filepath.Join(k.folder, specName), Rule: k.rule, Plugin: k.plugin}
	names := s.usable(k, func(string) bool { return true })
	if len(names) == 0 {
		w.Unused = true
		shadow, _ := s.again(w.Command)
		if w.Off = shadow.off; w.Off == "" {
			w.ShadowedBy = shadow.Runs()
		}
		return w
	}
	w.Command, w.Others = names[0], append(w.Others, names[1:]...)
	return w
}

// usable returns the names under which the client runs the skill, of those that are wanted.
func (s *search) usable(k knownSkill, wanted func(name string) bool) []string {
	all := k.names
	if k.scoped != "" && !s.isRunAs(k, k.names[0]) {
		all = append([]string{k.scoped}, all[1:]...)
	}
	var names []string
	for _, name := range all {
		if wanted(name) && s.isRunAs(k, name) {
			names = append(names, name)
		}
	}
	return names
}

// isRunAs reports whether the client runs the skill under the name.
func (s *search) isRunAs(k knownSkill, name string) bool {
	r, err := s.again(name)
	if err != nil || r.off != "" {
		return false
	}
	if k.skill != nil {
		return r.Runs() == k.skill.File || r.Runs() == "" && r.Path == filepath.Join(k.folder, specName)
	}
	return r.Path == filepath.Join(k.folder, specName) || r.Runs() == filepath.Join(k.folder, client.SkillFile) ||
		r.Runs() == k.folder+".md" && k.rule != RuleCommand // a file is a command of its own there
}

// again searches for another name with what has been read.
func (s *search) again(command string) (Result, error) {
	next := s.search(command, s.cwd, s.shared)
	err := CheckName(command)
	if err == nil {
		err = next.run()
	}
	return next.result, err
}

// everySkill returns the folders in all places, even those without a SKILL.md.
func (s *search) everySkill() (all []knownSkill, complete bool) {
	for _, r := range s.roots() {
		for _, c := range s.folders([]root{r}, r.rule) {
			all = append(all, s.known(c, filepath.Base(c.folder)))
		}
		for _, k := range s.commands(r, "", client.CommandsDir(r.dir), 0) {
			if k.rule = RuleCommand; s.isSkill(k.folder) {
				all = append(all, k)
			}
		}
	}
	all = append(all, s.ofPlugins()...)
	nested, complete := s.nestedRoots()
	for _, dir := range nested {
		scope, _ := filepath.Rel(s.start(), filepath.Dir(dir))
		for _, c := range s.folders([]root{{dir: dir}}, RuleNestedSkill) {
			k := s.known(c, filepath.Base(c.folder))
			k.scoped = filepath.ToSlash(scope) + ":" + k.names[0]
			all = append(all, k)
		}
	}
	return all, complete
}

// ofPlugins returns the skills and commands of the plugins that the client loads, and their
// folders of skills and commands without a SKILL.md.
func (s *search) ofPlugins() (all []knownSkill) {
	known := map[string]bool{}
	for _, skill := range s.everyPluginSkill() {
		c := candidateOf(skill, ruleOf(skill))
		names := []string{skill.FullName()}
		scoped, bare, _ := skill.OwnNames()
		for _, name := range []string{bare, scoped} {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		all, known[c.folder] = append(all, knownSkill{candidate: c, names: names}), true
	}
	for _, p := range s.everyPlugin() {
		r := root{dir: p.Dir, plugin: keyOf(p)}
		more := s.commands(r, p.Name, client.CommandsDir(r.dir), 0)
		for _, c := range s.folders([]root{r}, RulePluginSkill) {
			more = append(more, knownSkill{candidate: c, names: []string{p.Name + ":" + filepath.Base(c.folder)}})
		}
		for _, k := range more {
			if !known[k.folder] {
				all = append(all, k)
			}
			known[k.folder] = true
		}
	}
	return all
}

// ruleOf returns the kind of place that has the skill.
func ruleOf(skill client.Skill) Rule {
	switch {
	case !skill.IsCommand:
		return RulePluginSkill
	case strings.Contains(skill.Name, ":"):
		return RuleNested
	}
	return RulePluginCommand
}

// known returns a skill with the given name and that in its frontmatter.
func (s *search) known(c candidate, name string) knownSkill {
	k := knownSkill{candidate: c, names: []string{name}}
	if own := s.nameIn(c.folder); own != "" && own != name {
		k.names = append(k.names, own)
	}
	return k
}

// commands returns the folders of commands, nested ones too, whose names begin with prefix.
func (s *search) commands(r root, prefix, dir string, depth int) (all []knownSkill) {
	entries, _ := s.FS.ReadDir(dir)
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink == 0 && !entry.IsDir() || depth == maxCommandDepth {
			continue
		}
		rule := RulePluginCommand
		if depth > 0 {
			rule = RuleNested
		}
		name := entry.Name()
		if prefix != "" {
			name = prefix + ":" + name
		}
		below := knownSkill{candidate: candidate{rule: rule, folder: filepath.Join(dir, entry.Name()), plugin: r.plugin}, names: []string{name}}
		all = append(all, below)
		if entry.IsDir() {
			all = append(all, s.commands(r, name, below.folder, depth+1)...)
		}
	}
	return all
}

// SpecsBelow returns every fsm.json in dir and below it, the nearest ones first, in hidden directories too. It leaves out
// what others have put there: node_modules, the directories of version control, and caches and environments, which say so by
// a file CACHEDIR.TAG or pyvenv.cfg. It searches at most maxDirs directories. complete reports whether these were all.
func SpecsBelow(fsys FS, dir string, maxDirs int) (paths []string, complete bool) {
	complete = walk(fsys, dir, maxDirs, func(dir string, entries []fs.DirEntry) (below []string) {
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(ofCaches, e.Name()) }) {
			return nil
		}
		for _, entry := range entries {
			if entry.Name() == specName {
				paths = append(paths, filepath.Join(dir, entry.Name()))
			}
			if entry.IsDir() && !slices.Contains(notSearched, entry.Name()) {
				below = append(below, entry.Name())
			}
		}
		return below
	})
	return paths, complete
}

// notSearched are the names of directories that hold no work of the project's own, and ofCaches the files that a cache has (see
// bford.info/cachedir) and an environment of Python.
var (
	notSearched = []string{"node_modules", ".git", ".hg", ".jj", ".svn"}
	ofCaches    = []string{"CACHEDIR.TAG", "pyvenv.cfg"}
)
