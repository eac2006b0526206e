package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// MaxBytes limits the size of the YAML. The size of the Markdown body is not limited.
const MaxBytes = 256 << 10

const (
	// maxNodes limits the number of nodes with every alias expanded.
	maxNodes = 100_000
	tooMany  = maxNodes + 1
)

var (
	// errTooLarge is returned when the YAML is longer than MaxBytes.
	errTooLarge = errors.New("frontmatter is larger than 256 KiB")
	// errAliases is returned when aliases expand to too many nodes, or contain
	// themselves.
	errAliases = errors.New("frontmatter has aliases that expand to too much")
	// errNotMapping is returned when the YAML is not a mapping.
	errNotMapping = errors.New("frontmatter is not a mapping of names to values")
	// ErrSyntax is returned when the text is not YAML. It wraps the cause.
	ErrSyntax = errors.New("frontmatter is not valid YAML")
)

// Read returns the frontmatter of the Markdown file at path, as [Parse] does. A
// symbolic link is followed. Errors are those of Parse, safefile.ErrNotRegular and
// the system's.
func Read(path string) (Value, error) {
	data, err := head(path)
	if err != nil {
		return Value{}, err
	}
	return Parse(data)
}

// ReadYAML returns the content of a file that is YAML as a whole, the zero Value for a file
// without content. Errors are those of [Read].
func ReadYAML(path string) (Value, error) {
	data, err := head(path)
	if err != nil {
		return Value{}, err
	}
	data = bytes.TrimPrefix(data, bom)
	if v, err := parse(data); err == nil && v.Null() {
		return Value{}, nil
	}
	return mapping(data)
}

// Parse returns the frontmatter in data: the text between the first line "---" and
// the next line "---" or "...", or all of data without such a pair of lines. The
// result is a mapping. Errors are errTooLarge, ErrSyntax, errNotMapping and
// errAliases.
func Parse(data []byte) (Value, error) {
	data = bytes.TrimPrefix(data, bom)
	if text, closed := between(data, "---", "..."); closed {
		return mapping(text)
	}
	return mapping(data)
}

// head reads the beginning of a file: MaxBytes, the two lines of dashes, and at least one
// more byte, by which Parse recognises frontmatter that is too large.
func head(path string) ([]byte, error) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxBytes+64))
}

var bom = []byte("\ufeff")

// between returns the text between the first line "---" and the next line that is one of
// closing. closed reports whether there are two such lines.
func between(data []byte, closing ...string) (text []byte, closed bool) {
	for len(data) > 0 {
		line, rest := cutLine(data)
		data = rest
		if isLine(line, "---") {
			return until(data, closing)
		}
	}
	return nil, false
}

// until returns the text before the first line that is one of closing. closed reports
// whether there is such a line.
func until(data []byte, closing []string) (text []byte, closed bool) {
	for rest := data; len(rest) > 0; {
		line, after := cutLine(rest)
		if isLine(line, closing...) {
			return data[:len(data)-len(rest)], true
		}
		rest = after
	}
	return nil, false
}

// cutLine splits data after the first line feed.
func cutLine(data []byte) (line, rest []byte) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return data[:i+1], data[i+1:]
	}
	return data, nil
}

func isLine(line []byte, texts ...string) bool {
	return slices.Contains(texts, string(bytes.TrimRight(line, " \t\r\n")))
}

// mapping parses YAML whose value must be a mapping.
func mapping(text []byte) (Value, error) {
	v, err := parse(text)
	if err == nil && !v.isMapping() {
		err = errNotMapping
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// parse parses YAML. For a document without content it returns the zero Value.
func parse(text []byte) (Value, error) {
	if len(text) > MaxBytes {
		return Value{}, errTooLarge
	}
	var doc, next yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(&doc)
	if err == nil {
		err = decoder.Decode(&next) // else what follows the value may be anything
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return Value{}, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	if len(doc.Content) == 0 {
		return Value{}, nil
	}
	if expanded(doc.Content[0], map[*yaml.Node]int{}) == tooMany {
		return Value{}, errAliases
	}
	return Value{doc.Content[0]}, nil
}

// expanded counts the nodes of n, itself included, with every alias expanded, up to
// tooMany. seen has the count of each finished node. For a node that is still being
// counted it has tooMany, because an alias to an ancestor expands without end.
func expanded(n *yaml.Node, seen map[*yaml.Node]int) int {
	if n == nil {
		return 0
	}
	if count, ok := seen[n]; ok {
		return count
	}
	seen[n] = tooMany
	count := 1 + expanded(n.Alias, seen)
	for _, child := range n.Content {
		count = min(count+expanded(child, seen), tooMany)
	}
	seen[n] = count
	return count
}
