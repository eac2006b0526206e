package settings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/settings"
)

var (
	userServer  = settings.Server{Path: []string{"mcpServers"}, Command: "/opt/bin/fsmtx", Args: []string{"mcp"}}
	localServer = settings.Server{Path: []string{"projects", "/my/project", "mcpServers"}, Command: "/opt/bin/fsmtx", Args: []string{"mcp"}}
)

// TestAddServerWritesWhatTheClientWrites: the expected file is that of "claude mcp add".
func TestAddServerWritesWhatTheClientWrites(t *testing.T) {
	with := must(settings.AddServer([]byte("{\n  \"mcpServers\": {\n    \"other\": {}\n  }\n}"), userServer))
	assert.Equal(t, `{
  "mcpServers": {
    "other": {},
    "fsmtx": {
      "type": "stdio",
      "command": "/opt/bin/fsmtx",
      "args": [
        "mcp"
      ],
      "env": {}
    }
  }
}`, string(with))
	with = must(settings.AddServer(nil, localServer))
	assert.JSONEq(t, `{"projects": {"/my/project": {"mcpServers": {"fsmtx": {"type": "stdio", "command": "/opt/bin/fsmtx", `+
		`"args": ["mcp"], "env": {}}}}}}`,
		string(with))
	assert.Nil(t, must(settings.RemoveServer(with, localServer)))
}

func TestAddServerThenRemoveServerRestoresTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]settings.Server{userServer, localServer}).Draw(t, "server")
		before := settingsFile().Draw(t, "file")
		if rapid.Bool().Draw(t, "there") {
			g := drawer{t: t, layout: layouts.Draw(t, "layout")}
			inner := g.wrap("{", []string{g.member("other", g.value(1))}[:rapid.IntRange(0, 1).Draw(t, "others")], "}")
			for i := len(s.Path) - 1; i >= rapid.IntRange(0, len(s.Path)-1).Draw(t, "from"); i-- {
				inner = g.wrap("{", []string{g.member(s.Path[i], inner)}, "}")
			}
			before = g.space() + inner + g.space()
		}
		with := must(settings.AddServer([]byte(before), s))
		require.Equal(t, settings.Report{State: settings.Installed}, must(settings.InspectServer(with, s)))
		require.Equal(t, string(with), string(must(settings.AddServer(with, s))))
		require.Equal(t, before, string(must(settings.RemoveServer(with, s))))

		moved := s
		moved.Command = "/new/fsmtx"
		require.Equal(t, []string{"MCP server: runs /opt/bin/fsmtx, want /new/fsmtx"}, must(settings.InspectServer(with, moved)).Why)
		require.Equal(t, before, string(must(settings.RemoveServer(must(settings.AddServer(with, moved)), s))))
	})
}

func TestServerOfAnotherProgramIsKept(t *testing.T) {
	for entry, runs := range map[string]string{
		`{"command": "/usr/bin/other", "args": ["mcp"]}`: `runs "/usr/bin/other"`, `{"command": "fsmtx", "args": ["serve"]}`: `runs "fsmtx"`,
		`{"url": "http://localhost"}`: "runs no program", `{}`: "runs no program",
	} {
		data := []byte(fmt.Sprintf(`{"mcpServers": {"fsmtx": %s}}`, entry))
		_, err := settings.AddServer(data, userServer)
		require.ErrorIs(t, err, settings.ErrForeign)
		require.ErrorContains(t, err, "1:26: ")
		_, err = settings.InspectServer(data, userServer)
		require.ErrorIs(t, err, settings.ErrForeign)
		require.ErrorContains(t, err, runs)
		assert.Equal(t, string(data), string(must(settings.RemoveServer(data, userServer))))
	}
	for data, want := range map[string]string{
		`{"mcpServers": []}`:                          "1:16: unexpected settings: /mcpServers: got an array, want an object",
		`{"mcpServers": {"fsmtx": 1}}`:                "1:26: unexpected settings: /mcpServers/fsmtx: got a number, want an object",
		`{"projects": {"/my/project": null}}`:         "1:30: unexpected settings: /projects/~1my~1project: got null, want an object",
		`{"projects": {"/my/project": {"mcpServers"}`: "not valid JSON",
	} {
		s := userServer
		if data[2] == 'p' {
			s = localServer
		}
		_, err := settings.AddServer([]byte(data), s)
		require.ErrorContains(t, err, want)
		_, err = settings.RemoveServer([]byte(data), s)
		require.ErrorContains(t, err, want)
	}
}

// TestServersOfOtherAgents have the fields of their agent, and no environment of ours.
func TestServersOfOtherAgents(t *testing.T) {
	for want, s := range map[string]settings.Server{
		`{"mcp": {"fsmtx": {"command": ["/opt/bin/fsmtx", "mcp", "-v"], "enabled": true, "type": "local"}}}`: {
			Fields: map[string]any{"type": "local",
				"enabled": true}, List: true},
		`{"mcp": {"fsmtx": {"command": "/opt/bin/fsmtx", "args": ["mcp", "-v"], "trust": false}}}`: {Fields: map[string]any{"trust": false}},
		`{"mcp": {"fsmtx": {"command": "/opt/bin/fsmtx", "args": ["mcp", "-v"]}}}`:                 {Fields: map[string]any{}},
	} {
		s.Path, s.Command, s.Args = []string{"mcp"}, "/opt/bin/fsmtx", []string{"mcp", "-v"}
		with := must(settings.AddServer(nil, s))
		assert.JSONEq(t, want, string(with))
		assert.Equal(t, settings.Installed, must(settings.InspectServer(with, s)).State)
		assert.Nil(t, must(settings.RemoveServer(with, s)))
	}
}

// TestAServerKeepsWhatWasAddedToIt: only the program changes, in either form.
func TestAServerKeepsWhatWasAddedToIt(t *testing.T) {
	for before, list := range map[string]bool{
		`{"mcpServers": {"fsmtx": {"command": "/old/fsmtx", "args": ["mcp"], "trust": true, "env": {"A": "1"}}, "other": {}}}`: false,
		`{"mcpServers": {"fsmtx": {"type": "local", "command": ["/old/fsmtx", "mcp"], "timeout": 5}}}`:                         true,
		`{"mcpServers": {"fsmtx": {"command": ["/old/fsmtx", "mcp", "--checks", "off"], "timeout": 5}}}`:                       true,
		`{"mcpServers": {"fsmtx": {"command": "/old/fsmtx", "args": ["mcp", "--checks", "off"], "trust": true}}}`:              false,
	} {
		s := settings.Server{Path: []string{"mcpServers"}, Command: "/new/bin/fsmtx", Args: []string{"mcp"}, Fields: map[string]any{}, List: list}
		assert.Equal(t, strings.Replace(before, "/old/fsmtx", "/new/bin/fsmtx", 1), string(must(settings.AddServer([]byte(before), s))))
	}
}
