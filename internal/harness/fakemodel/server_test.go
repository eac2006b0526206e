package fakemodel

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func start(t *testing.T, s Script) *Server {
	t.Helper()
	m, err := Start(s)
	require.NoError(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

// ask sends a request as the client does; body lacks the outer braces.
func ask(t *testing.T, m *Server, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, m.URL()+"/v1/messages?beta=true", strings.NewReader("{"+body+"}"))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return do(t, http.DefaultClient, req)
}

func do(t *testing.T, c *http.Client, req *http.Request) (int, string) {
	t.Helper()
	resp, err := c.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(got)
}

const (
	tools = `"model": "m", "max_tokens": 100, "tools": [{"name": "Bash"}, {"name": "TaskList", "defer_loading": true}], `
	hello = tools + `"messages": [{"role": "user", "content": "hello"}]`
)

// TestTheAnswer whole and streamed, with the ids of calls as ID.
func TestTheAnswer(t *testing.T) {
	m := start(t, Script{Main: []Turn{Do(Text("first"), Bash("b1", "ls")), Do(Text("first"), TaskList("l1"))}})
	answer := func(body string) string {
		code, text := ask(t, m, body)
		require.Equal(t, http.StatusOK, code)
		r := m.Record()
		assert.Equal(t, "b1", r.Name(r.prefix+"b1"))
		return strings.ReplaceAll(text, r.prefix, "ID:")
	}
	assert.Equal(t, `{"content":[{"text":"first","type":"text"},`+
		`{"id":"ID:b1","input":{"command":"ls","description":"run b1"},"name":"Bash","type":"tool_use"}],`+
		`"id":"msg_fake_1","model":"m","role":"assistant","stop_reason":"tool_use","stop_sequence":null,"type":"message",`+
		`"usage":{"input_tokens":10,"output_tokens":5}}`, answer(hello))
	assert.Equal(t, `event: message_start
data: {"message":{"content":[],"id":"msg_fake_2","model":"m","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"input_tokens":10,"output_tokens":5}},"type":"message_start"}

event: content_block_start
data: {"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}

event: content_block_delta
data: {"delta":{"text":"first","type":"text_delta"},"index":0,"type":"content_block_delta"}

event: content_block_stop
data: {"index":0,"type":"content_block_stop"}

event: content_block_start
data: {"content_block":{"id":"ID:l1","input":{},"name":"TaskList","type":"tool_use"},"index":1,"type":"content_block_start"}

event: content_block_delta
data: {"delta":{"partial_json":"{}","type":"input_json_delta"},"index":1,"type":"content_block_delta"}

event: content_block_stop
data: {"index":1,"type":"content_block_stop"}

event: message_delta
data: {"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"input_tokens":10,"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

`, answer(`"stream": true, `+hello))
}

// TestTurnsAndFaults: what a script answers to requests, and what it finds wrong with them.
func TestTurnsAndFaults(t *testing.T) {
	prompt := func(text string) string { return tools + `"messages": [{"role": "user", "content": "` + text + `"}]` }
	type asked struct{ body, agent, answer string } // agent is the header of a subagent
	for name, c := range map[string]struct {
		script Script
		asked  []asked
		faults []string
	}{
		"text alone ends the turn": {Script{Main: []Turn{Say("bye")}}, []asked{{hello, "", `"stop_reason":"end_turn"`}}, nil},
		"a turn sees the request": {Script{Main: []Turn{func(r *Request) []Block { return []Block{Text("you said " + r.News())} }}},
			[]asked{{hello, "", "you said hello"}}, nil},
		"turns come in order and end, which is a fault once": {Script{Main: []Turn{Say("one"), Say("two")}},
			[]asked{{hello, "", "one"}, {hello, "", "two"}, {hello, "", "invalid_request_error"}, {hello, "", "invalid_request_error"}},
			[]string{"the script of the main conversation has only 2 turns, and the client requested another"}},
		"unused turns": {Script{Main: []Turn{Say("one"), Say("two")}, Agents: map[string][]Turn{"idle": {Say("never")}}},
			[]asked{{hello, "", "one"}}, []string{"the script of the main conversation has 2 turns, and the client requested 1",
				`the script of subagent "idle" has 1 turns, and the client requested 0`}},
		"each subagent begins at the beginning of its script, which is that of the longest key": {
			Script{Main: []Turn{Say("main")}, Agents: map[string][]Turn{"look": {Say("looked"), Say("again")}, "look closer": {Say("close")}}},
			[]asked{{prompt("please look"), "a1", "looked"}, {prompt("please look"), "a2", "looked"}, {prompt("please look"), "a1", "again"},
				{prompt("please look closer"), "a3", "close"}, {prompt("sing"), "a4", `no script for the subagent whose prompt is \"sing\"`},
				{hello, "", "main"}},
			[]string{`no script for the subagent whose prompt is "sing"`, `the script of subagent "look" has 2 turns, and the client requested 1`}},
		"a subagent without the header": {Script{Agents: map[string][]Turn{"look": {Say("looked")}}},
			[]asked{{`"system": [{"type": "text", "text": "cc_is_subagent=true;"}], ` + prompt("look"), "", "looked"}}, nil},
		"a request that cannot be read": {Script{}, []asked{{`"messages": 7`, "", "invalid_request_error"}}, []string{"unreadable request"}},
	} {
		m := start(t, c.script)
		for _, a := range c.asked {
			var headers []string
			if a.agent != "" {
				headers = []string{agentHeader, a.agent}
			}
			code, body := ask(t, m, a.body, headers...)
			assert.Contains(t, body, a.answer, name)
			assert.Equal(t, strings.Contains(body, "invalid_request_error"), code == http.StatusBadRequest, name)
		}
		faults := m.Record().Faults()
		require.Len(t, faults, len(c.faults), "%s: %q", name, faults)
		for i, fault := range faults {
			assert.Contains(t, fault, c.faults[i], name)
		}
	}
}

func TestSideRequestsUseNoTurn(t *testing.T) {
	m := start(t, Script{Main: []Turn{Say("one")}})
	summary := `"messages": [{"role": "user", "content": "Your task is to create a detailed summary of the conversation so far"}]`

	_, title := ask(t, m, `"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "name this"}]`)
	_, quota := ask(t, m, `"model": "m", "max_tokens": 1, "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": "quota"}]`)
	_, compacted := ask(t, m, tools+summary)
	_, scripted := ask(t, m, hello)

	assert.Contains(t, title, "title")
	assert.NotContains(t, quota, "one")
	assert.Contains(t, compacted, "<summary>")
	assert.Contains(t, scripted, "one")
	var kinds []Kind
	for _, x := range m.Record().Exchanges() {
		kinds = append(kinds, x.Kind)
	}
	assert.Equal(t, []Kind{Side, Side, Compaction, Main}, kinds)
	assert.Empty(t, m.Record().Faults())
}

func TestNothingLeavesTheMachine(t *testing.T) {
	m := start(t, Script{})
	proxy, err := url.Parse(m.URL())
	require.NoError(t, err)
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	defer transport.CloseIdleConnections()
	c := &http.Client{Transport: transport}

	_, err = c.Get("https://api.example.com/")
	assert.ErrorContains(t, err, "Forbidden")
	req, err := http.NewRequest(http.MethodGet, "http://plain.example.com/x", nil)
	require.NoError(t, err)
	code, _ := do(t, c, req)
	assert.Equal(t, http.StatusForbidden, code)

	assert.Equal(t, []string{
		"the client tried to reach CONNECT api.example.com:443",
		"the client tried to reach GET plain.example.com",
	}, m.Record().Faults())
}

func TestOtherRequestsAreAnswered(t *testing.T) {
	m := start(t, Script{})

	req, err := http.NewRequest(http.MethodPost, m.URL()+"/v1/messages/count_tokens", strings.NewReader("{}"))
	require.NoError(t, err)
	code, count := do(t, http.DefaultClient, req)
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, count, "input_tokens")

	req, err = http.NewRequest(http.MethodGet, m.URL()+"/v1/models", nil)
	require.NoError(t, err)
	code, other := do(t, http.DefaultClient, req)
	assert.Equal(t, http.StatusOK, code)
	assert.True(t, jsontext.Value(other).IsValid())
	assert.Equal(t, []string{"GET /v1/models"}, m.Record().others)
	assert.Empty(t, m.Record().Faults())
}
