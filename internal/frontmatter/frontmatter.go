package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"go.yaml.in/yaml/v4"
)

// MaxBytes bounds the YAML that is parsed. A Markdown body after it may be as
// long as it likes.
const MaxBytes = 256 << 10

// maxNodes bounds the document as it would be with every alias written out.
const maxNodes = 100_000

var (
	// ErrNotFile means that the path holds no regular file.
	ErrNotFile = errors.New("not a regular file")
	// ErrTooLarge means that the YAML is longer than MaxBytes.
	ErrTooLarge = fmt.Errorf("frontmatter is larger than %d KiB", MaxBytes>>10)
	// ErrAliases means that aliases expand to too much, or to themselves.
	ErrAliases = errors.New("frontmatter has aliases that expand to too much")
	// ErrNoMapping means that there is YAML and it is no mapping.
	ErrNoMapping = errors.New("frontmatter is not a mapping of names to values")
	// ErrSyntax means that the text is no YAML; it wraps the cause.
	ErrSyntax = errors.New("frontmatter is not valid YAML")
)

// Read returns the frontmatter of a Markdown file. A symlink to a regular file
// is followed; a pipe is not waited for.
func Read(path string) (Value, error) {
	data, err := head(path)
	if err != nil {
		return Value{}, err
	}
	return Parse(data)
}

// ReadYAML returns the content of a file that is YAML as a whole.
func ReadYAML(path string) (Value, error) {
	data, err := head(path)
	if err != nil {
		return Value{}, err
	}
	return parse(data)
}

// Parse returns the frontmatter in data: what stands between the first line
// "---" and the next line "---" or "...". Without such a pair of lines the
// whole of data counts. The result is a mapping.
func Parse(data []byte) (Value, error) { return parse(cut(data)) }

// head reads no more than can matter: the bound on the YAML, its two lines of
// dashes, and one byte to tell that there was more.
func head(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(ErrNotFile, err)
	}
	return io.ReadAll(io.LimitReader(f, MaxBytes+64))
}

func cut(data []byte) []byte {
	from, found := 0, false
	for at := 0; at < len(data); {
		end := at + lineLen(data[at:])
		line := bytes.TrimRight(data[at:end], " \t\r\n")
		if at == 0 {
			line = bytes.TrimPrefix(line, bom)
		}
		switch {
		case !found && string(line) == "---":
			from, found = end, true
		case found && (string(line) == "---" || string(line) == "..."):
			return data[from:at]
		}
		at = end
	}
	return data
}

var bom = []byte("\xef\xbb\xbf")

func lineLen(data []byte) int {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1
	}
	return len(data)
}

func parse(data []byte) (Value, error) {
	if len(data) > MaxBytes {
		return Value{}, ErrTooLarge
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(bytes.TrimPrefix(data, bom), &doc); err != nil {
		return Value{}, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return Value{}, ErrNoMapping
	}
	if expanded(doc.Content[0], map[*yaml.Node]int{}) > maxNodes {
		return Value{}, ErrAliases
	}
	return Value{doc.Content[0]}, nil
}

// expanded counts the nodes below n with every alias written out, and stops
// counting past the bound. seen holds the count of a node once it is known and
// the bound's excess while it is being counted: an alias to an ancestor never
// ends.
func expanded(n *yaml.Node, seen map[*yaml.Node]int) int {
	if n == nil {
		return 0
	}
	if count, ok := seen[n]; ok {
		return count
	}
	seen[n] = maxNodes + 1
	count := 1 + expanded(n.Alias, seen)
	for _, child := range n.Content {
		count += expanded(child, seen)
		if count > maxNodes {
			return maxNodes + 1
		}
	}
	seen[n] = count
	return count
}
