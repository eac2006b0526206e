package locator

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// Workflow is an fsm.json that is visible from a directory.
type Workflow struct {
	Command    string   `json:"command"`    // the name under which the client runs it, or would if ShadowedBy did not exist
	Others     []string `json:"others"`     // more names under which the client runs it
	Path       string   `json:"path"`       // the fsm.json
	Rule       Rule     `json:"rule"`       // the kind of place that has it
	Plugin     string   `json:"plugin"`     // as in Result
	ShadowedBy string   `json:"shadowedBy"` // the SKILL.md or command that the client runs under Command instead; "" if it is not known
	Unused     bool     `json:"unused"`     // no name leads to it
}

// Bounds of Workflows. The client itself reads each SKILL.md once, at its start.
const (
	maxListed       = 1000 // folders with skills in all
	maxCommandDepth = 8
)

// Workflows returns the workflows of the skills that the client knows in cwd: those of
// the user, of cwd and its parents, of the plugins that apply there, and nested ones
// below, in this order, and in each place by name. complete is false if there are too
// many folders to look at all.
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

// knownSkill is a folder of a place, and the names that the client may know it by: that
// of the folder first.
type knownSkill struct {
	candidate
	names  []string
	scoped string // its name if another skill has the first one; only a nested skill has one
}

func (k knownSkill) workflow(l *Locator, cwd string) Workflow {
	w := Workflow{Command: k.names[0], Others: []string{}, Path: filepath.Join(k.folder, specName), Rule: k.rule, Plugin: k.plugin}
	switch leading := k.leading(l, cwd, func(string) bool { return true }); len(leading) {
	case 0:
		w.Unused = true
		shadow, _ := l.Locate(w.Command, cwd)
		w.ShadowedBy = shadow.Runs()
	default:
		w.Command, w.Others = leading[0], append(w.Others, leading[1:]...)
	}
	return w
}

// leading returns the names of the skill that lead to it, among those wanted.
func (k knownSkill) leading(l *Locator, cwd string, wanted func(name string) bool) []string {
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

// isRunAs reports whether the name leads to the skill.
func (k knownSkill) isRunAs(l *Locator, cwd, name string) bool {
	r, _ := l.Locate(name, cwd)
	return r.Path == filepath.Join(k.folder, specName) || r.Runs() == filepath.Join(k.folder, plugins.SkillFile) || r.Runs() == k.folder+".md"
}

// everySkill returns the folders of all places, with a SKILL.md or without.
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

// known returns the skill with a name and the one in its frontmatter.
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

// SpecsBelow returns every fsm.json in dir and below it, wherever it is, the nearest
// ones first. It searches no hidden directories but .claude, none called node_modules,
// and at most maxDirs directories; complete says whether that was all.
func SpecsBelow(fsys FS, dir string, maxDirs int) (paths []string, complete bool) {
	queue := []string{dir}
	for visited := 0; len(queue) > 0; visited++ {
		if visited == maxDirs {
			return paths, false
		}
		dir := queue[0]
		queue = queue[1:]
		entries, _ := fsys.ReadDir(dir)
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			switch {
			case entry.Name() == specName && !entry.IsDir():
				paths = append(paths, path)
			case entry.IsDir() && (entry.Name() == ".claude" || isSearched(entry)):
				queue = append(queue, path)
			}
		}
	}
	return paths, true
}
