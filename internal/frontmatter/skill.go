package frontmatter

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

const (
	// maxSkill limits the frontmatter of a SKILL.md, in bytes. Longer frontmatter is
	// ignored.
	maxSkill = 64 << 10
	// firstRead is the size of the first read, in bytes. Most frontmatter is shorter.
	firstRead = 4 << 10
)

// errNotClosed is returned when a frontmatter has no closing line.
var errNotClosed = errors.New("frontmatter has no closing line ---")

// ReadSkill returns the beginning of a SKILL.md, at least to the end of its frontmatter,
// and at most maxSkill bytes. Each read is as long as all before it together, so most
// files need one read and long frontmatter few. The errors are those of r.
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

// skillIsComplete reports whether reading more of the document cannot change its
// frontmatter, neither the client's nor the lines of [CutSkill], which may end later.
func skillIsComplete(document []byte) bool {
	if !bytes.HasPrefix(bytes.TrimPrefix(document, bom), []byte("---")) {
		return true
	}
	whole := document[:bytes.LastIndexByte(document, '\n')+1] // the last line may go on
	_, text := skillText(document)
	_, _, _, err := CutSkill(whole)
	return text != nil && err == nil
}

// skillText returns what the client takes for the frontmatter of a SKILL.md, and where it begins:
// nil if there is none, not nil if it is empty. White space and a line break follow the dashes at
// the beginning; the next three dashes end it, wherever they are (measured with 2.1.329, fact 168).
func skillText(document []byte) (start int, text []byte) {
	rest, opened := bytes.CutPrefix(bytes.TrimPrefix(document, bom), []byte("---"))
	blank := rest[:len(rest)-len(bytes.TrimLeftFunc(rest, isSpace))]
	begins := bytes.LastIndexByte(blank, '\n') + 1
	text, _, closed := bytes.Cut(rest[begins:], []byte("---"))
	if !opened || begins == 0 || !closed {
		return 0, nil
	}
	return len(document) - len(rest) + begins, text
}

// isSpace reports whether JavaScript takes the character for white space.
func isSpace(r rune) bool { return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r) }

// CutSkill splits a SKILL.md at whole lines, for programs that edit it: head ends with the opening line of the frontmatter, text is
// the frontmatter, and tail begins with the closing line. If there is no frontmatter, head
// is the byte order mark, if any, text is nil and tail is the rest. errNotClosed is
// returned when the first line opens frontmatter that no line closes.
func CutSkill(document []byte) (head, text, tail []byte, err error) {
	marked := len(document) - len(bytes.TrimPrefix(document, bom))
	opening, rest := cutLine(document[marked:])
	if !isLine(opening, "---") {
		return document[:marked], nil, document[marked:], nil
	}
	text, closed := until(rest, []string{"---"})
	if !closed {
		return nil, nil, nil, errNotClosed
	}
	head = document[:marked+len(opening)]
	return head, text, rest[len(text):], nil
}

// SkillName returns the name in the frontmatter of a SKILL.md, "" if there is no
// frontmatter or no name in it. document may end after the frontmatter, as ReadSkill returns it. Errors are
// those of [Parse].
func SkillName(document []byte) (string, error) {
	_, text := skillText(document)
	v, err := parseSkill(text)
	if err != nil || v.node == nil {
		return "", err
	}
	if !v.isMapping() {
		return "", errNotMapping
	}
	name, _ := v.At("name").Text()
	return name, nil
}

// parseSkill parses the frontmatter of a SKILL.md. If it is not YAML, the client parses it once
// more, with values in quotation marks that may be the reason, such as a description with a colon
// (read in the code of 2.1.329 and measured, fact 168).
func parseSkill(text []byte) (Value, error) {
	v, err := parse(text)
	if !errors.Is(err, ErrSyntax) {
		return v, err
	}
	if again, err := parse(quoteValues(text)); err == nil {
		return again, nil
	}
	return Value{}, err
}

// quoteValues returns the YAML with the values in quotation marks that have a character of YAML's
// syntax, and with two spaces for each tab at the beginning of a line.
func quoteValues(text []byte) []byte {
	member := regexp.MustCompile(`^([a-zA-Z_-]+):\s+(\S[^\r]*)$`)
	syntax := regexp.MustCompile("[{}\\[\\]*&#!|>%@`]|: ")
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if m := member.FindStringSubmatch(line); m != nil && !isWhole(m[2]) && syntax.MatchString(m[2]) {
			line = m[1] + `: "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(m[2]) + `"`
		}
		below := strings.TrimLeft(line, "\t")
		lines[i] = strings.Repeat("  ", len(line)-len(below)) + below
	}
	return []byte(strings.Join(lines, "\n"))
}

// isWhole reports whether a value is in quotation marks or a list already.
func isWhole(value string) bool {
	within := func(opening, closing string) bool {
		return strings.HasPrefix(value, opening) && strings.HasSuffix(value, closing)
	}
	if !within("[", "]") {
		return within(`"`, `"`) || within("'", "'")
	}
	v, err := parse([]byte(value))
	return err == nil && v.node.Kind == yaml.SequenceNode
}

// RunsApart reports whether the client runs the skill in an agent of its own (fact 190, client 2.1.329).
func RunsApart(document []byte) bool {
	if !bytes.Contains(document, []byte("context")) {
		return false // the YAML need not be parsed
	}
	where, _ := Field(document, "context")
	return where == "fork"
}

// SkillSwitch returns the switch of that name in the frontmatter of a SKILL.md. ok is false if
// there is none, or its value says neither yes nor no. The client takes the words of YAML 1.1,
// also in quotation marks (measured with 2.1.329, fact 167).
func SkillSwitch(document []byte, name string) (on, ok bool) {
	_, text := skillText(document)
	v, err := parseSkill(text)
	if err != nil || v.node == nil || !v.isMapping() {
		return false, false
	}
	value, _ := v.At(name).Text()
	word := strings.ToLower(value)
	on = slices.Contains([]string{"true", "yes", "on", "1"}, word)
	return on, on || slices.Contains([]string{"false", "no", "off", "0"}, word)
}
