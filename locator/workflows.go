package locator

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// Workflow is the fsm.json of a skill that the client knows in a directory.
type Workflow struct {
	Command    string   `json:"command"`    // the name under which the client runs the skill, or would if ShadowedBy did not exist
	Others     []string `json:"others"`     // further names under which the client runs the skill
	Path       string   `json:"path"`       // the fsm.json
	Rule       Rule     `json:"rule"`       // the kind of place that has it
	Plugin     string   `json:"plugin"`     // as in Result
	ShadowedBy string   `json:"shadowedBy"` // the SKILL.md or command that the client runs under Command instead; "" if there is none or it is not known
	Unused     bool     `json:"unused"`     // Locate finds this fsm.json under no name
}

// Bounds of Workflows. The client itself reads each SKILL.md once, at its start.
const (
	maxListed       = 1000 // folders of skills and commands, in all places together
	maxCommandDepth = 8    // levels of folders below a plugin's commands
)

// Workflows returns the workflows of the skills that the client knows in cwd: those of
// the user, of cwd and its parents, of the plugins that apply there, and nested ones
// below, in this order, and in each place by name. complete is false if a limit left out
// some folders.
func (l *Locator) Workflows(cwd string) (all []Workflow, complete bool) {
	s := &search{Locator: l, cwd: cwd}
	found, complete := s.everySkill()
	for _, known := range found {
		if len(s.withSpec([]candidate{known.candidate})) > 0 {
			all = append(all, known.workflow(l, cwd))
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

func (k knownSkill) workflow(l *Locator, cwd string) Workflow {
	w := Workflow{Command: k.names[0], Others: []string{}, Path: filepath.Join(k.folder, specName), Rule: k.rule, Plugin: k.plugin}
	names := k.usable(l, cwd, func(string) bool { return true })
	if len(names) == 0 {
		w.Unused = true
		shadow, _ := l.Locate(w.Command, cwd)
		w.ShadowedBy = shadow.Runs()
		return w
	}
	w.Command, w.Others = names[0], append(w.Others, names[1:]...)
	return w
}

// usable returns the names under which the client runs the skill, of those that are wanted.
func (k knownSkill) usable(l *Locator, cwd string, wanted func(name string) bool) []string {
	all := k.names
	if k.scoped != "" && !k.isRunAs(l, cwd, k.names[0]) {
		all = append([]string{k.scoped}, all[1:]...)
	}
	var names []string
	for _, name := range all {
		if wanted(name) && k.isRunAs(l, cwd, name) {
			names = append(names, name)
		}
	}
	return names
}

// isRunAs reports whether the client runs the skill under the name.
func (k knownSkill) isRunAs(l *Locator, cwd, name string) bool {
	r, _ := l.Locate(name, cwd)
	return r.Path == filepath.Join(k.folder, specName) || r.Runs() == filepath.Join(k.folder, plugins.SkillFile) || r.Runs() == k.folder+".md"
}

// everySkill returns the folders in all places, even those without a SKILL.md.
func (s *search) everySkill() (all []knownSkill, complete bool) {
	for _, r := range s.roots() {
		for _, c := range s.folders([]root{r}, r.rule) {
			all = append(all, s.known(c, filepath.Base(c.folder)))
		}
	}
	for _, r := range s.pluginRoots() {
		plugin, _, _ := strings.Cut(r.plugin, "@")
		for _, c := range s.folders([]root{r}, RulePluginSkill) {
			k := s.known(c, plugin+":"+filepath.Base(c.folder))
			if own := plugins.OwnName(s.FS, c.folder); own != "" {
				k.names = append(k.names, plugin+":"+own)
			}
			all = append(all, k)
		}
		all = append(all, s.commands(r, plugin, plugins.CommandsDir(r.dir), 0)...)
	}
	nested, complete := s.nestedRoots()
	for _, dir := range nested {
		scope, _ := filepath.Rel(s.start(), filepath.Dir(dir))
		for _, c := range s.folders([]root{{dir: dir}}, RuleNestedSkill) {
			name := filepath.Base(c.folder)
			k := s.known(c, name)
			k.scoped = filepath.ToSlash(scope) + ":" + name
			all = append(all, k)
		}
	}
	if len(all) > maxListed {
		all, complete = all[:maxListed], false
	}
	for i := range all {
		all[i].names = unique(all[i].names)
	}
	return all, complete
}

// known returns a skill with the given name and that in its frontmatter.
func (s *search) known(c candidate, name string) knownSkill {
	k := knownSkill{candidate: c, names: []string{name}}
	if own := plugins.OwnName(s.FS, c.folder); own != "" {
		k.names = append(k.names, own)
	}
	return k
}

// commands returns the folders of a plugin's commands, nested ones too.
func (s *search) commands(r root, name, dir string, depth int) (all []knownSkill) {
	entries, _ := s.FS.ReadDir(dir)
	for _, entry := range entries {
		if len(all) > maxListed {
			break
		}
		if entry.Type()&fs.ModeSymlink == 0 && !entry.IsDir() || depth == maxCommandDepth {
			continue
		}
		rule := RulePluginCommand
		if depth > 0 {
			rule = RuleNested
		}
		below := knownSkill{candidate: candidate{rule, filepath.Join(dir, entry.Name()), r.plugin}, names: []string{name + ":" + entry.Name()}}
		all = append(all, below)
		if entry.IsDir() {
			all = append(all, s.commands(r, below.names[0], below.folder, depth+1)...)
		}
	}
	return all
}

// unique drops repeated names.
func unique(names []string) []string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// SpecsBelow returns every fsm.json in dir and below it, the nearest ones first. It skips
// node_modules and hidden directories except .claude, and searches at most maxDirs
// directories. complete reports whether these were all.
func SpecsBelow(fsys FS, dir string, maxDirs int) (paths []string, complete bool) {
	complete = walk(fsys, dir, maxDirs, func(dir string, entry fs.DirEntry) bool {
		if entry.Name() == specName && !entry.IsDir() {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
		return entry.Name() == ".claude" || isSearched(entry)
	})
	return paths, complete
}
