package frontmatter

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
// frontmatter or no name in it. isText is false for a value that the client converts to a text,
// such as a number. document may end after the frontmatter, as ReadSkill returns it. Errors are
// those of [Parse].
func SkillName(document []byte) (name string, isText bool, err error) {
	_, text := skillText(document)
	v, err := parseSkill(text)
	if err != nil || v.node == nil {
		return "", false, err
	}
	if !v.isMapping() {
		return "", false, errNotMapping
	}
	given := v.At("name")
	if given.node == nil {
		given = v.At("<<", "name") // the client's parser merges
	}
	if given.Null() {
		return "", false, nil
	}
	name = given.javaScript()
	_, isNumber := given.coreNumber()
	_, isBool := given.Bool()
	return name, given.resolve().Kind == yaml.ScalarNode && !isNumber && !isBool, nil
}

// parseSkill parses the frontmatter of a SKILL.md. If it is not YAML, the client parses it once
// more, with values in quotation marks that may be the reason, such as a description with a colon
// (read in the code of 2.1.329 and measured, fact 168).
func parseSkill(text []byte) (Value, error) {
	v, err := parse(bytes.Map(acceptedByClient, text))
	if !errors.Is(err, ErrSyntax) {
		return v, err
	}
	if again, err := parse(bytes.Map(acceptedByClient, quoteValues(text))); err == nil {
		return again, nil
	}
	return Value{}, err
}

// acceptedByClient replaces what the client's parser takes for a character like any other: one that
// is not UTF-8, a control character, and what was a line break before YAML 1.2. The client strips
// the last at the ends of a name, and accepts none in it, which is so for an em space too.
func acceptedByClient(r rune) rune {
	switch {
	case r == '\u2028' || r == '\u2029':
		return '\u2003'
	case r == '\ufffe' || r == '\uffff' || unicode.IsControl(r) && !strings.ContainsRune("\x00\t\n\r", r):
		return unicode.ReplacementChar
	}
	return r
}

// quoteValues returns the YAML with the values in quotation marks that have a character of YAML's
// syntax, and with two spaces for each tab at the beginning of a line.
func quoteValues(text []byte) []byte {
	member := regexp.MustCompile(`^([a-zA-Z_-]+):\s+([^\s\x{2028}\x{2029}][^\r\x{2028}\x{2029}]*)$`)
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

// SkillHasName reports whether [SkillName] returns name. To be fast for many skills it
// parses the YAML only if the frontmatter can contain the name.
func SkillHasName(document []byte, name string) (bool, error) {
	_, text := skillText(document)
	// The bytes of a name differ from the name only by an escape, a folded space or a doubled quotation
	// mark, or if the name is a list or a number.
	if !bytes.Contains(text, []byte(name)) && !bytes.ContainsRune(text, '\\') && !strings.ContainsAny(name, " ,'") && !isNumber(name) {
		return false, nil
	}
	given, _, err := SkillName(document)
	return given == name, err
}

// isNumber reports whether the name may be written as another number, such as 1 as 1.0.
func isNumber(name string) bool { return strings.Trim(name, "0123456789.+-e") == "" }

// SkillSwitch returns the switch of that name in the frontmatter of a SKILL.md. ok is false if
// there is none, or its value says neither yes nor no. The client takes the words of YAML 1.1,
// also in quotation marks (measured with 2.1.329, fact 167).
func SkillSwitch(document []byte, name string) (on, ok bool) {
	_, text := skillText(document)
	v, err := parseSkill(text)
	if err != nil || v.node == nil || !v.isMapping() {
		return false, false
	}
	word := strings.ToLower(v.At(name).javaScript())
	on = slices.Contains([]string{"true", "yes", "on", "1"}, word)
	return on, on || slices.Contains([]string{"false", "no", "off", "0"}, word)
}

// javaScript returns the text that JavaScript makes of the value: the client converts a name
// that is not text (measured with 2.1.329, fact 121).
func (v Value) javaScript() string {
	if yes, ok := v.Bool(); ok {
		return strconv.FormatBool(yes)
	}
	if number, ok := v.coreNumber(); ok {
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

// coreNumber returns a number of YAML 1.2, which has neither octal numbers that begin with 0 nor
// underscores.
func (v Value) coreNumber() (number float64, ok bool) {
	text, _ := v.Text()
	if n := v.resolve(); n == nil || n.Style != 0 || strings.Contains(text, "_") {
		return 0, false
	}
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0o") {
		whole, err := strconv.ParseUint(text, 0, 64)
		return float64(whole), err == nil
	}
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil
}
