package fakemodel

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOtherForms: a call, its result and the end of a conversation, as each agent sends them.
func TestOtherForms(t *testing.T) {
	for name, c := range map[string]struct {
		path        string
		first, then string // requests; ID stands for that of the call
		call, end   string // parts of the answers
	}{
		"chat completions, streamed": {"/v1/chat/completions",
			`{"stream": true, "model": "m", "messages": [{"role": "system", "content": "be good"}, {"role": "user", "content": [{"type": "text", ` +
				`"text": "hello"}]}], "tools": [{"type": "function", "function": {"name": "Bash"}}]}`,
			`{"stream": true, "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": null, ` +
				`"tool_calls": [{"id": "ID", "function": {"name": "Bash", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "ID", ` +
				`"content": "output"}], "tools": [{"function": {"name": "Bash"}}]}`,
			`"tool_calls":[{"function":{"arguments":"{\"command\":\"ls\",\"description\":\"run ` +
				`b\"}","name":"Bash"},"id":"ID","index":0,"type":"function"}]`,
			"data: [DONE]\n\n"},
		"chat completions, whole": {"/v1/chat/completions",
			`{"messages": [{"role": "user", "content": "hello"}], "tools": [{"function": {"name": "Bash"}}]}`,
			`{"messages": [{"role": "user", "content": "hello"}, {"role": "tool", "tool_call_id": "ID", "content": [{"type": "text", ` +
				`"text": "output"}]}], "tools": [{"function": {"name": "Bash"}}]}`,
			`"finish_reason":"tool_calls"`, `"finish_reason":"stop"`},
		"responses": {"/v1/responses",
			`{"instructions": "be good", "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}], ` +
				`"tools": [{"type": "function", "name": "Bash"}]}`,
			`{"input": [{"role": "user", "content": "hello"}, {"type": "function_call", "call_id": "ID", "name": "Bash", "arguments": "{}"}, ` +
				`{"type": "function_call_output", "call_id": "ID", "output": "output"}], "tools": [{"name": "Bash"}]}`,
			`"call_id":"ID"`, "event: response.completed\n"},
		"gemini, streamed": {"/v1beta/models/m:streamGenerateContent",
			`{"systemInstruction": {"parts": [{"text": "be good"}]}, "contents": [{"role": "user", "parts": [{"text": "hello"}]}], ` +
				`"tools": [{"functionDeclarations": [{"name": "Bash"}]}]}`,
			`{"contents": [{"role": "user", "parts": [{"text": "hello"}]}, {"role": "model", "parts": [{"functionCall": {"id": "ID", ` +
				`"name": "Bash", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"id": "ID", "name": "Bash", ` +
				`"response": {"output": "output"}}}]}], "tools": [{"functionDeclarations": [{"name": "Bash"}]}]}`,
			`"functionCall":{"args":{"command":"ls","description":"run b"},"id":"ID","name":"Bash"}`, `{"text":"bye"}`},
		"gemini, whole": {"/v1beta/models/m:generateContent",
			`{"contents": [{"role": "user", "parts": [{"text": "hello"}]}], "tools": [{"functionDeclarations": [{"name": "Bash"}]}]}`,
			`{"contents": [{"role": "user", "parts": [{"functionResponse": {"id": "ID", "response": {"output": "output"}}}]}], ` +
				`"tools": [{"functionDeclarations": [{"name": "Bash"}]}]}`,
			`"id":"ID"`, `"finishReason":"STOP"`},
	} {
		t.Run(name, func(t *testing.T) {
			m := start(t, Script{Main: []Turn{Do(Bash("b", "ls")), Say("bye")}})
			id := m.Record().prefix + "b"
			post := func(body string) string {
				req, err := http.NewRequest(http.MethodPost, m.URL()+c.path, strings.NewReader(strings.ReplaceAll(body, "ID", id)))
				require.NoError(t, err)
				code, text := do(t, http.DefaultClient, req)
				require.Equal(t, http.StatusOK, code, text)
				return strings.ReplaceAll(text, id, "ID")
			}

			assert.Contains(t, post(c.first), c.call)
			assert.Contains(t, post(c.then), c.end)

			r := m.Record()
			require.Empty(t, r.Faults())
			require.Len(t, r.Exchanges(Main), 2)
			assert.Equal(t, "hello", r.Exchanges(Main)[0].Request.News())
			assert.True(t, r.Exchanges(Main)[0].Request.Offers("Bash"))
			result, ok := r.Result("b")
			require.True(t, ok)
			assert.Contains(t, result.Text, "output")
		})
	}
}

// TestAProxyOfItself: some agents use their proxy for this machine too.
func TestAProxyOfItself(t *testing.T) {
	m := start(t, Script{Main: []Turn{Say("bye")}})
	proxy, err := url.Parse(m.URL())
	require.NoError(t, err)
	transport := &http.Transport{
		Proxy:              http.ProxyURL(proxy),
		ProxyConnectHeader: http.Header{},
	}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}
	// A client tunnels only to an address with https, and this server has no certificate.
	_, err = c.Get(strings.Replace(m.URL(), "http://", "https://", 1))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "Forbidden")
	for _, fault := range m.Record().Faults() {
		assert.NotContains(t, fault, "tried to reach")
	}
}
