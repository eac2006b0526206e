package locator

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// The client looks at the names in frontmatters when no folder has the name.

// byName returns the skill of the user, the project or a plugin whose frontmatter has the
// name, which has no colon. If several skills of plugins have it, the client does not know
// the name (measured with 2.1.329, facts 61 and 65). A name that the client lists is none of
// these (fact 147).
//
// Few skills have an fsm.json. byName reads their frontmatters first. It reads those of the
// other skills only if one of the few has the name, or if a folder without a SKILL.md could
// be used: otherwise there is no fsm.json in any case.
func (s *search) byName() (candidate, bool) {
	if s.isListed() {
		return candidate{}, false
	}
	return s.byFrontmatter(false)
}

// byFrontmatter is byName. If all is set, it reads the frontmatter of every skill.
func (s *search) byFrontmatter(all bool) (candidate, bool) {
	listed, ok := s.inListing()
	if ok && listed.skill == nil {
		s.runsSkill(listed)
		return listed, true
	}
	ownSpecs, problems := s.ownNamed(true)
	read := all || len(ownSpecs) > 0 || s.isInPlainPlaces()
	if read {
		if c, ok := s.byOwnName(); ok {
			return c, true
		}
	}
	if c, ok := s.ofInvoked(listed, ok); ok {
		return c, true
	}
	withSpec, more := s.namedInPlugins(true)
	if !read && len(withSpec) == 0 {
		s.report(append(problems, more...))
		s.step(RuleFrontmatter, "", OutcomeAbsent, "no skill with an "+specName+" gives itself this name")
		return candidate{}, false
	}
	if !read {
		if c, ok := s.byOwnName(); ok {
			return c, true
		}
	}
	matching, problems := s.namedInPlugins(false)
	s.report(problems)
	if len(matching) == 0 {
		return candidate{}, false
	}
	if s.Invoked || len(matching) == 1 && !s.endsAnother(matching[0]) {
		s.runs(matching[0])
		return matching[0], true
	}
	for _, c := range matching {
		s.step(RuleAlias, c.folder, OutcomeSkipped, "the name is ambiguous: the client runs this skill only by its name with the plugin's")
	}
	return candidate{}, false
}

// endsAnother reports whether the name of another plugin's skill ends with the command after
// a colon. Then a bare name is ambiguous as well (measured with 2.1.329, fact 121).
func (s *search) endsAnother(c candidate) bool {
	if s.names != nil {
		others := s.names.endings[s.command]
		return others > 1 || others == 1 && lastPart(c.skill.FullName()) != s.command
	}
	return slices.ContainsFunc(s.everyPluginSkill(), func(k plugins.Skill) bool {
		return lastPart(k.FullName()) == s.command && k.FullName() != c.skill.FullName()
	})
}

// lastPart returns the part of a name after its last colon.
func lastPart(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// ofInvoked returns the skill of a name that the client has run, if that takes less than to
// search all plugins: one of the user or the project, or a plugin's that the client lists, or
// whose folder has the name.
func (s *search) ofInvoked(c candidate, ok bool) (candidate, bool) {
	if !s.Invoked || s.names != nil {
		return candidate{}, false
	}
	if !ok {
		c, ok = s.byFolderInPlugin()
	}
	if ok && len(s.withSpec([]candidate{c})) == 0 {
		s.runs(c)
		return c, true
	}
	if own, found := s.byOwnName(); found {
		return own, true
	}
	if ok {
		s.runs(c)
	}
	return c, ok
}

// listedAs returns the name under which the client lists the skill that it has run, "" if that
// is not known.
func (s *search) listedAs() string {
	if !s.Invoked || s.ListedAs == nil {
		return ""
	}
	if !s.listed.known {
		s.listed.known, s.listed.name = true, s.ListedAs(s.command)
	}
	return s.listed.name
}

// isListed reports whether the client lists the skill by the name that it was run with. Then the
// name is not from a frontmatter.
func (s *search) isListed() bool {
	if s.listedAs() != s.command {
		return false
	}
	s.step(RuleAlias, "", OutcomeSkipped, "the client lists this name, so it is not one that only a frontmatter has")
	return true
}

// byListing returns the skill that the client lists by another name than that with which it was
// run, which has a colon.
func (s *search) byListing() (candidate, bool) {
	c, ok := s.inListing()
	if ok {
		s.runs(c)
	}
	return c, ok
}

// inListing returns the skill that the client lists by another name, if its frontmatter has this
// one.
func (s *search) inListing() (candidate, bool) {
	listed := s.listedAs()
	if listed == "" || listed == s.command || CheckName(listed) != nil {
		return candidate{}, false
	}
	other := s.search(listed, s.cwd, s.shared)
	var isPlugins bool
	if other.plugin, other.skill, isPlugins = strings.Cut(listed, ":"); !isPlugins {
		other.plugin, other.skill = "", listed
	}
	if c, ok := other.byFolder(); ok {
		has, err := plugins.HasName(s.FS, c.folder, s.command)
		return candidate{rule: RuleFrontmatter, folder: c.folder}, has && err == nil
	}
	if !isPlugins || other.isPath() {
		return candidate{}, false
	}
	found, ok := other.firstOf(other.pluginsNamed())
	if !ok {
		found, ok = other.firstOf(other.pluginsRenamed())
	}
	if !ok {
		return candidate{}, false
	}
	scoped, bare, _ := found.OwnNames()
	return candidateOf(found, RuleAlias), scoped == s.command || bare == s.command
}

// byFolderInPlugin returns a plugin's skill whose frontmatter and whose folder have the name.
// That is what most plugins have, and the names of folders need no file to be read. Another
// skill may have the name too; then the client does not run it.
func (s *search) byFolderInPlugin() (candidate, bool) {
	for _, p := range s.sessionPlugins() {
		if c, ok := s.folderNamed(p.Dir, func() (*plugins.Plugin, error) { return p, nil }); ok {
			return c, true
		}
	}
	for _, in := range s.enabledInstallations() {
		if c, ok := s.folderNamed(s.registry.Root(in).Dir, func() (*plugins.Plugin, error) { return s.loadStrictly(in) }); ok {
			return c, true
		}
	}
	return candidate{}, false
}

// folderNamed returns the skill of the plugin in dir whose folder and frontmatter have the
// name. It loads the plugin only if there is such a folder.
func (s *search) folderNamed(dir string, load func() (*plugins.Plugin, error)) (candidate, bool) {
	folder := skillIn(dir, s.skill)
	if !s.isSkill(folder) {
		return candidate{}, false
	}
	p, err := load()
	if err != nil {
		return candidate{}, false
	}
	found, ok := p.Find(s.skill)
	if !ok || found.Folder() != folder || found.IsCommand {
		return candidate{}, false
	}
	_, bare, _ := found.OwnNames()
	return candidateOf(found, RuleAlias), bare == s.skill
}

// pluginDirs returns the directories of plugins without reading their manifests.
func (s *search) pluginDirs() []root {
	var dirs []root
	for _, p := range s.sessionPlugins() {
		dirs = append(dirs, root{dir: p.Dir, plugin: keyOf(p)})
	}
	for _, in := range s.enabledInstallations() {
		dirs = append(dirs, root{dir: s.registry.Root(in).Dir, plugin: in.Key})
	}
	return dirs
}

// namedInPlugins returns the skills and commands of plugins whose frontmatter has the name.
// If withSpec is set, it reads only the frontmatters of those that have an fsm.json.
func (s *search) namedInPlugins(withSpec bool) (matching []candidate, problems []error) {
	if s.names != nil {
		return s.names.bare[s.command], nil
	}
	for _, skill := range s.everyPluginSkill() {
		c := candidateOf(skill, RuleAlias)
		if withSpec && len(s.withSpec([]candidate{c})) == 0 {
			continue
		}
		_, bare, err := skill.OwnNames()
		if err != nil && !cannotExist(err) {
			problems = append(problems, err)
		}
		if bare == s.command && bare != "" {
			matching = append(matching, c)
		}
	}
	return matching, problems
}

// everyPluginSkill returns the commands and then the skills of all plugins, in the client's
// order. Of those with one name, or one file, the client has the first; a skill whose file
// is that of a user's skill it does not have (fact 121, client 2.1.329).
func (s *search) everyPluginSkill() []plugins.Skill {
	if !s.keptRead {
		s.keptSkills, s.keptRead = s.kept(s.everyPlugin(), s.userFiles()), true
	}
	return s.keptSkills
}

// compared returns what the client has of the plugin and of those that may have its files or
// names before it. ok is false if no other plugin was compared, which a name that the client has
// run needs only for plugins that share their directory.
func (s *search) compared(p *plugins.Plugin) (all []plugins.Skill, ok bool) {
	if !s.Invoked || s.everyRead && slices.Contains(s.every, p) {
		return s.everyPluginSkill(), true
	}
	if group := s.sharing(); slices.Contains(group, p) {
		return s.kept(group, s.userFiles()), true
	}
	return nil, false
}

// kept returns the commands and then the skills that the client has of the plugins, which are in
// its order, where other skills have the files.
func (s *search) kept(list []*plugins.Plugin, files map[string]bool) []plugins.Skill {
	var commands, skills []plugins.Skill
	for _, p := range list {
		for _, skill := range s.everySkillOf(p) {
			if skill.IsCommand {
				commands = append(commands, skill)
			} else {
				skills = append(skills, skill)
			}
		}
	}
	names := map[string]bool{}
	return slices.DeleteFunc(append(commands, skills...), func(skill plugins.Skill) bool {
		name, file := skill.FullName(), ""
		if !skill.IsCommand {
			file = skill.RealFile()
		}
		if file != "" && files[file] {
			return true
		}
		again := names[name]
		names[name], files[file] = true, true
		return again
	})
}

// userFiles returns the files of the user's skills, without links.
func (s *search) userFiles() map[string]bool {
	files := map[string]bool{}
	dir := plugins.SkillsDir(s.ConfigDir)
	for _, c := range s.ownFolders() {
		if filepath.Dir(c.folder) == dir {
			files[s.ownFile(c.folder)] = true
		}
	}
	return files
}

// ownFiles returns the first folder of each file of a skill of the user or the project.
func (s *search) ownFiles() map[string]string {
	if s.files == nil {
		s.files = map[string]string{}
		for _, c := range s.ownFolders() {
			file := s.ownFile(c.folder)
			if _, again := s.files[file]; !again && s.isSkill(c.folder) {
				s.files[file] = c.folder
			}
		}
	}
	return s.files
}

// ownFile returns the SKILL.md in a folder without links. It resolves the directory of the folders
// once.
func (s *search) ownFile(folder string) string {
	dir, file := filepath.Dir(folder), filepath.Join(folder, plugins.SkillFile)
	real, ok := s.realDirs[dir]
	if !ok {
		if s.realDirs == nil {
			s.realDirs = map[string]string{}
		}
		real = safefile.ResolveWith(s.FS.Readlink, dir)
		s.realDirs[dir] = real
	}
	info, err := s.FS.Lstat(folder)
	at, linkErr := s.FS.Lstat(file)
	if err == nil && linkErr == nil && info.IsDir() && at.Mode().IsRegular() {
		return filepath.Join(real, filepath.Base(folder), plugins.SkillFile)
	}
	return safefile.ResolveWith(s.FS.Readlink, file)
}

// everySkillOf returns the plugin's skills and commands, which it lists once.
func (s *search) everySkillOf(p *plugins.Plugin) []plugins.Skill {
	if s.skills == nil {
		s.skills = map[*plugins.Plugin][]plugins.Skill{}
	}
	if all, ok := s.skills[p]; ok {
		return all
	}
	s.skills[p] = p.All()
	return s.skills[p]
}

// ownNamed returns the skills of the user and the project whose frontmatter has the name. If
// withSpec is set, it reads only the frontmatters of those that have an fsm.json.
func (s *search) ownNamed(withSpec bool) (matching []candidate, problems []error) {
	if s.names != nil {
		return s.names.own[s.command], nil
	}
	all := s.ownFolders()
	if withSpec {
		all = s.withSpec(all)
	}
	matching, problems = s.named(all, s.command)
	return slices.DeleteFunc(matching, s.isShadowed), problems
}

// isShadowed reports whether the client does not have a skill of the user or the project, because
// one in an earlier place has the name of its folder, or its file (measured with 2.1.329, fact
// 158). A name that the client has run is not one of a second file.
func (s *search) isShadowed(c candidate) bool {
	for _, r := range s.roots() {
		folder := skillIn(r.dir, filepath.Base(c.folder))
		if folder == c.folder {
			break
		}
		if s.isSkill(folder) && !s.isSecond(folder) {
			return true
		}
	}
	return s.isSecond(c.folder) || s.isLeftOut(c.folder)
}

// isSecond reports whether an earlier skill of the user or the project has the file of the skill
// in the folder, by links.
func (s *search) isSecond(folder string) bool {
	if s.Invoked {
		return false
	}
	first, ok := s.ownFiles()[s.ownFile(folder)]
	return ok && first != folder
}

// ownFolders returns the folders of skills that are not of plugins, which it lists once.
func (s *search) ownFolders() []candidate {
	if !s.ownRead {
		s.own, s.ownRead = s.folders(s.roots(), RuleFrontmatter), true
	}
	return s.own
}

// byOwnName returns the first skill of the user or the project whose frontmatter has the
// name.
func (s *search) byOwnName() (candidate, bool) {
	matching, problems := s.ownNamed(false)
	s.report(problems)
	if len(matching) == 0 {
		return candidate{}, false
	}
	for _, c := range matching[1:] {
		s.step(c.rule, c.folder, OutcomeSkipped, "it gives itself this name too, but comes later")
	}
	s.runsSkill(matching[0])
	return matching[0], true
}

// byNameInPlugin returns the first skill or command of the plugin whose frontmatter has the
// name after the colon.
func (s *search) byNameInPlugin() (candidate, bool) {
	if s.isPath() || s.isListed() {
		return candidate{}, false
	}
	return s.byNameOf(s.pluginsNamed())
}

// byScopedName is byOwnName for a name with a colon.
func (s *search) byScopedName() (candidate, bool) {
	if s.listedAs() == s.command {
		return candidate{}, false
	}
	return s.byOwnName()
}

func (s *search) byNameOf(list []*plugins.Plugin) (candidate, bool) {
	if s.names != nil {
		if found := s.names.scoped[s.command]; len(found) > 0 {
			s.runs(found[0])
			return found[0], true
		}
		return candidate{}, false
	}
	var problems []error
	for _, p := range list {
		for _, skill := range s.skillsOf(p) {
			scoped, _, err := skill.OwnNames()
			if err != nil && !cannotExist(err) {
				problems = append(problems, err)
			}
			if scoped == s.command && scoped != "" {
				c := candidateOf(skill, RuleAlias)
				s.runs(c)
				return c, true
			}
		}
	}
	s.report(problems)
	return candidate{}, false
}

// skillsOf returns the plugin's skills and commands that the client has. For a name that it
// has run, plugins in other directories are not compared.
func (s *search) skillsOf(p *plugins.Plugin) []plugins.Skill {
	all, ok := s.compared(p)
	if !ok {
		all = s.kept([]*plugins.Plugin{p}, map[string]bool{})
	}
	return slices.DeleteFunc(slices.Clone(all), func(k plugins.Skill) bool { return k.Plugin != p })
}

// runs records that the client runs the candidate.
func (s *search) runs(c candidate) {
	if c.skill != nil && c.skill.IsCommand {
		s.runsCommand(c.rule, c.skill.File)
		return
	}
	s.runsSkill(c)
}

// isInPlainPlaces reports whether one of plainPlaces has an fsm.json. It adds no steps.
func (s *search) isInPlainPlaces() bool {
	steps := s.result.Steps
	defer func() { s.result.Steps = steps }()
	for _, place := range plainPlaces {
		if len(s.withSpec(place(s))) > 0 {
			return true
		}
	}
	return false
}

// folders returns the folders of skills below the roots, in the order of the roots and then
// by name.
func (s *search) folders(roots []root, rule Rule) []candidate {
	var all []candidate
	for _, r := range roots {
		if r.noSkills {
			continue
		}
		for _, folder := range plugins.SkillFolders(s.FS, r.dir) {
			all = append(all, candidate{rule: rule, folder: folder, plugin: r.plugin})
		}
	}
	return all
}

// withSpec returns the candidates that have an fsm.json.
func (s *search) withSpec(all []candidate) []candidate {
	var with []candidate
	for _, c := range all {
		if found, _ := exists(s.FS, filepath.Join(c.folder, specName)); found {
			with = append(with, c)
		}
	}
	return with
}

// named returns the candidates whose frontmatter has the name.
func (s *search) named(all []candidate, name string) (matching []candidate, problems []error) {
	for _, c := range all {
		if own, ok := s.ownNames[c.folder]; ok {
			if own == name {
				matching = append(matching, c)
			}
			continue
		}
		has, err := plugins.HasName(s.FS, c.folder, name)
		if err != nil && !cannotExist(err) {
			problems = append(problems, err)
		}
		if has {
			matching = append(matching, c)
		}
	}
	return matching, problems
}

func (s *search) report(problems []error) {
	for _, err := range problems {
		s.problem(RuleFrontmatter, OutcomeFailed, err)
	}
}
