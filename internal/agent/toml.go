package agent

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/hint"
)

// ErrServer is returned for a TOML file in which somebody else has configured a server with the
// name fsmtx, or in which a table cannot be added.
var ErrServer = hint.New("the file has an MCP server of its own with the name fsmtx",
	"rename or remove that server; the file was not changed")

// Table is the MCP server in a TOML file: a block of lines between two comments at the end of
// the file. All other bytes are kept, and removing the block gives back the file as it was.
// TOML is not parsed; what somebody wrote about a server of this name is never edited.
type Table struct {
	Command string
	Args    []string
}

const (
	blockBegins = "# fsmtx install: the MCP server begins"
	blockEnds   = "# fsmtx install: the MCP server ends\n"
	unended     = ", after a line without an end"
	createdFile = ", in a new file"
)

// hasOwn reports whether somebody else has written about the server, or about all servers in one
// line.
func hasOwn(data []byte) bool {
	return regexp.MustCompile(`(?m)^\s*(\[\s*mcp_servers\s*\.\s*["']?fsmtx["']?\s*[\].]|mcp_servers\s*=|mcp_servers\s*\.\s*["']?fsmtx)`).Match(data)
}

// block returns the lines of the server, after the first.
func (t Table) block() (string, error) {
	command, err := json.Marshal(t.Command)
	if err != nil {
		return "", err
	}
	args, err := json.Marshal(t.Args)
	return "[mcp_servers.fsmtx]\ncommand = " + string(command) + "\nargs = " + string(args) + "\n" + blockEnds, err
}

// Add returns the file with the server. data is nil if there is no file.
func (t Table) Add(data []byte) ([]byte, error) {
	rest, _ := t.Remove(data)
	if hasOwn(rest) {
		return nil, ErrServer
	}
	block, err := t.block()
	if err != nil {
		return nil, err
	}
	head := blockBegins
	switch {
	case rest == nil:
		head += createdFile
	case len(rest) > 0 && rest[len(rest)-1] != '\n':
		head = "\n" + head + unended
	}
	return append(bytes.Clone(rest), head+"\n"+block...), nil
}

// Remove returns the file without the block, and whether it had one. It returns nil if Add
// created the file and nothing else is in it.
func (t Table) Remove(data []byte) (rest []byte, had bool) {
	begin := bytes.Index(data, []byte(blockBegins))
	if begin < 0 {
		return data, false
	}
	length := bytes.Index(data[begin:], []byte(blockEnds))
	if length < 0 {
		return data, false
	}
	head, _, _ := strings.Cut(string(data[begin:]), "\n")
	end := begin + length + len(blockEnds)
	if strings.HasSuffix(head, unended) && begin > 0 && data[begin-1] == '\n' && end == len(data) {
		begin--
	}
	rest = append(bytes.Clone(data[:begin]), data[end:]...)
	if len(rest) == 0 && strings.HasSuffix(head, createdFile) {
		return nil, true
	}
	return rest, true
}

// Inspect returns how the file differs from what Add would write: empty if it does not. had is
// whether it has the block.
func (t Table) Inspect(data []byte) (why string, had bool, err error) {
	rest, had := t.Remove(data)
	if hasOwn(rest) {
		return "", had, ErrServer
	}
	block, err := t.block()
	switch {
	case err != nil || !had:
		return "", had, err
	case !bytes.Contains(data, []byte(block)):
		return fmt.Sprintf("MCP server: is not the one that runs %s %s", t.Command, strings.Join(t.Args, " ")), true, nil
	}
	return "", true, nil
}

// tableOf returns the lines of a table in a TOML file, from its header to the next one. name is as
// it is written in the header.
func tableOf(data []byte, name string) string {
	_, rest, found := bytes.Cut(append([]byte("\n"), data...), []byte("\n["+name+"]"))
	if !found {
		return ""
	}
	body, _, _ := strings.Cut(string(rest), "\n[")
	return body
}

// says reports whether a line of a table gives the key the value.
func says(table, key, value string) bool {
	return regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(key) + `\s*=\s*` + regexp.QuoteMeta(value) + `\s*(#.*)?$`).MatchString(table)
}
