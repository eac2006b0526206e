package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// errNotJSON is returned for YAML that JSON cannot say: a key that is not text, or twice
// the same one.
var errNotJSON = errors.New("the YAML has no form in JSON")

// errMissing is returned for text that was meant as JSON: YAML would make a name, a value and what
// follows them one text where JSON lacks a comma or quotation marks.
var errMissing = errors.New("the text is JSON in which a comma or quotation marks are missing")

// errSeveral is returned for YAML with a document behind the first, and so for Markdown with a frontmatter.
var errSeveral = errors.New("there is text behind the first YAML document")

// CommentedJSON returns a YAML document as JSON, indented by two spaces, with its comments as
// lines that begin with two slashes. Errors are those of [Parse], errNotJSON, errMissing and errSeveral.
func CommentedJSON(text []byte) ([]byte, error) {
	v, err := parse(text)
	if err != nil {
		return nil, err
	}
	var next yaml.Node
	all := yaml.NewDecoder(bytes.NewReader(text))
	if err := all.Decode(&next); err == nil && !errors.Is(all.Decode(&next), io.EOF) {
		return nil, errSeveral
	}
	if n := v.resolve(); n != nil && n.Style&yaml.FlowStyle != 0 && joinsTokens(n) {
		return nil, errMissing
	}
	c := commented{}
	if err := c.value(v, "\n"); err != nil {
		return nil, err
	}
	c.json.WriteByte('\n')
	return c.json.Bytes(), nil
}

// joinsTokens reports whether a text without quotation marks in the node is empty, or looks like
// several tokens of JSON.
func joinsTokens(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return n.Style == 0 && (n.Value == "" || strings.ContainsAny(n.Value, `":#`) || tokens.Regexp().MatchString(n.Value))
	}
	return slices.ContainsFunc(n.Content, joinsTokens)
}

var tokens = pattern.New(`^[-0-9]\S*\s`)

// commented writes YAML as JSON with comments. In each function line is a line break and the
// indentation of the value.
type commented struct{ json bytes.Buffer }

func (c *commented) value(v Value, line string) error {
	n := v.resolve()
	switch {
	case n == nil:
		c.json.WriteString("null")
	case n.Kind == yaml.MappingNode:
		return c.mapping(n, line)
	case n.Kind == yaml.SequenceNode:
		return c.sequence(n, line)
	default:
		c.json.Write(scalar(v))
	}
	return nil
}

func (c *commented) mapping(n *yaml.Node, line string) error {
	seen := map[string]bool{}
	return c.list(n, '{', '}', line, 2, func(i int, line string) error {
		key, ok := (Value{n.Content[i]}).Text()
		if !ok || seen[key] || n.Content[i].ShortTag() == "!!merge" {
			return fmt.Errorf("%w: line %d", errNotJSON, n.Content[i].Line)
		}
		seen[key] = true
		c.json.Write(quoted(key))
		c.json.WriteString(": ")
		return c.value(Value{n.Content[i+1]}, line)
	})
}

func (c *commented) sequence(n *yaml.Node, line string) error {
	return c.list(n, '[', ']', line, 1, func(i int, line string) error { return c.value(Value{n.Content[i]}, line) })
}

// list writes the entries of a node, of which each has so many nodes, with their comments.
func (c *commented) list(n *yaml.Node, opening, closing byte, line string, nodes int, entry func(i int, line string) error) error {
	c.json.WriteByte(opening)
	inner := line + "  "
	for i := 0; i < len(n.Content); i += nodes {
		of := n.Content[i : i+nodes]
		c.comments(inner, of, func(n *yaml.Node) string { return n.HeadComment })
		c.json.WriteString(inner)
		if err := entry(i, inner); err != nil {
			return err
		}
		if i+nodes < len(n.Content) {
			c.json.WriteByte(',')
		}
		c.comments(inner, of, func(n *yaml.Node) string { return n.LineComment })
		c.comments(inner, of, func(n *yaml.Node) string { return n.FootComment })
	}
	if len(n.Content) > 0 {
		c.json.WriteString(line)
	}
	c.json.WriteByte(closing)
	return nil
}

func (c *commented) comments(line string, of []*yaml.Node, which func(*yaml.Node) string) {
	for _, n := range of {
		for text := range strings.Lines(which(n)) {
			if text = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(text), "#")); text != "" {
				c.json.WriteString(line + "// " + text)
			}
		}
	}
}
