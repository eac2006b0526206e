package locator

import (
	"bytes"
	"path/filepath"
	"strings"
)

// namesSkill reports whether the SKILL.md at path gives its skill the name.
// Most files are told apart by the bytes of the name, without parsing YAML;
// only an escape or folded white space can spell it in other bytes.
func namesSkill(fsys FS, path, name string) (bool, error) {
	document, err := readHead(fsys, path, maxFrontmatter, noFurther)
	if err != nil {
		return false, err
	}
	front := frontmatter(document)
	if !bytes.Contains(front, []byte(name)) && !bytes.ContainsRune(front, '\\') && !strings.Contains(name, " ") {
		return false, nil
	}
	given, err := SkillName(document)
	return given == name, err
}

// owner is a plugin whose skills may give themselves names.
type owner struct {
	key, root string
}

// claim is a skill that gives itself the name looked for.
type claim struct {
	key, folder string
}

// claims returns the skills of the owners that give themselves the name, in
// the order of the owners and then by folder, and what kept it from knowing.
// With tasks set, only skills that have an fsm.json are looked at.
func claims(fsys FS, owners []owner, name string, tasks bool) (found []claim, problems []Problem) {
	for _, o := range owners {
		skills := filepath.Join(o.root, "skills")
		entries, _ := fsys.ReadDir(skills) // of one that cannot be read no skill is loaded
		for _, entry := range entries {
			folder := filepath.Join(skills, entry.Name())
			if there, _ := present(fsys, filepath.Join(folder, specName)); tasks && !there {
				continue
			}
			path := filepath.Join(folder, "SKILL.md")
			match, err := namesSkill(fsys, path, name)
			if err != nil && !absent(err) {
				problems = append(problems, Problem{path, fileError(path, err).Cause.Error()})
			}
			if match {
				found = append(found, claim{o.key, folder})
			}
		}
	}
	return found, problems
}

// byAlias looks for a plugin's skill that gives itself the name. Few skills
// have an fsm.json, so those are asked first: unless one of them claims the
// name nothing can come of it. If one does, another one without an fsm.json
// may still go before it.
func (s *search) byAlias(name string) {
	owners := s.owners()
	found, problems := claims(s.Fs, owners, name, true)
	if len(found) > 0 {
		found, problems = claims(s.Fs, owners, name, false)
	}
	for _, p := range problems {
		s.step(RuleAlias, p.Where, Failed, p.Reason)
	}
	if len(found) == 0 {
		s.step(RuleAlias, "", Absent, "no skill of a plugin with an "+specName+" names itself so")
		return
	}
	first := found[0]
	s.ofPlugin(first.key, s.try(RuleAlias, first.folder))
	for _, c := range found[1:] {
		s.step(RuleAlias, c.folder, Skipped, "the name is ambiguous: "+c.key+" gives it too, and "+first.key+" goes first")
	}
}

// owners returns the plugins that are loaded, as far as can be told. A name
// without a colon need not be a plugin's, so a registry that cannot be used is
// no error here.
func (s *search) owners() []owner {
	var owners []owner
	for _, p := range s.sessionPlugins() {
		owners = append(owners, owner{p.name, p.dir})
	}
	if exists, _ := present(s.Fs, registryPath(s.ConfigDir)); !exists || s.openRegistry() != nil {
		return owners
	}
	for _, in := range s.registry.Applying(s.cwd, s.ProjectDir) {
		if s.switches().Off(in.Key) {
			s.switchedOff(in)
		}
	}
	for _, in := range s.registry.Enabled(s.switches(), s.cwd, s.ProjectDir) {
		root := s.registry.Root(in)
		owners = append(owners, owner{in.Key, root.Dir})
	}
	return owners
}
