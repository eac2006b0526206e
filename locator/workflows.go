package locator

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Workflow is a skill with an fsm.json.
type Workflow struct {
	Command string `json:"command"` // the name that the folder gives it
	Path    string `json:"path"`    // of the fsm.json
	Plugin  string `json:"plugin"`  // plugin@marketplace, the name of a plugin from PluginDirs, or ""
	Rule    Rule   `json:"rule"`    // the kind of place
}

// Workflows returns the workflows of the skills that the client knows in cwd: those of
// the user, of cwd and its parents, of the plugins that apply there, and nested ones
// below. They are in the order of precedence, so of two with one Command the client
// runs the first. complete is false if there were more directories than are searched
// for nested skills.
func (l *Locator) Workflows(cwd string) (list []Workflow, complete bool) {
	s := &search{Locator: l, cwd: cwd}
	for _, r := range slices.Concat(s.roots(), s.pluginRoots()) {
		for _, c := range s.withSpec(s.folders([]root{r}, r.rule)) {
			list = append(list, c.workflow(r))
		}
	}
	nested, complete := s.nestedRoots()
	for _, dir := range nested {
		r := root{rule: RuleNestedSkill, dir: dir}
		for _, c := range s.withSpec(s.folders([]root{r}, r.rule)) {
			list = append(list, c.workflow(r))
		}
	}
	return list, complete
}

func (c candidate) workflow(r root) Workflow {
	name := filepath.Base(c.folder)
	if plugin, _, _ := strings.Cut(r.plugin, "@"); plugin != "" {
		name = plugin + ":" + name
	}
	return Workflow{Command: name, Path: filepath.Join(c.folder, specName), Plugin: r.plugin, Rule: cmp.Or(r.rule, RulePluginSkill)}
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
