package frontmatter

import (
	"bytes"
	"strings"
)

// A SKILL.md as other agents than Claude Code read it, whose frontmatter ends with a line of three
// dashes (compared with five of them by "make agents").

// HasLines reports whether a SKILL.md has frontmatter. [CutSkill] tells one that is not closed.
func HasLines(document []byte) bool {
	_, text, _, err := CutSkill(document)
	return err == nil && text != nil
}

// ParseLines returns the frontmatter of a SKILL.md, the zero Value if it is empty. What is not YAML is
// parsed once more with each line changed by repair, unless repair is nil. Errors are those of
// [SkillJSON], but not errNotMapping.
func ParseLines(document []byte, repair func(line string) string) (Value, error) {
	_, text, _, err := CutSkill(document)
	if err != nil {
		return Value{}, err
	}
	v, err := parse(text)
	if err == nil || repair == nil {
		return v, inLine(err, 1)
	}
	var repaired strings.Builder
	for line := range strings.Lines(string(text)) {
		repaired.WriteString(repair(strings.TrimRight(line, "\r\n")) + "\n")
	}
	if again, errAgain := parse([]byte(repaired.String())); errAgain == nil {
		return again, nil
	}
	return Value{}, inLine(err, 1)
}

// Field returns the value of a key as text. ok is false if the key is absent or has no value.
func (v Value) Field(key string) (value string, ok bool) {
	at := v.At(key)
	return at.String(), !at.Null()
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
		return v.Field(key)
	}
	for line := range bytes.Lines(text) {
		if rest, is := bytes.CutPrefix(line, []byte(key+":")); is {
			rest = bytes.Trim(bytes.TrimSpace(rest), `"'`)
			return string(rest), true
		}
	}
	return "", false
}
