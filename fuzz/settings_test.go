package fuzz_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// FuzzSettings adds the hooks to any settings file and removes them. Then the file is as it was. A file
// that cannot be edited safely is refused.
func FuzzSettings(f *testing.F) {
	hooks := settings.Hooks("/opt/bin/fsmtx", nil, settings.Duty{})
	whole := must(settings.Add(nil, settings.WithTaskTools(hooks, true)))
	seed(f,
		`{}`, "{\n}\n", `{"hooks":{}}`, `{"hooks":{"PostToolUse":[]}}`, `{"hooks":{"PostToolUse":[{"matcher":"Skill","hooks":[]}]}}`,
		"{\r\n\t\"a\": [1 ]\r\n}", `{"a":1,}`, `{"a":1,"a":2}`, "{\n  // mine\n}",
		` {"h\u006foks" : { "Stop" : [ { "hooks" : [ ] } ] } , "é" : "\ud800" } `,
		`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"fsmtx","args":["hook","--agent=claude"]}]}],`+
			`"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"fsmtx hook --agent=claude"}]}]}}`,
		`{"env":{}}`, `{"env":{"CLAUDE_CODE_ENABLE_TODO_TOOLS":"1"}}`, `{"env":[]}`,
		`{"hooks":1}`, `[]`, ``, "\ufeff{}", string(whole),
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte{}, data...) // nil would be a missing file
		variable, err := settings.Variable(bytes.Clone(data), hooks)
		ours := settings.WithTaskTools(hooks, err == nil && (variable.Ours || !variable.Set))
		report, err := settings.Inspect(bytes.Clone(data), ours)
		with, addErr := settings.Add(bytes.Clone(data), ours)
		require.Equal(t, err == nil, addErr == nil, "%v, %v", err, addErr)
		if err != nil {
			require.True(t, errors.Is(err, settings.ErrNotJSON) || errors.Is(err, jsontext.ErrDuplicateName) ||
				errors.Is(err, settings.ErrShape), "%v", err)
			require.Regexp(t, `^[1-9][0-9]*:[1-9][0-9]*: `, err.Error())
			return
		}
		mark := []byte("\ufeff") // the client accepts a byte order mark, which is not JSON
		if settings.Strict(data) == nil {
			require.True(t, jsontext.Value(bytes.TrimPrefix(with, mark)).IsValid(jsontext.AllowInvalidUTF8(true)))
		}
		require.Equal(t, settings.Installed, must(settings.Inspect(bytes.Clone(with), ours)).State)
		require.Equal(t, string(with), string(must(settings.Add(bytes.Clone(with), ours))), "adding twice is adding once")

		without := must(settings.Remove(bytes.Clone(with), ours))
		if report.State == settings.Absent {
			require.Equal(t, string(data), string(without))
			return
		}
		requireAlike(t, must(settings.Remove(bytes.Clone(data), ours)), without)
	})
}

// FuzzServer adds the MCP server to any file of the client and removes it. Then the file is as it was. A file that
// cannot be edited safely is refused.
func FuzzServer(f *testing.F) {
	servers := []settings.Server{
		{Path: []string{"mcpServers"}, Command: "/opt/bin/fsmtx", Args: []string{"mcp"}},
		{Path: []string{"projects", "/p", "mcpServers"}, Command: "/opt/bin/fsmtx", Args: []string{"mcp"}},
	}
	for _, seed := range []string{
		`{}`, "{\n}\n", `{"mcpServers":{}}`, `{"projects": {"/p": { "mcpServers" : {"x": {}}}}}`,
		`{"mcpServers":{"fsmtx":{"command":"fsmtx","args":["mcp"]}}}`,
		`{"mcpServers":{"fsmtx":{"command":"other"}}}`, `{"mcpServers":[]}`, `{"projects":{"/p":1}}`, `[]`, ``,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, local bool) {
		data = append([]byte{}, data...) // nil would be a missing file
		s := servers[0]
		if local {
			s = servers[1]
		}
		report, err := settings.InspectServer(bytes.Clone(data), s)
		with, addErr := settings.AddServer(bytes.Clone(data), s)
		require.Equal(t, err == nil, addErr == nil, "%v, %v", err, addErr)
		if err != nil {
			return
		}
		require.Equal(t, settings.Installed, must(settings.InspectServer(bytes.Clone(with), s)).State)
		without := must(settings.RemoveServer(bytes.Clone(with), s))
		if report.State == settings.Absent {
			require.Equal(t, string(data), string(without))
		}
	})
}

// requireAlike fails unless two files say the same.
func requireAlike(t *testing.T, before, after []byte) {
	t.Helper()
	require.Equal(t, files.Members(t, before), files.Members(t, after), "%q has become %q", before, after)
}
