package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// Server is this program's MCP server as a configuration file of the client has it. It is
// added and removed by the rules of the hooks: everything else keeps every byte, and
// containers that were created for it go with it.
//
// Measured with "claude mcp add" of 2.1.329 (fact 90 of docs/client-facts.md).
type Server struct {
	Path    []string // names of the objects that lead to it, such as mcpServers
	Command string
	Args    []string
}

// serverName is the name of the server, with which its tools begin.
const serverName = Program

func (s Server) hook() Hook { return Hook{Command: s.Command, Args: s.Args} }

// AddServer returns the file with the server. data is nil if there is no file. A server
// of that name that runs another program is ErrForeign. Other errors are those of
// Inspect.
func AddServer(data []byte, s Server) ([]byte, error) {
	report, err := InspectServer(data, s)
	if err != nil {
		return nil, err
	}
	if report.State == Installed {
		return data, nil
	}
	rest, err := RemoveServer(data, s)
	if err != nil {
		return nil, err
	}
	out, err := s.put(rest)
	if err != nil || rest != nil {
		return out, err
	}
	return withDirs(out, CreatedDirs(data)), nil
}

func (s Server) put(data []byte) ([]byte, error) {
	created := blank(data)
	if created {
		data = begin(data)
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	l := layoutOf(doc.top, data)
	n := node{list: doc.top, created: created}
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
	o := n.list.(object)
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(serverName)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	})
	return doc.pack(), nil
}

// server returns the server in the form in which the client itself writes it, which the
// client does not rewrite then.
func (l layout) server(s Server, indent string) (hujson.ValueTrimmed, error) {
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

// RemoveServer returns the file without the server and without the containers that
// AddServer created, nil if that leaves no file. Errors are those of Inspect.
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

// InspectServer compares a file with the server that it should hold. data is nil if there
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
		return Report{}, fmt.Errorf("%w: %s runs %q", ErrForeign, pointer(append(slices.Clone(s.Path), serverName)), found.program)
	case found.program != s.Command:
		return Report{State: Outdated, Why: []string{fmt.Sprintf("MCP server: runs %s, want %s", found.program, s.Command)}}, nil
	case !slices.Equal(found.args, s.Args):
		return Report{State: Outdated, Why: []string{fmt.Sprintf("MCP server: has arguments %q, want %q", strings.Join(found.args, " "), strings.Join(s.Args, " "))}}, nil
	}
	return Report{State: Installed}, nil
}

// foundServer is a server of our name as a file has it.
type foundServer struct {
	call
	own  bool
	path []place
}

// server returns the server of our name, nil if there is none.
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
		at = inner
	}
	found.program, _ = at.text("command")
	if args, ok := at.member("args").(*hujson.Array); ok {
		for i := range args.Elements {
			arg, _ := text(args.Elements[i].Value)
			found.args = append(found.args, arg)
		}
	}
	found.own = len(found.args) > 0 && found.args[0] == s.Args[0] && s.hook().isProgram(found.program)
	return found, nil
}

func pointer(names []string) string {
	var p jsontext.Pointer
	for _, name := range names {
		p = p.AppendToken(name)
	}
	return string(p)
}
