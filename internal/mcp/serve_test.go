//go:build unix

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// endless is a step whose check writes its process id to the file shell, starts a child and
// does not end.
var endless = `{"subject": "Wait", "check": {"run": "sleep 600 & echo $$ > shell.tmp; mv shell.tmp shell; wait", "timeout": 900}}`

// running waits until the check of endless has started, and returns its process group.
func (w *world) running() int {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		_, err := os.Stat(filepath.Join(w.project, "shell"))
		return err == nil
	}, 30*time.Second, 5*time.Millisecond)
	pid, err := strconv.Atoi(strings.TrimSpace(w.read("shell")))
	require.NoError(w.t, err)
	group, err := syscall.Getpgid(pid)
	require.NoError(w.t, err)
	return group
}

func isGone(group int) bool { return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }

func TestACancelledCallEndsItsCheck(t *testing.T) {
	w := hydrated(t, endless, `{"subject": "Next", "blockedBy": [1]}`)
	c := w.connect(nil)
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "step_complete", Arguments: n(1)})
		returned <- err
	}()
	group := w.running()
	assert.Equal(t, "checking", c.workflow().Steps[0].State)
	assert.Contains(t, c.refuses("step_complete", n(1)), "whose check is running")
	assert.Contains(t, c.refuses("step_start", n(2)), "is running in another call")

	cancel()

	require.ErrorIs(t, <-returned, context.Canceled)
	require.Eventually(t, func() bool { return isGone(group) }, 30*time.Second, 5*time.Millisecond)
	require.Eventually(t, func() bool { return c.workflow().Steps[0].State == "ready" }, 30*time.Second, 5*time.Millisecond,
		"no pending record is left")
	assert.Equal(t, "pending", w.status("s1", 1))
	assert.Equal(t, state.Deny, w.last().Verdict)
	assert.Equal(t, -1, w.last().Check.Exit)
}

// Serve signals the processes of checks before it returns. The cleanup of the inner test
// waits for that.
func TestADisconnectEndsTheChecks(t *testing.T) {
	w := hydrated(t, endless)
	var group int
	t.Run("session", func(t *testing.T) {
		w.t = t
		c := w.connect(nil)
		go func() {
			_, _ = c.CallTool(context.Background(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(1)})
		}()
		group = w.running()
		require.NoError(t, c.hangUp())
	})
	require.Eventually(t, func() bool { return isGone(group) }, 30*time.Second, 5*time.Millisecond)
}

// A client that ends its input right after a call has gone before the call is decided: the call is finished all the same, with its record,
// and a check is not begun.
func TestADecisionOutlivesItsClient(t *testing.T) {
	w := hydrated(t, `{"check": {"run": "touch ran", "timeout": 60}}`, `{"blockedBy": [1]}`)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	served := &tools{chooser{w.lookup, w.flags, nil, w.who}, questions{client: func(string) bool { return false }}}
	_, _, err := served.start(gone, &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}, startInput{Step: 1})
	require.NoError(t, err)
	for step, why := range map[int64]string{1: "check interrupted", 2: "#1 is not done"} {
		_, _, err := served.complete(gone, &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}},
			completeInput{startInput: startInput{Step: step}})
		require.Error(t, err)
		require.Equal(t, step, w.last().Step, err)
		require.Equal(t, why, w.last().Why)
	}
	require.NoFileExists(t, filepath.Join(w.project, "ran"))
}

func TestProgressIsReportedWhileACheckRuns(t *testing.T) {
	w := hydrated(t, `{"subject": "Wait", "check": {"run": "until test -e go; do sleep 0.01; done # \u202e", "timeout": 60}}`)
	progress := make(chan string, 100)
	c := w.connect(&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		progress <- r.Params.Message
		_ = os.WriteFile(filepath.Join(w.project, "go"), nil, 0o644)
	}})
	params := &mcp.CallToolParams{Name: "step_complete", Arguments: n(1)}
	params.SetProgressToken("token")
	r, err := c.CallTool(t.Context(), params)
	require.NoError(t, err)
	assert.False(t, r.IsError)
	assert.Equal(t, `checking #1 "Wait" for 0s: until test -e go; do sleep 0.01; done # \u202e`, <-progress)
}

// An answer is accepted once, only for the question that was asked, and only with the state
// that the server gave to the client.
func TestAnAnswerIsUsedOnce(t *testing.T) {
	w := hydrated(t, `{"subject": "One", "approval": "Good?"}`, `{"subject": "Two", "approval": "Good?"}`)
	options := answering("accept", nil)
	options.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	c := w.connect(options)
	ask := func(step int) string {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(step)})
		require.NoError(t, err)
		require.True(t, r.NeedsInput())
		return r.RequestState
	}
	answer := func(step int, now string) (refused bool) {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "step_complete", Arguments: n(step), RequestState: now,
			InputResponses: mcp.InputResponseMap{answerKey: &mcp.ElicitResult{Action: "accept"}},
		})
		require.NoError(t, err)
		return r.IsError || r.NeedsInput() // it is asked anew
	}
	for range 2 {
		now := ask(1)
		assert.True(t, answer(1, "invented"))
		assert.True(t, answer(2, now), "the answer is about another step")
		assert.True(t, answer(1, now), "an answer to another question uses the state up")
	}
	// Both are asked about: a yes to one is none to the other.
	one, two := ask(1), ask(2)
	assert.True(t, answer(2, one))
	assert.True(t, answer(1, two))
	assert.Equal(t, []string{"pending", "pending"}, []string{w.status("s1", 1), w.status("s1", 2)})
	now := ask(1)
	assert.False(t, answer(1, now))
	answer(1, now)
	yes := slices.DeleteFunc(w.evidence("s1"), func(e state.Evidence) bool { return e.Verdict != state.Allow })
	assert.Len(t, yes, 1, "it is done, and nothing is decided again")
	assert.Equal(t, "completed", w.status("s1", 1))
}

// An agent that starts the server itself, and answers its questions, is not a person.
func TestTheAgentsOwnServerAsksNobody(t *testing.T) {
	for _, who := range []caller.Caller{{Kind: caller.Agent, Shell: true}, {Kind: caller.Unknown}} { // of its shell, and an orphan
		w := hydrated(t, `{"subject": "One", "approval": "Good?"}`,
			`{"subject": "Two", "check": {"run": "false", "timeout": 60}}`)
		w.who = who
		var asked []string
		c := w.connect(answering("accept", &asked))
		assert.Contains(t, c.refuses("step_complete", n(1)), "needs the approval of a person, and nobody has answered here")
		assert.Contains(t, c.does("workflow_status", nil), "When it is completed, a person has to approve it: Good?\nNobody asks them here: "+
			"complete it when its work is done, then tell them. They approve it in a terminal: fsmtx step done 1 --because \"...\" --list s1")
		assert.Contains(t, c.refuses("step_complete", n(2)), "its check failed")
		assert.Contains(t, c.refuses("step_skip", args{"step": 1, "because": "x"}), "only a person can decide that")
		assert.Empty(t, asked)
		assert.Equal(t, "pending", w.status("s1", 1))
	}
}

// The status says what is true for the client: one that has forms asks the person.
func TestTheStatusOfAClientThatAsks(t *testing.T) {
	w := hydrated(t, `{"subject": "One", "approval": "Good?"}`)
	text := w.connect(answering("accept", nil)).does("workflow_status", nil)
	assert.Contains(t, text, "a person has to approve it: Good?")
	assert.NotContains(t, text, "Nobody asks")
}

// Two servers and a frame with Apply, as another program, complete the steps of one list.
// No step is completed before its blocker, and every task file stays readable.
func TestServersBesideHooks(t *testing.T) {
	const count = 6
	all := []string{`{}`}
	for i := 1; i < count; i++ {
		all = append(all, fmt.Sprintf(`{"blockedBy": [%d]}`, i))
	}
	all[2] = `{"blockedBy": [2], "check": "true"}`
	w := hydrated(t, all...)
	var group sync.WaitGroup
	for range 2 {
		c := w.connect(nil)
		group.Go(func() {
			for range 3 {
				for step := 1; step <= count; step++ {
					r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(step)})
					if assert.NoError(t, err) && r.IsError {
						assert.NotContains(t, r.Content[0].(*mcp.TextContent).Text, "are not enforced")
					}
				}
			}
		})
	}
	group.Go(func() {
		f := &gates.Frame{Store: state.Store{List: tasks.List{Dir: w.list("s1"), Wait: 5 * time.Second}}, Env: os.Environ(), Apply: true}
		for range 3 {
			for step := 1; step <= count; step++ {
				v := f.Update(t.Context(), gates.Update{Task: strconv.Itoa(step), Status: workflow.Completed})
				assert.NotContains(t, v.Reason, "are not enforced")
			}
		}
	})
	group.Wait()

	done := map[int64]bool{}
	for _, e := range w.evidence("s1") {
		if e.Verdict != state.Allow || e.To != workflow.Completed {
			continue
		}
		if e.Step > 1 {
			assert.True(t, done[e.Step-1], "#%d was completed before #%d", e.Step, e.Step-1)
		}
		done[e.Step] = true
	}
	for step := 1; step <= count; step++ {
		assert.Equal(t, "completed", w.status("s1", step), fmt.Sprint(step))
	}
}

// TestProtocolVersions: the version that a client asks for is answered, and an unknown one with
// one that it may know. A method that the server does not know is answered with an error, before
// and after the beginning, and the server goes on.
func TestProtocolVersions(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"1999-01-01": "2025-11-25", "2999-01-01": "2025-11-25",
	} {
		answers := map[int]string{}
		for line := range strings.Lines(newWorld(t).serves(`{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}
{"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": "` + asked + `", "capabilities": {}, ` +
			`"clientInfo": {"name": "x", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "method": "notifications/unknown"}
{"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {}}
{"jsonrpc": "2.0", "id": 4, "method": "no/such"}
{"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
{"jsonrpc": "2.0", "id": 6, "method": "resources/list"}
`)) {
			var m struct{ ID int }
			require.NoError(t, json.Unmarshal([]byte(line), &m))
			answers[m.ID] = line
		}
		require.Len(t, answers, 6, asked)
		for _, id := range []int{1, 3, 4} {
			assert.Contains(t, answers[id], `"error":{"code":-32601,"message":"method not found`, asked)
		}
		assert.Contains(t, answers[2], `"protocolVersion":"`+want+`"`)
		assert.Contains(t, answers[5], `"name":"workflow_begin"`, asked)
		assert.Contains(t, answers[6], `"uri":"fsmtx://current"`, asked)
	}
}

// TestAFormThatNobodyFilledInApprovesNothing: Codex accepts a form without fields by itself where it
// asks nothing, so other clients than Claude Code must give a word with the yes.
func TestAFormThatNobodyFilledInApprovesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		content map[string]any
		yes     bool
	}{
		"Claude Code":        {caller.Claude, map[string]any{}, true},
		"Codex, by itself":   {"codex", map[string]any{}, false},
		"Codex, no":          {"codex", map[string]any{"answer": "no"}, false},
		"Codex, yes":         {"codex", map[string]any{"answer": "yes"}, true},
		"another, by itself": {"", map[string]any{}, false},
		"another, yes":       {"", map[string]any{"answer": "yes"}, true},
	} {
		w := hydrated(t, `{"approval": "Good?"}`, `{"subject": "Next"}`)
		w.protocol = "2025-06-18" // which Codex speaks: a client before 2026-07-28 is asked during the call
		w.who.Program, w.flags.Session = c.program, "s1"
		forms := 0
		client := w.connect(filling(func(*mcp.ElicitParams) mcp.ElicitResult {
			forms++
			return mcp.ElicitResult{Action: "accept", Content: c.content}
		}))
		assert.Equal(t, w.protocol, client.InitializeResult().ProtocolVersion)
		want := map[bool]string{true: "completed", false: "pending"}[c.yes]
		for step, tool := range []string{"step_complete", "step_skip"} {
			input := n(step + 1)
			if tool == "step_skip" {
				input["because"] = "no time"
			}
			r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: input})
			assert.Equal(t, c.yes, err == nil && !r.IsError, "%s: %s: %v", name, tool, r)
			assert.Equal(t, want, w.status("s1", step+1), name)
		}
		assert.Equal(t, 2, forms)
	}
}

// TestOnlyToolsAreCancelled at the end of the input, and waited for: another call is answered as if the
// client were still there.
func TestOnlyToolsAreCancelled(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	var calls sync.WaitGroup
	var got context.Context
	handle := cancelling(ended, &calls)(func(ctx context.Context, method string, _ mcp.Request) (mcp.Result, error) {
		if got = ctx; method == callTool {
			<-ctx.Done()
		}
		return nil, errors.New(method)
	})
	for _, method := range []string{callTool, "resources/read"} {
		_, err := handle(t.Context(), method, nil)
		assert.EqualError(t, err, method)
		assert.Equal(t, method == callTool, got != t.Context())
		calls.Wait()
	}
}

// TestServeWaitsForItsTools: what a tool still does after a signal, or when the client has gone, is done before the program ends.
func TestServeWaitsForItsTools(t *testing.T) {
	for _, signal := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, done := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil), false
			in, client := io.Pipe()
			slow := func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
				if signal {
					cancel()
				} else {
					_ = client.Close()
				}
				<-ctx.Done()
				time.Sleep(time.Hour) // of the bubble: serve would have returned
				done = true
				return &mcp.CallToolResult{}, nil, nil
			}
			mcp.AddTool(s, &mcp.Tool{Name: "slow"}, slow)
			go func() {
				_, _ = io.WriteString(client, initialize+`{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{}}}
`)
			}()
			require.NoError(t, serve(ctx, s, in, nopCloser{io.Discard}))
			assert.True(t, done, "by a signal: %t", signal)
			_ = client.Close()
		})
	}
}

// scripted is a connection that reads these messages.
type scripted struct {
	mcp.Connection
	messages []jsonrpc.Message
}

func (s *scripted) Read(context.Context) (jsonrpc.Message, error) {
	if len(s.messages) == 0 {
		return nil, io.EOF
	}
	m := s.messages[0]
	s.messages = s.messages[1:]
	return m, nil
}

func (s *scripted) Write(context.Context, jsonrpc.Message) error { return io.ErrClosedPipe }

// TestWhichCallsAreOpen: the end of the input is reported when each call was answered, or could not be.
// A notification and an open subscription have no answer.
func TestWhichCallsAreOpen(t *testing.T) {
	id := func(n float64) jsonrpc.ID {
		id, err := jsonrpc.MakeID(n)
		require.NoError(t, err)
		return id
	}
	ended := false
	c := &connection{Connection: &scripted{messages: []jsonrpc.Message{&jsonrpc.Request{ID: id(1), Method: callTool},
		&jsonrpc.Request{Method: "notifications/initialized"}, &jsonrpc.Request{ID: id(2), Method: subscribe}, &jsonrpc.Response{ID: id(3)}}},
		ended: func() { ended = true }, open: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1), closed: make(chan struct{})}
	for range 4 {
		_, err := c.Read(t.Context())
		require.NoError(t, err)
	}
	assert.Equal(t, map[jsonrpc.ID]bool{id(1): true}, c.open)
	assert.False(t, ended)
	for range 2 { // nobody reads changed yet
		assert.ErrorIs(t, c.Write(t.Context(), &jsonrpc.Response{ID: id(1)}), io.ErrClosedPipe)
	}
	_, err := c.Read(t.Context())
	assert.ErrorIs(t, err, io.EOF)
	assert.True(t, ended)
	assert.Empty(t, c.open)
}

// TestWhoHearsOfAChange: a subscriber, once, and after no refusal.
func TestWhoHearsOfAChange(t *testing.T) {
	refused, text := errors.New("refused"), "1"
	told, looked := 0, 0
	w := &watch{text: func(context.Context) (string, error) { looked++; return text, nil }, tell: func(context.Context) { told++ }}
	after := func(result *mcp.CallToolResult, err error) int {
		told, looked = 0, 0
		got, _, gotErr := telling(w, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
			return result, nil, err
		})(t.Context(), nil, nil)
		assert.Equal(t, result, got)
		assert.Equal(t, err, gotErr)
		return told
	}
	assert.Zero(t, after(nil, nil))
	assert.Zero(t, looked, "nobody wants to know")
	_, w.stop = context.WithCancel(t.Context())
	assert.Zero(t, after(nil, refused))
	assert.Equal(t, 1, after(nil, nil))
	assert.Zero(t, after(nil, nil), "nothing has changed")
	text = "2"
	assert.Equal(t, 1, after(&mcp.CallToolResult{}, nil))
	text = "3"
	stopped := false
	w.stop = func() { stopped = true }
	w.unsubscribe()
	assert.True(t, stopped)
	assert.Zero(t, after(nil, nil))
	w.unsubscribe()
}

func TestLinesThatAreNoMessagesAreAnswered(t *testing.T) {
	const first, second = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	const notJSON, batch, noMessage = "the line is not JSON", "batches are not supported: send one message per line",
		"the line is not a message of JSON-RPC 2.0"
	const wrongID = "the id has to be a text in UTF-8 or a whole number below 2^53"
	tooLong := fmt.Sprintf("the message is longer than %d bytes", maxLine)
	for name, c := range map[string]struct {
		line string
		id   string // of the answer; empty for null
		why  string // empty if there is no answer
	}{
		"malformed":               {`{"jsonrpc":`, "", notJSON},
		"no JSON":                 {`hello`, "", notJSON},
		"a batch":                 {"[" + first + "]", "", batch},
		"no message":              {`{}`, "", noMessage},
		"a number":                {`7`, "", noMessage},
		"too long":                {`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", maxLine) + `","id":"a\"b"}`, `"a\"b"`, tooLong},
		"far too long":            {`{"jsonrpc":"2.0","id":3,"method":"` + strings.Repeat("x", maxKept) + `"}`, "", tooLong},
		"no version":              {`{"id":3,"method":"ping"}`, "3", noMessage},
		"a long answer":           {`{"jsonrpc":"2.0","id":3,"result":"` + strings.Repeat("x", maxLine) + `"}`, "", tooLong},
		"a large id":              {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", wrongID},
		"a broken id":             {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "1.5", wrongID},
		"an id that is not UTF-8": {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "", wrongID},
		"half a character as id":  {`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, "", wrongID},
		"an id of no type":        {`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, "", noMessage},
		"an empty line":           {"", "", ""},
		"only white space":        {" \t\r", "", ""},
	} {
		var out bytes.Buffer
		got, err := io.ReadAll(newInbox(io.NopCloser(strings.NewReader(first+"\n"+c.line+"\n"+second)), &out))
		require.NoError(t, err, name)
		assert.Equal(t, first+"\n"+second+"\n", string(got), name)
		want := errors.New("gone")
		_, err = io.ReadAll(newInbox(io.NopCloser(strings.NewReader(c.line+"\n")), failing{want}))
		assert.Equal(t, c.why != "", errors.Is(err, want), "%s: an error that cannot be told ends the reading", name)
		answer := ""
		if c.why != "" {
			code := map[bool]int{true: -32700, false: -32600}[c.why == notJSON]
			answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", cmp.Or(c.id, "null"), code, c.why)
		}
		assert.Equal(t, answer, out.String(), name)
	}
}

// started runs the program with these arguments and this input. No arguments are not nil, for which the
// library would take those of the test.
func (w *world) started(in io.Reader, args ...string) (code int, out, stderr string) {
	var o, e bytes.Buffer
	c := Command(terminal.Streams{In: in, Out: &o, Err: &e, Getenv: w.lookup, Caller: func() caller.Caller { return w.who }})
	c.SetArgs(append([]string{}, args...))
	c.SetOut(&o)
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.Execute(); err != nil {
		fmt.Fprintln(&e, err)
		code = 1
	}
	return code, o.String(), e.String()
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"t","version":"1"}}}` + "\n"

// TestMainAnswersAndEnds: without an error when the client goes, with one if it was called wrongly.
func TestMainAnswersAndEnds(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(path, []byte(initialize), 0o600))
	in, err := os.Open(path)
	require.NoError(t, err)
	code, out, stderr := w.started(in)
	assert.Equal(t, [2]any{0, ""}, [2]any{code, stderr})
	var answer struct {
		Result struct {
			ServerInfo struct{ Version string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &answer))
	assert.Equal(t, programs.GetBuild().Version, answer.Result.ServerInfo.Version)
	_, err = in.Read(make([]byte, 1))
	assert.ErrorIs(t, err, os.ErrClosed, "so that a signal ends a read of it")

	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	for _, c := range []struct {
		in   io.Reader
		args []string
		code int
		says string
	}{
		{strings.NewReader(initialize), []string{"--nonsense"}, 1, "unknown flag: --nonsense"},
		{terminal, nil, 1, "standard input is a terminal"},
		{strings.NewReader(`{"session_id":"s","hook_event_name":"Stop"}` + "\n" + initialize), nil, 0, ""}, // an event is not answered
		{strings.NewReader(""), nil, 0, ""},                                                                // no client came
	} {
		code, out, stderr := w.started(c.in, c.args...)
		assert.Equal(t, [3]any{c.code, "", c.says == ""}, [3]any{code, out, stderr == ""})
		assert.Contains(t, stderr, c.says)
	}
}

// TestALineThatIsTooLongIsNotKept.
func TestALineThatIsTooLongIsNotKept(t *testing.T) {
	longest := strings.Repeat("x", maxKept-1) + "\n"
	box := newInbox(io.NopCloser(strings.NewReader(longest+"x"+longest+strings.Repeat(longest, 2)[2:]+"short\n")), io.Discard)
	line, tooLong, err := box.line()
	require.NoError(t, err)
	assert.False(t, tooLong)
	assert.Equal(t, longest, string(line))
	line, tooLong, err = box.line()
	require.NoError(t, err)
	assert.True(t, tooLong)
	assert.Empty(t, line)
	for range 2 {
		_, _, err = box.line()
		require.NoError(t, err)
	}
	line, tooLong, err = box.line()
	require.NoError(t, err)
	assert.False(t, tooLong)
	assert.Equal(t, "short\n", string(line))
}

// TestASkipIsReported with what comes next, and written to the log that the person has named.
func TestASkipIsReported(t *testing.T) {
	w := hydrated(t, `{"subject": "Collect"}`, `{"subject": "Publish", "blockedBy": [1]}`)
	w.env[decisions.Variable] = filepath.Join(w.home, "log")
	text := w.connect(answering("accept", nil)).does("step_skip", args{"step": 1, "because": "there is nothing"})
	assert.Contains(t, text, `#1 "Collect" is skipped.`)
	assert.Contains(t, text, `#2 "Publish"`, "what comes next")
	log, err := os.ReadFile(w.env[decisions.Variable])
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(log), "\n"))
	assert.Contains(t, string(log), `"decision":"skip","why":"there is nothing"`)
}

// TestTheCallIsOnRecord: by its id, an update that is carried out is told from one that was not.
func TestTheCallIsOnRecord(t *testing.T) {
	w := hydrated(t, `{}`)
	c := w.connect(nil)
	_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: mcp.Meta{"claudecode/toolUseId": "toolu_7"}, Name: "step_start",
		Arguments: n(1)})
	require.NoError(t, err)
	all := w.evidence("s1")
	require.Len(t, all, 1)
	assert.Equal(t, "toolu_7", all[0].Use)
}

// TestAStepThatIsDoneIsNotStarted: what completed it was an earlier call, and not one of the same message.
func TestAStepThatIsDoneIsNotStarted(t *testing.T) {
	c := hydrated(t, `{}`, `{}`).connect(nil)
	said := ""
	for use, tool := range []string{"step_complete", "step_start"} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: mcp.Meta{"claudecode/toolUseId": string(rune('a' + use))}, Name: tool,
			Arguments: n(1)})
		require.NoError(t, err)
		said = r.Content[0].(*mcp.TextContent).Text
	}
	assert.Contains(t, said, "A person can open it again")
}

// TestReadFirst recognises events: an event of a hook is not a message. It ends at a signal, and at what is too long for a message.
func TestReadFirst(t *testing.T) {
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
	first, isEvent := readFirst(t.Context(), io.NopCloser(strings.NewReader(strings.Repeat("x", 3*maxLine))))
	assert.False(t, isEvent)
	assert.Greater(t, len(first), maxLine)
	assert.Less(t, len(first), 2*maxLine)

	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	cancel()
	_, isEvent = readFirst(ctx, in)
	assert.False(t, isEvent)
}

// TestLimits: the largest values that are taken, and the first that are not. After either the server goes on.
func TestLimits(t *testing.T) {
	request := func(id string, length int) string {
		head, end := `{"jsonrpc":"2.0","id":`+id+`,"method":"`, `"}`
		return head + strings.Repeat("x", max(0, length-len(head+end))) + end
	}
	id := strings.Repeat("1", maxID-2)
	for _, c := range []struct {
		line  string
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
		_, why := fault([]byte(c.line), false)
		assert.Equal(t, c.taken, why == "", "%.60s: %s", c.line, why)
		assert.Equal(t, c.id, idOf([]byte(c.line)), "%.60s", c.line)
	}
	for _, line := range []string{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `{"jsonrpc":"2.0","id":1,"method":"a","method":"a"}`} {
		_, why := fault([]byte(line), false)
		assert.Empty(t, why, "the decoder answers %q", line)
	}
	assert.Equal(t, "9007199254740992", string(whole(jsontext.Value("9007199254740992.0"))))
	assert.Equal(t, "9007199254740994.0", string(whole(jsontext.Value("9007199254740994.0"))))

	out := newWorld(t).serves(request("7", maxLine) + "\n" + request("1", 2*maxLine) + "\n{not\n" + request("8", 0) + "\n")
	for _, answer := range []string{`"id":7`, `"id":1,"error":{"code":-32600`, `"id":null,"error":{"code":-32700`, `"id":8`} {
		assert.Contains(t, out, answer)
	}
}
