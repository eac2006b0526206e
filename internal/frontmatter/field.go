package frontmatter

import "bytes"

// A SKILL.md as other agents than Claude Code read it, whose frontmatter ends with a line of three
// dashes (compared with five of them by "make agents").

// CheckLines returns why the frontmatter of a SKILL.md is not valid YAML, nil if it is. Errors are those of
// [SkillJSON], but not errNotMapping.
func CheckLines(document []byte) error {
	_, text, _, err := CutSkill(document)
	if err == nil {
		_, err = parse(text)
	}
	return inLine(err, 1)
}

// Field returns the value of a key in the frontmatter of a SKILL.md, as text. If the YAML is not
// valid, which a colon in a description is enough for, it is what the line "key:" has. ok is false
// if the key is absent or has no value.
func Field(document []byte, key string) (value string, ok bool) {
	_, text, _, err := CutSkill(document)
	if err != nil {
		return "", false
	}
	if v, err := mapping(text); err == nil {
		return v.At(key).String(), !v.At(key).Null()
	}
	for line := range bytes.Lines(text) {
		if rest, is := bytes.CutPrefix(line, []byte(key+":")); is {
			rest = bytes.Trim(bytes.TrimSpace(rest), `"'`)
			return string(rest), true
		}
	}
	return "", false
}
