package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pelletier/go-toml/v2"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
)

var (
	// errServer is returned for a TOML file in which another program or a person has configured a server with the
	// name fsmtx.
	errServer = message.NewError("the file has an MCP server of its own with the name fsmtx",
		"rename or remove that server; the file was not changed")
	// errOneLine is returned for a TOML file to which no table of a server can be added.
	errOneLine = message.NewError("mcp_servers is in one line, to which no server can be added",
		"give each of its servers a table of its own, [mcp_servers.NAME]; the file was not changed")
	// errTOML is returned for a file that is not TOML. The agent does not start with it.
	errTOML = message.NewError("not valid TOML", "correct the file, or move it away; it was not changed")
)

// errTable is returned for a TOML file in which the lines of the server cannot be told from the
// others.
var errTable = message.NewError("the lines of the MCP server cannot be told from the others",
	"edit mcp_servers.fsmtx in it yourself; the file was not changed")

// tomlServer is the MCP server in a TOML file: a block of lines with a table of its own, which is marked by the line of its
// header. Codex itself drops the comment above it, or writes tables of its own between the two (measured with 0.169.0).
// Keys that a person appends below the header are, by the rules of TOML, keys of the server and are removed with it.
//
// What a person wrote about a server of this name in another form is never edited, and a file is changed only
// if it is valid TOML afterwards: Codex does not start with another.
type tomlServer struct{ Command string }

const (
	header  = "[mcp_servers." + serverName + "]"
	comment = "# fsmtx install: this MCP server"

	// below is what comes behind the line of the program. env_vars are the variables by which fsmtx finds its lists, its log and
	// skills: Codex starts a server without those that are not named (measured with 0.169.0), and a list elsewhere would be another
	// one than that of the hooks and the shell.
	below = "\nargs = [\"mcp\"]\nenv_vars = [\"CLAUDE_CONFIG_DIR\",\"CODEX_HOME\",\"FSMTX_LOG\",\"XDG_STATE_HOME\"]\n"
)

// mark is a byte order mark. Codex reads a file that begins with one (measured with 0.169.0).
const mark = "\ufeff"

// serverName is the name of the server.
const serverName = "fsmtx"

// decode returns the tables of a TOML file. Errors begin with "line:column: ".
func decode(data []byte) (tables, error) {
	all := tables{}
	err := toml.Unmarshal(bytes.TrimPrefix(data, []byte(mark)), &all)
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := e.Position()
		return nil, fmt.Errorf("%d:%d: %w: %s", line, column, errTOML, strings.TrimPrefix(e.Error(), "toml: "))
	}
	return all, err
}

// tables is a TOML file, or a table of one, as it is decoded.
type tables map[string]any

// at returns the table at a path of keys, nil if there is none.
func (t tables) at(keys ...string) tables {
	for _, key := range keys {
		inner, _ := t[key].(map[string]any)
		t = inner
	}
	return t
}

// server returns the table of the server, nil if there is none.
func (t tables) server() tables { return t.at("mcp_servers", serverName) }

// owns reports whether a server is one of this program.
func (t tomlServer) owns(server tables) bool {
	command, _ := server["command"].(string)
	args, _ := server["args"].([]any)
	return len(args) > 0 && args[0] == "mcp" && (command == t.Command || settings.IsNamed(command))
}

// find returns the tables of a file, and whether it has the server. Errors are errServer and errTOML.
func (t tomlServer) find(data []byte) (all tables, had bool, err error) {
	all, err = decode(data)
	if err != nil {
		return nil, false, err
	}
	if _, is := all.at("mcp_servers")[serverName]; is && !t.owns(all.server()) {
		line, _, _ := bytes.Cut(data, []byte(serverName))
		return nil, false, fmt.Errorf("%d:1: %w", bytes.Count(line, []byte("\n"))+1, errServer)
	}
	return all, all.server() != nil, nil
}

// block returns where the lines of the server's table begin, with the comment above them, and end, with the last of its keys
// and tables. It is empty if the file has none with this header.
func block(data []byte) (begin, end int) {
	at, above, open := 0, 0, false
	for line := range bytes.Lines(data) {
		text := bytes.TrimSpace(line)
		rest, isHeader := bytes.CutPrefix(text, []byte(header))
		switch isHeader = isHeader && (len(bytes.TrimSpace(rest)) == 0 || bytes.TrimSpace(rest)[0] == '#'); {
		case isHeader && end == 0:
			begin, open = above, true
		case bytes.HasPrefix(text, []byte("[")):
			open = open && bytes.HasPrefix(text, []byte("[mcp_servers."+serverName+"."))
		}
		if above = at; !bytes.HasPrefix(text, []byte(comment)) {
			above += len(line)
		}
		at += len(line)
		if open && len(text) > 0 && text[0] != '#' {
			end = at
		}
	}
	return begin, end
}

// add returns the file with the server. data is nil if there is no file. Of a server that runs another version only the
// line of the program changes. Errors are errServer, errOneLine, errTable and errTOML.
func (t tomlServer) add(data []byte) ([]byte, error) {
	before, had, err := t.find(data)
	if err != nil {
		return nil, err
	}
	command, err := json.Marshal(t.Command)
	if err != nil {
		return nil, err
	}
	var out []byte
	if had {
		if before.server()["command"] == t.Command {
			return data, nil
		}
		begin, end := block(data)
		at := commandLine.Regexp().FindIndex(data[begin:end])
		if at == nil {
			return nil, fmt.Errorf("1:1: %w", errTable)
		}
		out = slices.Concat(data[:begin+at[0]], []byte("command = "), command, data[begin+at[1]:])
	} else {
		out = append(bytes.Clone(data), t.lines(data, string(command))...)
	}
	switch after, err := decode(out); {
	case err != nil && !had && before["mcp_servers"] != nil:
		return nil, fmt.Errorf("1:1: %w", errOneLine)
	case err != nil || after.server()["command"] != t.Command:
		return nil, fmt.Errorf("1:1: %w", errTable)
	}
	return out, nil
}

// lines returns what is added to a file. To one that is blank, and not missing, or has no end of its last line, they are added with an
// end of a line before them and none behind them, by which remove knows it.
func (t tomlServer) lines(data []byte, command string) string {
	lines := comment + "\n" + header + "\ncommand = " + command + below
	if text := bytes.TrimPrefix(data, []byte(mark)); data != nil && (len(bytes.TrimSpace(text)) == 0 || text[len(text)-1] != '\n') {
		lines = "\n" + strings.TrimSuffix(lines, "\n")
	}
	if bytes.Contains(data, []byte("\r\n")) {
		lines = strings.ReplaceAll(lines, "\n", "\r\n")
	}
	return lines
}

// commandLine matches the line of the program in the block.
var commandLine = pattern.New(`(?m)^command *= *("[^"\n]*"|'[^'\n]*')`)

// remove returns the file without the server, as it was if it does not have it. It returns nil if add has made the file. Errors
// are errTable, and errTOML for a file that may have the server.
func (t tomlServer) remove(data []byte) (rest []byte, err error) {
	_, had, err := t.find(data)
	begin, end := block(data)
	if errors.Is(err, errServer) || err != nil && end == 0 {
		return data, nil
	}
	if err != nil || !had {
		return data, err
	}
	open := end == len(data) && data[end-1] != '\n'
	if open { // see lines
		begin = len(bytes.TrimSuffix(bytes.TrimSuffix(data[:begin], []byte("\n")), []byte("\r")))
	}
	rest = append(append([]byte{}, data[:begin]...), data[end:]...) // not nil
	after, err := decode(rest)
	if _, left := after.at("mcp_servers")[serverName]; err != nil || left {
		return data, fmt.Errorf("1:1: %w", errTable)
	}
	if !open && len(bytes.TrimSpace(bytes.TrimPrefix(rest, []byte(mark)))) == 0 {
		return nil, nil
	}
	return rest, nil
}

// inspect compares the file with what add would write. Errors are errServer and errTOML.
func (t tomlServer) inspect(data []byte) (settings.Report, error) {
	file, had, err := t.find(data)
	switch {
	case err != nil || !had:
		return settings.Report{State: settings.Absent}, err
	case file.server()["command"] != t.Command:
		return settings.Report{State: settings.Outdated,
			Why: []string{fmt.Sprintf("MCP server: runs %v, want %s", file.server()["command"], t.Command)}}, nil
	}
	return settings.Report{State: settings.Installed}, nil
}

// tomlTable returns a table of a file, none if it cannot be read.
func tomlTable(file string, keys ...string) map[string]any {
	data, err := safefile.ReadFile(file, maxConfig, 0)
	if err != nil {
		return nil
	}
	config, _ := decode(data)
	return config.at(keys...)
}
