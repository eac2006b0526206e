package agent

import "github.com/fsmtx/fsmtx/internal/frontmatter"

// heading is what a SKILL.md has to begin with. An agent ignores a skill whose SKILL.md begins otherwise, and
// does not report it. Every agent demands frontmatter.
type heading struct {
	named     need // of the name; without one the folder's counts
	described need // of the description
	strict    bool // the frontmatter has to be valid YAML; else the lines with a name and a description are enough
}

// need is what a SKILL.md has to have.
type need int

const (
	optional need = iota
	given         // a description may be empty; a name may be absent, but not empty
	filled
)

// unfit returns why the agent does not take a SKILL.md for that of a skill, for people; empty if it does.
func (h heading) unfit(document []byte) string {
	switch _, text, _, err := frontmatter.CutSkill(document); {
	case err != nil:
		return "its " + err.Error()
	case text == nil:
		return "it has no frontmatter"
	}
	if err := frontmatter.CheckLines(document); h.strict && err != nil {
		return "in " + err.Error() + " (a text with a character of YAML's syntax needs quotation marks)"
	}
	name, ok := frontmatter.Field(document, "name")
	if name == "" && (h.named == filled || h.named == given && ok) {
		return "it has no name"
	}
	description, ok := frontmatter.Field(document, "description")
	if !ok && h.described != optional || description == "" && h.described == filled {
		return "it has no description"
	}
	return ""
}
