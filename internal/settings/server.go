package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Server is the entry of this program's MCP server in a configuration file of the
// client. It is added and removed like a hook.
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

// path returns the names that lead to the server.
func (s Server) path() []string { return append(slices.Clip(s.Path), serverName) }

// AddServer returns the file with the server. data is nil if there is no file. Of a server that runs an older program only
// the program changes: further arguments and its environment are the user's. It returns
// ErrForeign if the file has a server with that name that runs another program, or an
// error of Inspect.
func AddServer(data []byte, s Server) ([]byte, error) {
	report, err := InspectServer(data, s)
	if err != nil || report.State == Installed {
		return data, err
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	if report.State == Absent {
		if err := doc.insert(s.path(), s.value(), false); err != nil {
			return nil, err
		}
		return doc.pack(), nil
	}
	found, err := doc.server(s)
	if err != nil {
		return nil, err
	}
	command := found.object.Members[index(found.object, "command")].Value
	if words, is := command.Value.(*hujson.Array); is {
		command = words.Elements[0]
	}
	err = doc.apply(splice{command.StartOffset, command.EndOffset, string(hujson.String(s.Command))})
	return doc.pack(), err
}

// value returns the server in the form that the agent itself writes, so that it has no reason to rewrite it.
func (s Server) value() any {
	if s.Fields == nil {
		return struct {
			Type    string            `json:"type"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		}{"stdio", s.Command, s.Args, nil}
	}
	fields := maps.Clone(s.Fields)
	if s.List {
		fields["command"] = append([]string{s.Command}, s.Args...)
	} else {
		fields["command"], fields["args"] = s.Command, s.Args
	}
	return fields
}

// RemoveServer returns the file without the server and without the containers that
// are empty then. It returns nil if nothing is left, and the file unchanged
// if the server runs another program. Errors are those of Inspect.
func RemoveServer(data []byte, s Server) ([]byte, error) {
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	found, err := doc.server(s)
	if err != nil || found == nil || !found.own {
		return data, err
	}
	err = doc.drop(s.path()...)
	return doc.pack(), err
}

// InspectServer compares a file with the server that it should have. data is nil if there
// is no file. Errors are ErrForeign and those of Inspect.
func InspectServer(data []byte, s Server) (Report, error) {
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
		return Report{}, fmt.Errorf("%v: %w: %s runs %s", found.position, ErrForeign, pointer(s.path()), runs)
	case found.program != s.Command:
		return Report{State: Outdated, Why: []string{fmt.Sprintf("MCP server: runs %s, want %s", found.program, s.Command)}}, nil
	}
	return Report{State: Installed}, nil
}

// foundServer is an entry with our server's name in a file.
type foundServer struct {
	program  string
	own      bool // it runs this program's server
	object   *hujson.Object
	position jsonx.Position
}

// server returns the entry with our server's name, nil if there is none.
func (d *document) server(s Server) (*foundServer, error) {
	found := &foundServer{object: d.top}
	for i, name := range s.path() {
		j := index(found.object, name)
		if j < 0 {
			return nil, nil
		}
		value := found.object.Members[j].Value
		inner, err := d.object(value, pointer(s.path()[:i+1]))
		if err != nil {
			return nil, err
		}
		found.object, found.position = inner, d.position(value)
	}
	found.program, _ = text(member(found.object, "command"))
	args, _ := textsOf(member(found.object, "args"))
	if words, is := textsOf(member(found.object, "command")); is && len(words) > 0 {
		found.program, args = words[0], words[1:]
	}
	found.own = len(args) > 0 && args[0] == s.Args[0] && Hook{Command: s.Command}.isProgram(found.program)
	return found, nil
}
