package fsmspec

import (
	"slices"
	"strings"
	"unicode"
)

// maxSkillName is the largest length of a skill's name in do, in bytes.
const maxSkillName = 200

// skill reads the name of the skill that a task demands.
func (p *parser) skill(e *entry, field string, t token) {
	name := p.text(t)
	switch wrong := skillFault(name); {
	case wrong != "":
		p.problem(t.start, "%s: %s is not the name of a skill: %s", field, quoted(name), wrong)
	case p.of != "" && SameSkill(name, p.of):
		p.problem(t.start, "%s: %s is the skill of this workflow, and a skill cannot be inside itself", field, quoted(name))
	}
	e.task.Skill = name
}

// skillFault returns what is wrong with the name of a skill, or "".
func skillFault(name string) string {
	switch {
	case isBlank(name):
		return "it is blank"
	case len(name) > maxSkillName:
		return "it is too long"
	case strings.HasPrefix(name, "/"):
		return "write it without the slash"
	case strings.HasPrefix(name, "./"), strings.HasPrefix(name, "~/"), slices.Contains(strings.Split(name, "/"), ".."):
		return "it is a path"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return "it has spaces or control characters"
	case slices.Contains(strings.Split(name, ":"), ""):
		return "a part of it is empty"
	}
	return ""
}

// SameSkill reports whether two names are of the same skill: they are equal, or one of them
// is the other with the name of a plugin or a folder before it, as in my-plugin:my-skill.
func SameSkill(a, b string) bool {
	return a != "" && b != "" && (a == b || strings.HasSuffix(a, ":"+b) || strings.HasSuffix(b, ":"+a))
}

// Skills returns the names of the skills that the workflow demands, in the order of the file,
// without repetition.
func (s *Spec) Skills() (names []string) {
	var add func(tasks []Task)
	add = func(tasks []Task) {
		for _, t := range tasks {
			if t.Skill != "" && !slices.Contains(names, t.Skill) {
				names = append(names, t.Skill)
			}
			add(t.Parts)
		}
	}
	add(s.Tasks())
	return names
}
