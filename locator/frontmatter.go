package locator

import (
	"bytes"
	"errors"
	"fmt"

	yaml "go.yaml.in/yaml/v4"
)

// maxFrontmatter is how much of a SKILL.md is read for its frontmatter, in
// bytes. One that does not end by then names nothing.
const maxFrontmatter = 64 << 10

var errFrontmatter = errors.New("frontmatter is not valid YAML")

// SkillName returns the name that the frontmatter of a SKILL.md gives the
// skill, "" if there is no frontmatter or no name in it.
func SkillName(document []byte) (string, error) {
	front := frontmatter(document)
	if len(bytes.TrimSpace(front)) == 0 {
		return "", nil
	}
	name, err := nameIn(front)
	if err == nil {
		return name, nil
	}
	// A description with a colon and a space in it is no YAML, and common. The
	// line of the name may still be.
	if name, lineErr := nameIn(nameLine(front)); lineErr == nil {
		return name, nil
	}
	return "", fmt.Errorf("%w: %w", errFrontmatter, err)
}

func nameIn(front []byte) (string, error) {
	var meta struct {
		Name string `yaml:"name"`
	}
	err := yaml.Load(front, &meta)
	return meta.Name, err
}

func nameLine(front []byte) []byte {
	for line := range bytes.Lines(front) {
		if bytes.HasPrefix(line, []byte("name:")) {
			return line
		}
	}
	return nil
}

// frontmatter returns what is between a first line of three dashes and the
// next one, nil if there is no such thing.
func frontmatter(document []byte) []byte {
	document = bytes.TrimPrefix(document, []byte("\ufeff"))
	opening, rest, _ := bytes.Cut(document, []byte("\n"))
	if !fence(opening) {
		return nil
	}
	length := 0
	for line := range bytes.Lines(rest) {
		if fence(line) {
			return rest[:length]
		}
		length += len(line)
	}
	return nil
}

// noFurther reports whether more of the document cannot change its
// frontmatter. A last line that is not complete may still become another one.
func noFurther(head []byte) bool {
	lines := head[:bytes.LastIndexByte(head, '\n')+1]
	return !bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\ufeff")), []byte("---")) || frontmatter(lines) != nil
}

func fence(line []byte) bool {
	return string(bytes.TrimRight(line, " \t\r\n")) == "---"
}
