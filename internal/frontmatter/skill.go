package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// maxSkill bounds the frontmatter of a SKILL.md in bytes. A longer one gives no
	// name.
	maxSkill = 64 << 10
	// firstRead is enough for most of them.
	firstRead = 4 << 10
)

// ErrNotClosed is returned when a frontmatter has no closing line.
var ErrNotClosed = errors.New("frontmatter has no closing line ---")

// errName is returned when the value of name is a list or a mapping.
var errName = errors.New(`the "name" in the frontmatter is not text`)

// ReadSkill returns the beginning of a SKILL.md: up to the end of its frontmatter
// or the bound, or less if it has none. Each read is as long as all before it, so
// that most files take one and a long frontmatter few. The errors are r's.
func ReadSkill(r io.Reader) ([]byte, error) {
	document := make([]byte, 0, firstRead)
	for {
		n, err := io.ReadFull(r, document[len(document):cap(document)])
		document = document[:len(document)+n]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return document, nil
		case err != nil:
			return nil, err
		case len(document) == maxSkill, skillIsComplete(document):
			return document, nil
		}
		document = slices.Grow(document, len(document))[: len(document) : 2*len(document)]
	}
}

// skillIsComplete reports whether more of the document cannot change its
// frontmatter. The last line may still grow if its line feed was not read yet.
func skillIsComplete(document []byte) bool {
	if !bytes.HasPrefix(bytes.TrimPrefix(document, bom), []byte("---")) {
		return true
	}
	lines := document[:bytes.LastIndexByte(document, '\n')+1]
	return skillText(lines) != nil
}

// skillText returns the frontmatter of a SKILL.md, not nil if it is empty.
func skillText(document []byte) []byte {
	_, text, _, _ := CutSkill(document)
	return text
}

// CutSkill cuts a SKILL.md around the text of its frontmatter: head ends with the line
// that opens it, and tail begins with the line that closes it. If there is no
// frontmatter, head is the byte order mark, if any, text is nil and tail is the rest.
// ErrNotClosed is returned when the first line opens a frontmatter that no line closes.
func CutSkill(document []byte) (head, text, tail []byte, err error) {
	marked := len(document) - len(bytes.TrimPrefix(document, bom))
	opening, rest := cutLine(document[marked:])
	if !isLine(opening, "---") {
		return document[:marked], nil, document[marked:], nil
	}
	text, closed := until(rest, []string{"---"})
	if !closed {
		return nil, nil, nil, ErrNotClosed
	}
	head = document[:marked+len(opening)]
	return head, text, rest[len(text):], nil
}

// SkillName returns the name that the frontmatter of a SKILL.md gives the skill, ""
// if there is no frontmatter or no name in it. document may end behind the
// frontmatter, as ReadSkill returns it. An error is returned when neither the
// frontmatter nor its line "name:" alone is YAML with a text for a name.
func SkillName(document []byte) (string, error) {
	text := skillText(document)
	name, err := nameIn(text)
	if err == nil {
		return name, nil
	}
	if name, lineErr := nameIn(nameLine(text)); lineErr == nil && name != "" {
		return name, nil
	}
	return "", err
}

// SkillHasName reports whether [SkillName] is the given one. It compares bytes
// before it parses YAML, which takes most of the time when many skills are asked.
func SkillHasName(document []byte, name string) (bool, error) {
	text := skillText(document)
	// Only an escape or a folded space spells a name in other bytes.
	if !bytes.Contains(text, []byte(name)) && !bytes.ContainsRune(text, '\\') && !strings.Contains(name, " ") {
		return false, nil
	}
	given, err := SkillName(document)
	return given == name, err
}

func nameIn(text []byte) (string, error) {
	v, err := parse(text)
	if err != nil || v.node == nil {
		return "", err
	}
	if !v.isMapping() {
		return "", ErrNotMapping
	}
	name := v.At("name")
	given, ok := name.Text()
	if !ok && !name.Null() {
		return "", fmt.Errorf("%w: %s", errName, name)
	}
	return given, nil
}

func nameLine(text []byte) []byte {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("name:")) {
			return line
		}
	}
	return nil
}
