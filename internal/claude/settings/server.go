package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Server is the entry of this program's MCP server in a configuration file of the
// client. It is added and removed like a hook: every other byte is kept, and containers
// that were created for it are removed with it.
//
// The form is that of "claude mcp add" (fact 90, client 2.1.329).
type Server struct {
	Path    []string // names of the objects that contain it, from the top, such as mcpServers
	Command string
	Args    []string

	// For the files of other agents. Without Fields the form is Claude Code's.
	Fields map[string]any // beside the command and its arguments; may be empty
	List   bool           // the command and its arguments are one list
}

// serverName is the name of the server. It is part of the names of the server's tools.
const serverName = Program

func (s Server) hook() Hook { return Hook{Command: s.Command, Args: s.Args} }

// AddServer returns the file with the server. data is nil if there is no file. It returns
// ErrForeign if the file has a server with that name that runs another program, or an
// error of Inspect.
func AddServer(data []byte, s Server) ([]byte, error) {
	report, err := InspectServer(data, s)
	if err != nil {
		return nil, err
	}
	switch report.State {
	case Installed:
		return data, nil
	case Outdated:
		return s.renew(data)
	}
	return s.put(data)
}

// renew returns the file with the program of the server that it has, and keeps whatever else somebody
// added to the server, such as further arguments and its environment.
func (s Server) renew(data []byte) ([]byte, error) {
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	found, err := doc.server(s)
	if err != nil {
		return nil, err
	}
	at := found.path[len(found.path)-1]
	server, err := doc.object(at.list.(object).Members[at.index].Value, "")
	if err != nil {
		return nil, err
	}
	command := server.value("command")
	if words, is := (*command).(*hujson.Array); is {
		command = &words.Elements[0].Value
	}
	*command = hujson.String(s.Command)
	return doc.pack(), nil
}

func (s Server) put(data []byte) ([]byte, error) {
	doc, l, n, err := open(data)
	if err != nil {
		return nil, err
	}
	for i, name := range s.Path {
		if j := n.list.(object).index(name); j >= 0 {
			if _, err := doc.object(n.list.(object).Members[j].Value, pointer(s.Path[:i+1])); err != nil {
				return nil, err
			}
		}
		n = l.enter(n, name, new(hujson.Object))
	}
	before, indent := l.place(n)
	value, err := l.server(s, indent)
	if err != nil {
		return nil, err
	}
	n.list.(object).add(before, serverName, value)
	return doc.pack(), nil
}

// server returns the server in the form that the client itself writes, so that the client
// has no reason to rewrite it.
func (l layout) server(s Server, indent string) (hujson.ValueTrimmed, error) {
	if s.Fields != nil {
		return l.otherServer(s, indent)
	}
	value, err := json.Marshal(struct {
		Type    string            `json:"type"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}{"stdio", s.Command, s.Args, nil})
	if err != nil {
		return nil, err
	}
	return l.format(value, indent)
}

// otherServer returns the server in the form of another agent.
func (l layout) otherServer(s Server, indent string) (hujson.ValueTrimmed, error) {
	fields := maps.Clone(s.Fields)
	if s.List {
		fields["command"] = append([]string{s.Command}, s.Args...)
	} else {
		fields["command"], fields["args"] = s.Command, s.Args
	}
	value, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return l.format(value, indent)
}

// RemoveServer returns the file without the server and without the containers that
// AddServer created. It returns nil if the file is to be removed, and the file unchanged
// if the server runs another program. Errors are those of Inspect.
func RemoveServer(data []byte, s Server) ([]byte, error) {
	if blank(data) {
		return data, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	found, err := doc.server(s)
	if err != nil || found == nil || !found.own {
		return data, err
	}
	doc.dropPath(found.path)
	return doc.left(), nil
}

// InspectServer compares a file with the server that it should have. data is nil if there
// is no file. Errors are ErrForeign and those of Inspect.
func InspectServer(data []byte, s Server) (Report, error) {
	if blank(data) {
		return Report{State: Absent}, nil
	}
	doc, err := parse(data)
	if err != nil {
		return Report{}, err
	}
	found, err := doc.server(s)
	switch {
	case err != nil || found == nil:
		return Report{State: Absent}, err
	case !found.own:
		runs := "no program"
		if found.program != "" {
			runs = strconv.Quote(found.program)
		}
		return Report{}, fmt.Errorf("%v: %w: %s runs %s", found.position, ErrForeign, pointer(append(slices.Clone(s.Path), serverName)), runs)
	case found.program != s.Command:
		return Report{State: Outdated, Why: []string{fmt.Sprintf("MCP server: runs %s, want %s", found.program, s.Command)}}, nil
	}
	return Report{State: Installed}, nil
}

// foundServer is an entry with our server's name in a file.
type foundServer struct {
	call
	own      bool // it runs this program's server
	path     []place
	position jsonx.Position
}

// server returns the entry with our server's name, nil if there is none.
func (d document) server(s Server) (*foundServer, error) {
	at, found := d.top, &foundServer{}
	names := append(slices.Clone(s.Path), serverName)
	for i, name := range names {
		j := at.index(name)
		if j < 0 {
			return nil, nil
		}
		found.path = append(found.path, place{at, j})
		inner, err := d.object(at.Members[j].Value, pointer(names[:i+1]))
		if err != nil {
			return nil, err
		}
		at, found.position = inner, d.position(at.Members[j].Value)
	}
	found.program, _ = at.text("command")
	found.args = textsOf(at.member("args"))
	if words := textsOf(at.member("command")); len(words) > 0 {
		found.program, found.args = words[0], words[1:]
	}
	found.own = len(found.args) > 0 && found.args[0] == s.Args[0] && s.hook().isProgram(found.program)
	return found, nil
}

// textsOf returns the texts of an array; other elements are empty.
func textsOf(v hujson.ValueTrimmed) (texts []string) {
	if all, ok := v.(*hujson.Array); ok {
		for i := range all.Elements {
			one, _ := text(all.Elements[i].Value)
			texts = append(texts, one)
		}
	}
	return texts
}

func pointer(names []string) string {
	var p jsontext.Pointer
	for _, name := range names {
		p = p.AppendToken(name)
	}
	return string(p)
}
