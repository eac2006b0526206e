package fuzz_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
)

// FuzzMCP sends any lines to the MCP server, and then a ping. Each line of output is a message, no request is answered twice,
// and the ping is answered: no line ends the session. Without a call of a tool nothing in the list changes.
func FuzzMCP(f *testing.F) {
	call := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	}
	seed(f,
		call("workflow_status", `{}`), call("step_start", `{"step":1}`), call("step_complete", `{"step":1,"outcome":"c"}`)+"\n"+
			call("step_start", "{}"),
		call("step_complete", `{"step":"1","values":{"v":1e400},"note":"\ud800"}`), call("workflow_begin", `{"skill":"/nowhere"}`),
		call("step_skip", `{"step":1}`), call("nothing", `null`), call("step_start", `[1]`), `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"workflow://current"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"work","arguments":{"skill":5}}}`, `[{"jsonrpc":"2.0"}]`, `{"id":1}`, "",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, "\xff",
		`{`, `null`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","method":"tools/call"}`,
	)
	const (
		first = `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"c","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
		last = "\n" + `{"jsonrpc":"2.0","id":"last","method":"ping"}` + "\n"
	)
	f.Fuzz(func(t *testing.T, lines []byte) {
		skipIfTooLong(t, lines)
		if bytes.Contains(lines, []byte("last")) || bytes.Contains(lines, []byte(`\u`)) {
			return // of the ids that tell requests apart
		}
		h := newHome(t)
		h.write(".claude/skills/skill/fsm.json", []byte(`{"fsm": 2, "steps": [{"id": 1, "subject": "a", "outcomes": ["c", "d"]}, {"id": 2, `+
			`"subject": "b", "blockedBy": [1], "set": {"v": "[0-9]+"}}]}`))
		h.who = func() caller.Caller { return caller.Caller{Kind: caller.Agent, Program: caller.Claude} }
		_, err := h.hydrate()
		require.NoError(t, err)
		before := h.tree(list)
		h.in = first + string(lines) + last
		code, out, errs := h.run("mcp", "--list", "s")
		require.Zero(t, code, errs)
		require.Empty(t, errs)
		answered := map[string]int{}
		for line := range strings.Lines(out) {
			m := members([]byte(line))
			require.Equal(t, `"2.0"`, string(m["jsonrpc"]), line)
			if m["result"] != nil || m["error"] != nil {
				answered[string(m["id"])]++
			} else {
				require.NotNil(t, m["method"], line)
			}
		}
		require.Equal(t, 1, answered[`"first"`], out)
		require.Equal(t, 1, answered[`"last"`], out)
		for id, n := range answered {
			if id != "null" {
				require.LessOrEqual(t, n, strings.Count(h.in, strings.Trim(id, `"`)), "%s in %s", id, out)
			}
		}
		if !bytes.Contains(lines, []byte("tools/call")) {
			require.Equal(t, before, h.tree(list))
		}
	})
}
