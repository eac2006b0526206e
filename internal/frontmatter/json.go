package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// LineError is a mistake in a line of a document. Lines count from 1.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// SkillJSON returns the frontmatter of a SKILL.md as a JSON object, nil if there is none.
// offsets has the offset in document of every value; for a member of an object it is that
// of the key. Of duplicate keys only the last one is in the object. Errors are those of
// [Parse]; ErrSyntax is wrapped in a *LineError if the line is known.
func SkillJSON(document []byte) (object jsontext.Value, offsets map[jsontext.Pointer]int, err error) {
	first, text := skillText(document)
	if text == nil {
		return nil, nil, nil
	}
	v, err := parseSkill(text)
	if err == nil && !v.isMapping() {
		err = errNotMapping
	}
	if err != nil {
		return nil, nil, inLine(err, bytes.Count(document[:first], []byte("\n")))
	}
	c := converter{document: document, offsets: map[jsontext.Pointer]int{}, lines: lineOffsets(document, first)}
	c.value("", v)
	return c.json.Bytes(), c.offsets, nil
}

// lineOf matches the line in an error of the YAML library.
func lineOf() *regexp.Regexp {
	return regexp.MustCompile(`^yaml: (?:unmarshal errors:\n\s*)?line (\d+): `)
}

// inLine converts an ErrSyntax of the YAML library with a line into a *LineError. The
// library counts lines from the first one of the YAML, which has that many lines above it.
func inLine(err error, above int) error {
	if !errors.Is(err, ErrSyntax) {
		return err
	}
	cause := strings.TrimPrefix(err.Error(), ErrSyntax.Error()+": ")
	m := lineOf().FindStringSubmatch(cause)
	if m == nil {
		return err
	}
	line, _ := strconv.Atoi(m[1])
	return &LineError{above + line, fmt.Errorf("%w: %s", ErrSyntax, cause[len(m[0]):])}
}

// ErrorLine returns the line of the YAML in which an error of [ReadYAML] was found, 0 if
// it is unknown.
func ErrorLine(err error) int {
	if at, ok := errors.AsType[*LineError](inLine(err, 0)); ok {
		return at.Line
	}
	return 0
}

// lineOffsets returns the offsets of the lines from the one that begins at first.
func lineOffsets(document []byte, first int) []int {
	lines := []int{first}
	for i := first; i < len(document); i++ {
		if document[i] == '\n' {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// converter writes YAML as JSON.
type converter struct {
	json     bytes.Buffer
	document []byte
	offsets  map[jsontext.Pointer]int
	lines    []int // the offsets of the lines of the frontmatter
}

func (c *converter) value(at jsontext.Pointer, v Value) {
	n := v.resolve()
	switch {
	case n == nil:
		c.json.WriteString("null")
	case n.Kind == yaml.MappingNode:
		c.mapping(at, v)
	case n.Kind == yaml.SequenceNode:
		c.json.WriteByte('[')
		for i, item := range v.Items() {
			if i > 0 {
				c.json.WriteByte(',')
			}
			below := at.AppendToken(strconv.Itoa(i))
			c.place(below, item.node)
			c.value(below, item)
		}
		c.json.WriteByte(']')
	default:
		c.json.Write(scalar(v))
	}
}

func (c *converter) mapping(at jsontext.Pointer, v Value) {
	last := map[string]int{}
	content := v.resolve().Content
	for i := 0; i+1 < len(content); i += 2 {
		if key, ok := (Value{content[i]}).Text(); ok {
			last[key] = i
		}
	}
	c.json.WriteByte('{')
	written := 0
	for i := 0; i+1 < len(content); i += 2 {
		key, ok := (Value{content[i]}).Text()
		if !ok || last[key] != i {
			continue
		}
		if written++; written > 1 {
			c.json.WriteByte(',')
		}
		below := at.AppendToken(key)
		c.place(below, content[i])
		c.json.Write(quoted(key))
		c.json.WriteByte(':')
		c.value(below, Value{content[i+1]})
	}
	c.json.WriteByte('}')
}

// place records the offset of a node. The node's line counts from the line after the
// opening one, its column in characters.
func (c *converter) place(at jsontext.Pointer, n *yaml.Node) {
	if n == nil || n.Line < 1 || n.Line > len(c.lines) {
		return
	}
	offset := c.lines[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(c.document[offset:])
		offset += size
	}
	c.offsets[at] = offset
}

// scalar returns a scalar as JSON. A number that JSON does not have, such as .inf,
// becomes a string.
func scalar(v Value) []byte {
	if yes, ok := v.Bool(); ok {
		return strconv.AppendBool(nil, yes)
	}
	if v.Null() {
		return []byte("null")
	}
	text, _ := v.Text()
	if number, ok := v.Number(); ok {
		if jsontext.Value(text).IsValid() {
			return []byte(text)
		}
		return strconv.AppendFloat(nil, number, 'g', -1, 64)
	}
	return quoted(text)
}

// quoted returns the text as a JSON string, with U+FFFD for invalid UTF-8.
func quoted(text string) []byte {
	encoded, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd")) // fails only for invalid UTF-8
	return encoded
}
