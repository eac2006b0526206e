package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// endless is a step whose check writes its process id to the file shell, starts a child and
// does not end.
var endless = workflow.Step{Subject: "Wait", Check: &workflow.Check{Run: "sleep 600 & echo $$ > shell.tmp; mv shell.tmp shell; wait",
	Timeout: 900}}

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
	w := newWorld(t)
	w.hydrate("s1", endless, workflow.Step{Subject: "Next", BlockedBy: []int64{1}})
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
	all := w.evidence("s1")
	assert.Equal(t, state.Deny, all[len(all)-1].Verdict)
	assert.Equal(t, -1, all[len(all)-1].Check.Exit)
}

// Serve signals the processes of checks before it returns. The cleanup of the inner test
// waits for that.
func TestADisconnectEndsTheChecks(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", endless)
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

func TestProgressIsReportedWhileACheckRuns(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{Subject: "Wait", Check: &workflow.Check{Run: "until test -e go; do sleep 0.01; done # \u202e", Timeout: 60}})
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

func TestInvalidArguments(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", chain()...)
	c := w.connect(nil)
	for name, arguments := range map[string]any{
		"none":        nil,
		"text":        args{"step": "1"},
		"number sign": args{"step": "#1"},
		"fraction":    args{"step": 1.5},
		"huge":        args{"step": 1e300},
		"null":        args{"step": nil},
		"unknown":     args{"step": 1, "stepp": 2},
		"array":       args{"step": []int{1}},
		"zero":        n(0),
		"negative":    n(-1),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_start", Arguments: arguments})
			require.NoError(t, err)
			assert.True(t, r.IsError)
		})
	}
	_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_undo"})
	require.ErrorContains(t, err, `unknown tool "step_undo"`)
	assert.Contains(t, c.refuses("step_complete", args{"step": 1, "note": strings.Repeat("x", gates.MaxNote+1)}),
		"note has 4001 bytes; shorten it to 4000")
	assert.NoError(t, fits("note", strings.Repeat("x", gates.MaxNote)))
	assert.Contains(t, c.refuses("step_skip", args{"step": 1, "because": strings.Repeat("x", gates.MaxNote+1)}), "because has 4001 bytes")
	assert.Empty(t, w.evidence("s1"))
	for i := 1; i <= 3; i++ {
		assert.Equal(t, "pending", w.status("s1", i))
	}
}

// An answer is accepted once, only for the question that was asked, and only with the state
// that the server gave to the client.
func TestAnAnswerIsUsedOnce(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{Subject: "One", Approval: "Good?"}, workflow.Step{Subject: "Two", Approval: "Good?"})
	options := answering("accept", nil)
	options.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	c := w.connect(options)
	call := func(step int, now string) *mcp.CallToolResult {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "step_complete", Arguments: n(step), RequestState: now,
			InputResponses: mcp.InputResponseMap{answerKey: &mcp.ElicitResult{Action: "accept"}},
		})
		require.NoError(t, err)
		return r
	}
	for range 2 {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(1)})
		require.NoError(t, err)
		require.True(t, r.NeedsInput())
		assert.True(t, call(1, "invented").IsError)
		assert.True(t, call(2, r.RequestState).IsError, "the answer is about another step")
		assert.True(t, call(1, r.RequestState).IsError, "an answer to another question uses the state up")
		assert.Equal(t, "pending", w.status("s1", 1))
	}
	// Both are asked about: a yes to one is none to the other.
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(1)})
	require.NoError(t, err)
	other, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(2)})
	require.NoError(t, err)
	require.True(t, other.NeedsInput())
	assert.True(t, call(2, r.RequestState).IsError)
	assert.Equal(t, "pending", w.status("s1", 2))
	assert.True(t, call(1, other.RequestState).IsError)
	assert.Equal(t, "pending", w.status("s1", 1))
	r, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(1)})
	require.NoError(t, err)
	assert.False(t, call(1, r.RequestState).IsError)
	assert.True(t, call(1, r.RequestState).IsError)
	assert.Equal(t, "completed", w.status("s1", 1))
}

// An agent that starts the server itself, and answers its questions, is not a person, and its flags are not a person's.
func TestTheAgentsOwnServerAsksNobody(t *testing.T) {
	for name, who := range map[string]caller.Caller{"its shell": {Kind: caller.Agent, Shell: true}, "an orphan": {Kind: caller.Unknown}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.who = who
			w.flags.Checks = false
			w.hydrate("s1", workflow.Step{Subject: "One", Approval: "Good?"},
				workflow.Step{Subject: "Two", Check: &workflow.Check{Run: "false", Timeout: 60}})
			var asked []string
			c := w.connect(answering("accept", &asked))
			assert.Contains(t, c.refuses("step_complete", n(1)), "needs the approval of a person, and this client cannot ask one")
			assert.Contains(t, c.refuses("step_complete", n(2)), "its check failed", "an agent cannot switch checks off")
			assert.Contains(t, c.refuses("step_skip", args{"step": 1, "because": "x"}), "only a person can decide that")
			assert.Empty(t, asked)
			assert.Equal(t, "pending", w.status("s1", 1))
		})
	}
}

// The server asks clients before protocol version 2026-07-28 during the call.
func TestAnOlderClientIsAsked(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", chain()...)
	var asked []string
	w.protocol = "2025-06-18"
	c := w.connect(answering("accept", &asked))
	assert.Equal(t, "2025-06-18", c.InitializeResult().ProtocolVersion)
	assert.Contains(t, c.does("step_skip", args{"step": 1, "because": "nothing to collect"}), `#1 "Collect" is skipped.`)
	assert.Len(t, asked, 1)
}

// Two servers and a frame with Apply, as another program, complete the steps of one list.
// No step is completed before its blocker, and every task file stays readable.
func TestServersBesideHooks(t *testing.T) {
	w := newWorld(t)
	const count = 6
	all := make([]workflow.Step, count)
	for i := range all {
		if i > 0 {
			all[i].BlockedBy = []int64{int64(i)}
		}
	}
	all[2].Check = &workflow.Check{Run: "true", Timeout: 60}
	w.hydrate("s1", all...)
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

// TestInvalidMessages: a line that is not a message is answered with an error, without echoing
// it, and the server goes on.
func TestInvalidMessages(t *testing.T) {
	const ping = `{"jsonrpc": "2.0", "id": 7, "method": "ping"}` + "\n"
	for name, input := range map[string]string{
		"too long":  `{"jsonrpc": "2.0", "method": "x", "id": "` + strings.Repeat("x", 2*maxLine) + `"}` + "\n",
		"no JSON":   "hello\n",
		"a number":  "17\n",
		"a batch":   "[" + strings.TrimSpace(ping) + "]\n",
		"not ended": `{"jsonrpc": "2.0", "id": 1, "meth` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var out strings.Builder
			err := serve(t.Context(), newServer("", w.flags, w.lookup, nil, w.who), io.NopCloser(strings.NewReader(input+ping)), nopCloser{&out})
			assert.NoError(t, err)
			assert.Less(t, out.Len(), 4096)
			assert.Contains(t, out.String(), `"id":null,"error":{"code":-32`)
			assert.Contains(t, out.String(), `"id":7`, "it goes on")
		})
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
		t.Run(asked, func(t *testing.T) {
			w := newWorld(t)
			var out strings.Builder
			in := `{"jsonrpc": "2.0", "id": 1, "method": "server/discover"}
{"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": "` + asked + `", "capabilities": {}, ` +
				`"clientInfo": {"name": "x", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "method": "notifications/unknown"}
{"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {}}
{"jsonrpc": "2.0", "id": 4, "method": "no/such"}
{"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
{"jsonrpc": "2.0", "id": 6, "method": "resources/list"}
`
			server := newServer("", w.flags, w.lookup, nil, w.who)
			require.NoError(t, serve(t.Context(), server, io.NopCloser(strings.NewReader(in)), nopCloser{&out}))
			answers := map[int]string{}
			for line := range strings.Lines(out.String()) {
				var m struct{ ID int }
				require.NoError(t, json.Unmarshal([]byte(line), &m))
				answers[m.ID] = line
			}
			require.Len(t, answers, 6)
			for _, id := range []int{1, 3, 4} {
				assert.Contains(t, answers[id], `"error":{"code":-32601,"message":"method not found`)
			}
			assert.Contains(t, answers[2], `"protocolVersion":"`+want+`"`)
			assert.Contains(t, answers[5], `"name":"workflow_begin"`)
			assert.Contains(t, answers[6], `"uri":"fsmtx://current"`)
		})
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
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.protocol = "2025-06-18" // which Codex speaks
			w.who.Program, w.flags.Session = c.program, "s1"
			w.hydrate("s1", workflow.Step{Approval: "Good?"}, workflow.Step{Subject: "Next"})
			forms := 0
			client := w.connect(&mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				forms++
				return &mcp.ElicitResult{Action: "accept", Content: c.content}, nil
			}})
			for tool, input := range map[string]args{"step_complete": n(1), "step_skip": {"step": 2, "because": "no time"}} {
				r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: input})
				assert.Equal(t, c.yes, err == nil && !r.IsError, "%s: %v", tool, r)
			}
			assert.Equal(t, 2, forms)
			want := map[bool]string{true: "completed", false: "pending"}[c.yes]
			assert.Equal(t, want, w.status("s1", 1))
			assert.Equal(t, want, w.status("s1", 2))
		})
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

// TestServeWaitsForItsTools: what a tool still does after a signal is done before the program ends.
func TestServeWaitsForItsTools(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := mcp.NewServer(&mcp.Implementation{Name: "x", Version: "1"}, nil)
	var done atomic.Bool
	mcp.AddTool(s, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		cancel()
		<-ctx.Done()
		for range 10000 { // for long enough that serve would have returned
			runtime.Gosched()
		}
		done.Store(true)
		return &mcp.CallToolResult{}, nil, nil
	})
	in, client := io.Pipe()
	go func() {
		_, _ = io.WriteString(client, initialize+`{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{}}}
`)
	}()
	require.NoError(t, serve(ctx, s, in, nopCloser{io.Discard}))
	assert.True(t, done.Load())
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
