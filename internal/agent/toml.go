package agent

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pelletier/go-toml/v2"

	"github.com/fsmtx/fsmtx/internal/hint"
)

var (
	// ErrServer is returned for a TOML file in which somebody else has configured a server with the
	// name fsmtx.
	ErrServer = hint.New("the file has an MCP server of its own with the name fsmtx",
		"rename or remove that server; the file was not changed")
	// ErrOneLine is returned for a TOML file to which no table of a server can be added.
	ErrOneLine = hint.New("mcp_servers is in one line, to which no server can be added",
		"give each of its servers a table of its own, [mcp_servers.NAME]; the file was not changed")
	// ErrTOML is returned for a file that is not TOML. The agent does not start with it.
	ErrTOML = hint.New("not valid TOML", "correct the file, or move it away; it was not changed")
)

// ErrTable is returned for a TOML file in which the lines of the server cannot be told from the
// others.
var ErrTable = hint.New("the lines of the MCP server cannot be told from the others",
	"edit mcp_servers.fsmtx in it yourself; the file was not changed")

// Table is the MCP server in a TOML file: a table of its own below a comment. All other bytes are
// kept, and removing the table just added gives back the file as it was. Keys that somebody appends
// below the header of the server are, by the rules of TOML, keys of the server and are removed with
// it. The lines are found by the table and not by the comment: Codex itself drops the comment, or
// writes tables of its own before the last comment of the file (measured with 0.169.0).
//
// What somebody wrote about another server of this name is never edited, and a file is changed only
// if it is valid TOML that says the same afterwards, but for the server: Codex does not start with
// another.
type Table struct {
	Command string
	Args    []string
}

const (
	comment     = "# fsmtx install: this MCP server"
	oldComment  = "# fsmtx install: the MCP server begins"
	oldEnd      = "# fsmtx install: the MCP server ends"
	unended     = ", after a line without an end"
	createdFile = ", in a new file"
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
		return nil, fmt.Errorf("%d:%d: %w: %s", line, column, ErrTOML, strings.TrimPrefix(e.Error(), "toml: "))
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

// without returns the tables without the server.
func (t tables) without() tables {
	servers := t.at("mcp_servers")
	delete(servers, serverName)
	if len(servers) == 0 {
		delete(t, "mcp_servers")
	}
	return t
}

// equal reports whether two files say the same.
func (t tables) equal(other tables) bool { return maps.EqualFunc(t, other, equal) }

// equal reports whether two decoded values are the same. Unlike with reflect.DeepEqual, NaN is equal
// to NaN: a file may have one.
func equal(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, is := b.(float64)
		return is && cmp.Compare(a, b) == 0
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, is := b.(map[string]any)
		return is && maps.EqualFunc(a, b, equal)
	}
	return reflect.DeepEqual(a, b)
}

// owns reports whether a server is one of this program.
func (t Table) owns(server tables) bool {
	command, _ := server["command"].(string)
	args, _ := server["args"].([]any)
	return len(args) > 0 && args[0] == t.Args[0] && (command == t.Command || filepath.Base(command) == serverName)
}

// find returns the tables of a file, and whether it has the server. Errors are ErrServer and ErrTOML.
func (t Table) find(data []byte) (all tables, had bool, err error) {
	all, err = decode(data)
	if err != nil {
		return nil, false, err
	}
	if _, is := all.at("mcp_servers")[serverName]; is && !t.owns(all.server()) {
		line, _, _ := bytes.Cut(data, []byte(serverName))
		return nil, false, fmt.Errorf("%d:1: %w", bytes.Count(line, []byte("\n"))+1, ErrServer)
	}
	return all, all.server() != nil, nil
}

// section is the lines of a table: from its header to its last key. A key of the server that is elsewhere,
// such as mcp_servers.fsmtx.command, is one of its own.
type section struct{ begin, end int }

// sections returns those of the server's table and of the tables in it.
func sections(data []byte) (found []section) {
	at, open := 0, false
	var header []byte
	for line := range bytes.Lines(data) {
		text := bytes.TrimSpace(line)
		if table, err := decode(line); bytes.HasPrefix(text, []byte("[")) && err == nil {
			if open = table.server() != nil; open {
				found = append(found, section{at, at})
			}
			header = line
		} else if !open && bytes.Contains(line, []byte(serverName)) {
			if keys, err := decode(slices.Concat(header, line)); err == nil && keys.server() != nil {
				found = append(found, section{at, at + len(line)})
			}
		}
		at += len(line)
		if open && len(text) > 0 && text[0] != '#' {
			found[len(found)-1].end = at
		}
	}
	return found
}

// values returns the program and the arguments as they are written in the file.
func (t Table) values() (map[string]string, error) {
	command, err := json.Marshal(t.Command)
	if err != nil {
		return nil, err
	}
	args, err := json.Marshal(t.Args)
	return map[string]string{"command": string(command), "args": string(args)}, err
}

// ending returns the end of the lines of a file: that of its first line.
func ending(data []byte) string {
	if first, _, ended := bytes.Cut(data, []byte("\n")); ended && bytes.HasSuffix(first, []byte("\r")) {
		return "\r\n"
	}
	return "\n"
}

// withValue returns a line with another value. What is before the value and behind it stays.
func withValue(line []byte, value string) []byte {
	text := bytes.TrimRight(line, "\r\n")
	name, rest, _ := bytes.Cut(text, []byte("="))
	before := text[:len(name)+1+len(rest)-len(bytes.TrimLeft(rest, " \t"))]
	behind := len(text)
	for i, c := range text {
		// A # in the value leaves a text in front of it that is not ended.
		if _, err := decode(text[:i]); c == '#' && err == nil {
			behind = len(bytes.TrimRight(text[:i], " \t"))
			break
		}
	}
	return slices.Concat(before, []byte(value), line[behind:])
}

// Add returns the file with the server. data is nil if there is no file. Of a server of another
// version only the program changes, and the variables that it lacks are added: further arguments, such as
// --checks off, and further variables are the person's. Errors are ErrServer, ErrOneLine, ErrTable and ErrTOML.
func (t Table) Add(data []byte) ([]byte, error) {
	if rest, marked := bytes.CutPrefix(data, []byte(mark)); marked {
		out, err := t.Add(rest)
		return append([]byte(mark), out...), err
	}
	before, had, err := t.find(data)
	if err != nil {
		return nil, err
	}
	values, err := t.values()
	if err != nil {
		return nil, err
	}
	if had {
		if data, err = t.update(data, values["command"]); err != nil {
			return nil, err
		}
		return withVars(data)
	}
	head := comment
	switch {
	case data == nil:
		head += createdFile
	case len(data) > 0 && data[len(data)-1] != '\n':
		head = "\n" + head + unended
	}
	table := head + "\n[mcp_servers." + serverName + "]\ncommand = " + values["command"] + "\nargs = " + values["args"] +
		"\n" + envVars + " = [" + quotedList(passedOn()) + "]\n"
	out := append(bytes.Clone(data), strings.ReplaceAll(table, "\n", ending(data))...)
	after, err := decode(out)
	if _, is := before["mcp_servers"]; is && err != nil {
		return nil, fmt.Errorf("1:1: %w", ErrOneLine)
	}
	if err != nil || !before.without().equal(after.without()) {
		return nil, fmt.Errorf("1:1: %w", ErrTable)
	}
	if back, _, err := t.Remove(out); err != nil || !bytes.Equal(back, data) {
		return nil, fmt.Errorf("1:1: %w", ErrTable)
	}
	return out, nil
}

// update returns the file with the program of the server: that of the ways in which the file has it and says the same
// otherwise.
func (t Table) update(data []byte, command string) ([]byte, error) {
	before, err := decode(data)
	if err != nil {
		return nil, err
	}
	if t.isProgram(before.server()) {
		return data, nil
	}
	old, _ := before.server()["command"].(string)
	before.server()["command"] = t.Command
	var ways [][]byte
	at := 0
	for line := range bytes.Lines(data) {
		end := at + len(line)
		if one, err := decode(line); err == nil && one.sets("command") {
			ways = append(ways, slices.Concat(data[:at], withValue(line, command), data[end:]))
		}
		at = end
	}
	for _, out := range append(ways, withText(data, old, command)...) {
		if after, err := decode(out); err == nil && before.equal(after) {
			return out, nil
		}
	}
	return nil, fmt.Errorf("1:1: %w", ErrTable)
}

// withText returns the file with another value in each place where a text may be the value of a key: a server, or all of them,
// may be in one line.
func withText(data []byte, text, value string) (ways [][]byte) {
	for _, quoted := range []string{strconv.Quote(text), "'" + text + "'"} {
		for at := range data {
			if rest, is := bytes.CutPrefix(data[at:], []byte(quoted)); is {
				ways = append(ways, slices.Concat(data[:at], []byte(value), rest))
			}
		}
	}
	return ways
}

// isProgram reports whether a server is this very program.
func (t Table) isProgram(server tables) bool { return server["command"] == t.Command }

// sets reports whether a line, as it is decoded, sets a key, which may be one of a table.
func (t tables) sets(key string) bool {
	for name, value := range t {
		inner, is := value.(map[string]any)
		return !is && name == key || is && tables(inner).sets(key)
	}
	return false
}

// Remove returns the file without the server, and whether it had it. It returns nil if Add
// created the file and nothing else is in it. Errors are ErrTable, and ErrTOML for a file that may
// have the server.
func (t Table) Remove(data []byte) (rest []byte, had bool, err error) {
	if unmarked, marked := bytes.CutPrefix(data, []byte(mark)); marked {
		rest, had, err = t.Remove(unmarked)
		return append([]byte(mark), rest...), had, err
	}
	before, had, err := t.find(data)
	if errors.Is(err, ErrServer) || err != nil && len(sections(data)) == 0 {
		return data, false, nil
	}
	if err != nil || !had {
		return data, had, err
	}
	end := 0
	created, joined := false, false
	for _, s := range sections(data) {
		kept := data[end:s.begin]
		if at := bytes.LastIndexByte(bytes.TrimSuffix(kept, []byte("\n")), '\n') + 1; isComment(kept[at:]) {
			created = bytes.Contains(kept[at:], []byte(createdFile))
			joined = bytes.Contains(kept[at:], []byte(unended))
			kept = kept[:at]
		}
		rest = append(rest, kept...)
		end = s.end
	}
	last := withoutEnd(data[end:])
	if joined && len(last) == 0 {
		rest = bytes.TrimSuffix(rest, []byte(ending(rest)))
	}
	rest = append(rest, last...)
	after, err := decode(rest)
	// The comparison cannot tell whether a server is left: without takes it out of both.
	if _, left := after.at("mcp_servers")[serverName]; err != nil || left || !before.without().equal(after.without()) {
		return data, true, fmt.Errorf("1:1: %w", ErrTable)
	}
	if len(rest) == 0 && created {
		return nil, true, nil
	}
	return append([]byte{}, rest...), true, nil
}

// isComment reports whether a line is the one above the server.
func isComment(line []byte) bool {
	return bytes.HasPrefix(line, []byte(comment)) || bytes.HasPrefix(line, []byte(oldComment))
}

// withoutEnd returns lines without the one that earlier versions wrote below the server.
func withoutEnd(data []byte) (rest []byte) {
	for line := range bytes.Lines(data) {
		if string(bytes.TrimSpace(line)) != oldEnd {
			rest = append(rest, line...)
		}
	}
	return rest
}

// Inspect returns how the file differs from what Add would write: empty if it does not. had is
// whether it has the server. Errors are ErrServer and ErrTOML.
func (t Table) Inspect(data []byte) (why string, had bool, err error) {
	file, had, err := t.find(bytes.TrimPrefix(data, []byte(mark)))
	if err != nil || !had {
		return "", false, err
	}
	var all []string
	if !t.isProgram(file.server()) {
		all = append(all, fmt.Sprintf("runs %v, want %s", file.server()["command"], t.Command))
	}
	if names := lacking(file.server()); len(names) > 0 {
		all = append(all, envVars+" lacks "+strings.Join(names, ", ")+", and so it may look for lists elsewhere than the hooks do")
	}
	if len(all) == 0 {
		return "", true, nil
	}
	return "MCP server: " + strings.Join(all, "; "), true, nil
}
