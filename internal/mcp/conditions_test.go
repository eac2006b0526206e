package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestTheToolsThatTheClientLoads: their names, what the client may think of them, and that
// each says what it is for.
func TestTheToolsThatTheClientLoads(t *testing.T) {
	list, err := newWorld(t).connect(nil).ListTools(t.Context(), nil)
	require.NoError(t, err)
	reads := map[string]bool{}
	for _, tool := range list.Tools {
		reads[tool.Name] = tool.Annotations.ReadOnlyHint
		assert.NotEmpty(t, tool.Description, tool.Name)
		assert.Equal(t, true, tool.Meta["anthropic/alwaysLoad"], tool.Name)
		assert.Equal(t, tool.Name != "workflow_begin", tool.Annotations.IdempotentHint, tool.Name)
		assert.False(t, *tool.Annotations.DestructiveHint, tool.Name)
		assert.False(t, *tool.Annotations.OpenWorldHint, tool.Name)
	}
	assert.Equal(t, map[string]bool{"workflow_status": true, "workflow_begin": false, "workflow_continue": false, "step_start": false,
		"step_complete": false, "step_skip": false}, reads)
}

// TestWhichClientsCanAsk: a person can be asked by a form, which a client has that names it
// or that names no way at all.
func TestWhichClientsCanAsk(t *testing.T) {
	form, url := new(mcp.FormElicitationCapabilities), new(mcp.URLElicitationCapabilities)
	for name, c := range map[string]struct {
		elicitation *mcp.ElicitationCapabilities
		can         bool
	}{
		"no way":         {nil, false},
		"any way":        {&mcp.ElicitationCapabilities{}, true},
		"a form":         {&mcp.ElicitationCapabilities{Form: form}, true},
		"a page":         {&mcp.ElicitationCapabilities{URL: url}, false},
		"a form or page": {&mcp.ElicitationCapabilities{Form: form, URL: url}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hydrate("s1", workflow.Step{Approval: "Good?"})
			var asked []string
			options := answering("accept", &asked)
			options.Capabilities = &mcp.ClientCapabilities{Elicitation: c.elicitation}
			if c.elicitation == nil {
				options.ElicitationHandler = nil
			}
			text, isError := w.connect(options).call("step_complete", n(1))
			assert.Equal(t, c.can, !isError, text)
			assert.Equal(t, c.can, len(asked) == 1)
		})
	}
}

// TestStepsWithTwoDigits: a step is found by its number.
func TestStepsWithTwoDigits(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{ID: 11, Subject: "Eleven"}, workflow.Step{ID: 12, Subject: "Twelve"})
	w.connect(nil).does("step_start", n(12))
	assert.Equal(t, "in_progress", w.status("s1", 12))
	assert.Equal(t, "pending", w.status("s1", 11))
}

// TestProgressOfChecksOnly: there is none for a call without a token, for another update than
// a completion, and for a step without a check. A notification would fail without a session.
func TestProgressOfChecksOnly(t *testing.T) {
	with := &mcp.CallToolParamsRaw{Meta: mcp.Meta{"progressToken": "x"}}
	checked, plain := &state.Current{Step: workflow.Step{Check: &workflow.Check{Run: "make"}}}, new(state.Current)
	for _, c := range []struct {
		params *mcp.CallToolParamsRaw
		step   *state.Current
		status string
	}{{new(mcp.CallToolParamsRaw), checked, workflow.Completed}, {with, checked, "in_progress"}, {with, plain, workflow.Completed}} {
		ctx, cancel := context.WithCancel(t.Context())
		assert.NotPanics(t, notify(ctx, &mcp.CallToolRequest{Params: c.params}, c.step, c.status))
		cancel()
	}
}

// TestReadFirstRecognisesEvents: an event of a hook is not a message.
func TestReadFirstRecognisesEvents(t *testing.T) {
	for line, want := range map[string]bool{
		`{"hook_event_name":"SessionStart","session_id":"s"}`:                true,
		`{"hook_event_name":"SessionStart","jsonrpc":"2.0","method":"ping"}`: false,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                           false,
		`{"id":1}`: false, `{bad`: false, "": false,
	} {
		for _, before := range []string{"", "\n \t\r\n"} {
			first, isEvent := readFirst(t.Context(), io.NopCloser(strings.NewReader(before+line+"\n")))
			assert.Equal(t, want, isEvent, "%q", before+line)
			assert.Equal(t, before+line+"\n", string(first))
		}
	}
}

// TestFaultOfALine: text that is not UTF-8 and a name used twice are left to the decoder.
func TestFaultOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "  ": "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`: "",
		`{"jsonrpc"`: "the line is not JSON", "[]": "batches are not supported: send one message per line",
		"1": "the line is not a message of JSON-RPC 2.0",
	} {
		_, why := fault([]byte(line), false)
		assert.Equal(t, want, why, "%q", line)
	}
	for _, line := range []string{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `{"jsonrpc":"2.0","id":1,"method":"a","method":"a"}`} {
		_, why := fault([]byte(line), false)
		assert.NotEqual(t, "the line is not JSON", why, "%q", line)
	}
	_, why := fault(nil, true)
	assert.Contains(t, why, "longer than")
}

// TestLimits: the largest values that are taken, and the first that are not.
func TestLimits(t *testing.T) {
	request := func(id string, length int) []byte {
		head, end := `{"jsonrpc":"2.0","id":`+id+`,"method":"`, `"}`
		return []byte(head + strings.Repeat("x", max(0, length-len(head+end))) + end)
	}
	id := strings.Repeat("1", maxID-2)
	for _, c := range []struct {
		line  []byte
		taken bool
		id    string
	}{
		{request("1", maxLine), true, "1"},
		{request("1", maxLine+1), false, "1"},
		{request("9007199254740991", 0), true, "9007199254740991"},
		{request("9007199254740992", 0), false, "9007199254740992"},
		{request(`"`+id+`"`, 0), true, `"` + id + `"`},
		{request(`"`+id+`1"`, 0), true, "null"},
	} {
		_, why := fault(c.line, false)
		assert.Equal(t, c.taken, why == "", "%.60s: %s", c.line, why)
		assert.Equal(t, c.id, idOf(c.line), "%.60s", c.line)
	}
	assert.Equal(t, "9007199254740992", string(whole(jsontext.Value("9007199254740992.0"))))
	assert.Equal(t, "9007199254740994.0", string(whole(jsontext.Value("9007199254740994.0"))))

	w := newWorld(t)
	var out strings.Builder
	longest := io.NopCloser(strings.NewReader(string(request("7", maxLine)) + "\n" + string(request("8", 0)) + "\n"))
	require.NoError(t, serve(t.Context(), newServer("", w.flags, w.lookup, nil, w.who), longest, nopCloser{&out}))
	assert.Contains(t, out.String(), `"id":7`)
	assert.Contains(t, out.String(), `"id":8`, "it goes on")
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestEscapingReportsTheLengthOfTheMessage: an escaped message is longer.
func TestEscapingReportsTheLengthOfTheMessage(t *testing.T) {
	var out bytes.Buffer
	message := []byte("\"\u202e\"")
	n, err := escaping{&out}.Write(message)
	require.NoError(t, err)
	assert.Equal(t, len(message), n)
	assert.NotContains(t, out.String(), "\u202e")
	want := errors.New("full")
	n, err = escaping{failing{want}}.Write(message)
	assert.ErrorIs(t, err, want)
	assert.Zero(t, n)
}

// TestAPersonChoosesByAForm: the form has the outcomes, and the step ends as what was chosen.
// Without a choice it does not end.
func TestAPersonChoosesByAForm(t *testing.T) {
	settle := workflow.Step{Subject: "Settle it", Decides: "person", Outcomes: []workflow.Outcome{{Name: "merge"}, {Name: "drop", Stop: true}}}
	for name, c := range map[string]struct {
		answer mcp.ElicitResult
		ends   bool
	}{
		"a choice":          {mcp.ElicitResult{Action: "accept", Content: map[string]any{"outcome": "merge"}}, true},
		"yes and no choice": {mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, false},
		"no":                {mcp.ElicitResult{Action: "decline"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hydrate("s1", settle, workflow.Step{Subject: "Next", BlockedBy: []int64{1}})
			var asked []string
			options := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked = append(asked, r.Params.Message)
				return &c.answer, nil
			}}
			client := w.connect(options)
			assert.Equal(t, []string{"merge", "drop"}, client.workflow().Current[0].Outcomes)
			assert.Contains(t, client.does("step_start", n(1)), "in progress")
			require.Empty(t, asked, "only a completion is asked about")
			text, isError := client.call("step_complete", n(1))
			assert.Equal(t, c.ends, !isError, text)
			if !c.ends {
				assert.Contains(t, text, "is decided by the person. Ask them", "what to do")
			}
			require.Len(t, asked, 1)
			assert.Contains(t, asked[0], `How does the step #1 "Settle it"`)
			if c.ends {
				assert.Equal(t, "completed", w.status("s1", 1))
			} else {
				assert.Equal(t, "in_progress", w.status("s1", 1))
			}
			for _, e := range w.evidence("s1") {
				assert.NotEqual(t, state.ByApproval, e.By.How, "it was a form")
			}
		})
	}
}

// TestAPersonChoosesAndApproves: each call asks one question, about the step that it names, and offers
// only what can still be chosen.
func TestAPersonChoosesAndApproves(t *testing.T) {
	w := newWorld(t)
	ask := workflow.Step{Subject: "Ask", Decides: "person", Outcomes: []workflow.Outcome{{Name: "yes", Approval: "Really?"}, {Name: "no"},
		{Name: "again", Back: 2, Max: 1}}}
	other := ask
	other.Outcomes = []workflow.Outcome{{Name: "yes"}, {Name: "no"}, {Name: "again"}}
	w.hydrate("s1", other, ask)
	var forms []string
	word := "again"
	options := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		form, err := json.Marshal(r.Params.RequestedSchema)
		forms = append(forms, string(form))
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"outcome": word}}, err
	}}
	client := w.connect(options)
	assert.Contains(t, client.does("step_complete", n(2)), "Ask: again, time 1 of 1")
	word = "yes"
	assert.Contains(t, client.refuses("step_complete", n(2)), "That needs their approval, too: complete it again")
	require.Len(t, forms, 2)
	assert.Contains(t, forms[0], `["yes","no","again"]`)
	assert.Contains(t, forms[1], `["yes","no"]`)
	client.does("step_complete", n(2))
	assert.Equal(t, "completed", w.status("s1", 2))
	assert.Equal(t, "pending", w.status("s1", 1))
}

// TestNobodyChoosesForAPerson where the client cannot ask one, and none of its answers counts that is
// none to this question.
func TestNobodyChoosesForAPerson(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{Subject: "Settle it", Decides: "person", Outcomes: []workflow.Outcome{{Name: "merge"}, {Name: "drop"}}})
	c := w.connect(nil)
	for _, now := range []string{"", "invented"} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(1), RequestState: now,
			InputResponses: mcp.InputResponseMap{answerKey: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"outcome": "merge"}}}})
		require.NoError(t, err)
		assert.True(t, r.IsError)
		assert.False(t, r.NeedsInput())
		assert.Equal(t, "pending", w.status("s1", 1))
	}
}

// TestReadFirstEnds: at a signal, and at what is too long for a message.
func TestReadFirstEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	cancel()
	_, isEvent := readFirst(ctx, in)
	assert.False(t, isEvent)

	first, isEvent := readFirst(t.Context(), io.NopCloser(strings.NewReader(strings.Repeat("x", 3*maxLine))))
	assert.False(t, isEvent)
	assert.Greater(t, len(first), maxLine)
	assert.Less(t, len(first), 2*maxLine)
}

// TestGatesLookInTheWorkTreeOfTheCaller: the hook says in which linked work tree the agent is.
func TestGatesLookInTheWorkTreeOfTheCaller(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{Produces: []string{"out"}})
	c := w.connect(nil)
	linked, pointer := filepath.Join(w.home, "linked"), filepath.Join(w.project, ".git", "worktrees", "linked")
	for path, text := range map[string]string{
		filepath.Join(pointer, "commondir"): "../..", filepath.Join(pointer, "gitdir"): filepath.Join(linked, ".git"),
		filepath.Join(linked, ".git"): "gitdir: " + pointer, filepath.Join(linked, "out"): "text",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o644))
	}
	text, isError := c.call("step_complete", n(1))
	require.True(t, isError, text)
	c.does("step_complete", args{"step": 1, "cwd": linked})
	all := w.evidence("s1")
	assert.Equal(t, linked, all[len(all)-1].Tree)
}
