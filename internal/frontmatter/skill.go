package frontmatter

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
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
// frontmatter. A last line without a line feed may be incomplete.
func skillIsComplete(document []byte) bool {
	if !bytes.HasPrefix(bytes.TrimPrefix(document, bom), []byte("---")) {
		return true
	}
	lines := document[:bytes.LastIndexByte(document, '\n')+1]
	return skillText(lines) != nil
}

// skillText returns the frontmatter of a SKILL.md: nil if there is none, not nil if it is
// empty.
func skillText(document []byte) []byte {
	_, text, _, _ := CutSkill(document)
	return text
}

// CutSkill splits a SKILL.md: head ends with the opening line of the frontmatter, text is
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
// frontmatter or no name in it. document may end after the frontmatter, as ReadSkill
// returns it. An error is returned when neither the frontmatter nor its line "name:"
// alone is YAML with a name that is text.
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

// SkillHasName reports whether [SkillName] returns name. To be fast for many skills it
// parses the YAML only if the frontmatter can contain the name.
func SkillHasName(document []byte, name string) (bool, error) {
	text := skillText(document)
	// The bytes of a name differ from the name only by an escape or a folded space, or if the
	// name is a list or a number.
	if !bytes.Contains(text, []byte(name)) && !bytes.ContainsRune(text, '\\') && !strings.ContainsAny(name, " ,") && !isNumber(name) {
		return false, nil
	}
	given, err := SkillName(document)
	return given == name, err
}

// isNumber reports whether the name may be written as another number, such as 1 as 1.0.
func isNumber(name string) bool { return strings.Trim(name, "0123456789.-") == "" }

// SkillSwitch returns the switch of that name in the frontmatter of a SKILL.md. ok is false if
// there is none, or its value says neither yes nor no. The client takes the words of YAML 1.1,
// also in quotation marks (measured with 2.1.329, fact 167).
func SkillSwitch(document []byte, name string) (on, ok bool) {
	v, err := parse(skillText(document))
	if err != nil || v.node == nil || !v.isMapping() {
		return false, false
	}
	word := strings.ToLower(v.At(name).javaScript())
	on = slices.Contains([]string{"true", "yes", "on", "1"}, word)
	return on, on || slices.Contains([]string{"false", "no", "off", "0"}, word)
}

// nameIn returns the value of "name" in YAML, "" if it is absent or null.
func nameIn(text []byte) (string, error) {
	v, err := parse(text)
	if err != nil || v.node == nil {
		return "", err
	}
	if !v.isMapping() {
		return "", errNotMapping
	}
	name := v.At("name")
	if name.Null() {
		return "", nil
	}
	return name.javaScript(), nil
}

// javaScript returns the text that JavaScript makes of the value: the client converts a name
// that is not text (measured with 2.1.329, fact 121).
func (v Value) javaScript() string {
	if yes, ok := v.Bool(); ok {
		return strconv.FormatBool(yes)
	}
	if number, ok := v.Number(); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	if n := v.resolve(); n != nil && n.Kind == yaml.SequenceNode {
		var texts []string
		for _, item := range v.Items() {
			texts = append(texts, item.javaScript())
		}
		return strings.Join(texts, ",")
	}
	if v.isMapping() {
		return "[object Object]"
	}
	text, _ := v.Text()
	return text
}

// nameLine returns the line that begins with "name:", nil if there is none.
func nameLine(text []byte) []byte {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("name:")) {
			return line
		}
	}
	return nil
}
