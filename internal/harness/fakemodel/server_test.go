package fakemodel

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
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

type message struct {
	ID         string
	Type       string
	Role       string
	Model      string
	StopReason string   `json:"stop_reason"`
	Content    Contents `json:"content"`
}

func TestWholeAnswer(t *testing.T) {
	m := start(t, Script{Main: []Turn{Do(Text("first"), Bash("b1", "ls"))}})

	code, body := ask(t, m, hello)

	require.Equal(t, http.StatusOK, code)
	var got message
	require.NoError(t, json.Unmarshal([]byte(body), &got, json.MatchCaseInsensitiveNames(true)))
	assert.Equal(t, "message", got.Type)
	assert.Equal(t, "assistant", got.Role)
	assert.Equal(t, "m", got.Model)
	assert.Equal(t, "tool_use", got.StopReason)
	require.Len(t, got.Content, 2)
	assert.Equal(t, "first", got.Content[0].Text)
	assert.Equal(t, "b1", m.Record().Name(got.Content[1].ID))
	assert.NotEqual(t, "b1", got.Content[1].ID, "unique in the session")
	assert.Equal(t, "Bash", got.Content[1].Name)
	assert.JSONEq(t, `{"command": "ls", "description": "run b1"}`, string(got.Content[1].Input))
}

type streamed struct {
	event string
	data  struct {
		Type         string
		Index        int
		Message      message
		ContentBlock Content `json:"content_block"`
		Delta        struct {
			Type        string
			Text        string
			PartialJSON string `json:"partial_json"`
			StopReason  string `json:"stop_reason"`
		}
	}
}

func events(t *testing.T, body string) []streamed {
	t.Helper()
	var all []streamed
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		var e streamed
		e.event = strings.TrimPrefix(lines.Text(), "event: ")
		require.True(t, lines.Scan(), "an event without data")
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		require.True(t, ok, lines.Text())
		require.NoError(t, json.Unmarshal([]byte(data), &e.data, json.MatchCaseInsensitiveNames(true)))
		require.True(t, lines.Scan() && lines.Text() == "", "an event ends with an empty line")
		all = append(all, e)
	}
	return all
}

func TestStreamedAnswer(t *testing.T) {
	m := start(t, Script{Main: []Turn{Do(Text("first"), TaskList("l1"))}})

	code, body := ask(t, m, `"stream": true, `+hello)

	require.Equal(t, http.StatusOK, code)
	got := events(t, body)
	var names []string
	for _, e := range got {
		assert.Equal(t, e.event, e.data.Type)
		names = append(names, e.event)
	}
	require.Equal(t, []string{
		"message_start",
		"content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop",
		"message_delta", "message_stop",
	}, names)
	assert.Empty(t, got[0].data.Message.StopReason)
	assert.Equal(t, "text", got[1].data.ContentBlock.Type)
	assert.Equal(t, "first", got[2].data.Delta.Text)
	assert.Equal(t, 1, got[4].data.Index)
	assert.Equal(t, "l1", m.Record().Name(got[4].data.ContentBlock.ID))
	assert.Equal(t, "TaskList", got[4].data.ContentBlock.Name)
	assert.Equal(t, "{}", got[5].data.Delta.PartialJSON)
	assert.Equal(t, "tool_use", got[7].data.Delta.StopReason)
}

func TestTextAloneEndsTheTurn(t *testing.T) {
	m := start(t, Script{Main: []Turn{Say("bye")}})

	_, body := ask(t, m, hello)

	assert.Contains(t, body, `"stop_reason":"end_turn"`)
}

func TestTurnsComeInOrderAndEnd(t *testing.T) {
	m := start(t, Script{Main: []Turn{Say("one"), Say("two")}})

	_, one := ask(t, m, hello)
	_, two := ask(t, m, hello)
	code, three := ask(t, m, hello)
	ask(t, m, hello)

	assert.Contains(t, one, "one")
	assert.Contains(t, two, "two")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, three, "invalid_request_error")
	assert.Equal(t, []string{"the script of the main conversation has only 2 turns, and the client requested another"},
		m.Record().Faults(), "once")
}

func TestUnusedTurnsAreFaults(t *testing.T) {
	m := start(t, Script{
		Main:   []Turn{Say("one"), Say("two")},
		Agents: map[string][]Turn{"idle": {Say("never")}},
	})

	ask(t, m, hello)

	assert.Equal(t, []string{
		"the script of the main conversation has 2 turns, and the client requested 1",
		`the script of subagent "idle" has 1 turns, and the client requested 0`,
	}, m.Record().Faults())
}

func TestTurnSeesTheRequest(t *testing.T) {
	m := start(t, Script{Main: []Turn{func(r *Request) []Block { return []Block{Text("you said " + r.News())} }}})

	_, body := ask(t, m, hello)

	assert.Contains(t, body, "you said hello")
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

func TestSubagentsHaveTheirOwnScripts(t *testing.T) {
	m := start(t, Script{
		Main:   []Turn{Say("main")},
		Agents: map[string][]Turn{"look": {Say("looked"), Say("again")}, "look closer": {Say("close")}},
	})
	agent := func(prompt, id string) string {
		_, body := ask(t, m, tools+`"messages": [{"role": "user", "content": "`+prompt+`"}]`, agentHeader, id)
		return body
	}

	assert.Contains(t, agent("please look", "a1"), "looked")
	assert.Contains(t, agent("please look", "a2"), "looked", "another agent starts from the start")
	assert.Contains(t, agent("please look", "a1"), "again")
	assert.Contains(t, agent("please look closer", "a3"), "close", "the longest key wins")
	assert.Contains(t, agent("sing", "a4"), `no script for the subagent whose prompt is \"sing\"`)
	_, main := ask(t, m, hello)
	assert.Contains(t, main, "main")

	faults := m.Record().Faults()
	require.Len(t, faults, 2, "%q", faults)
	assert.Contains(t, faults[1], `subagent "look" has 2 turns, and the client requested 1`)
}

func TestSubagentIsKnownWithoutTheHeader(t *testing.T) {
	m := start(t, Script{Agents: map[string][]Turn{"look": {Say("looked")}}})

	_, body := ask(t, m, tools+`"system": [{"type": "text", "text": "cc_is_subagent=true;"}], `+
		`"messages": [{"role": "user", "content": "look"}]`)

	assert.Contains(t, body, "looked")
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

func TestUnreadableRequestIsAFault(t *testing.T) {
	m := start(t, Script{})

	code, _ := ask(t, m, `"messages": 7`)

	assert.Equal(t, http.StatusBadRequest, code)
	require.Len(t, m.Record().Faults(), 1)
	assert.Contains(t, m.Record().Faults()[0], "unreadable request")
}
