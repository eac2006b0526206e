package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// engineOf returns an engine for the content of the member hooks of a settings file.
func engineOf(t *testing.T, d dialect.Dialect, hooks string) *Engine {
	return New(Config{
		Dialect: d,
		Session: Session{ID: "s", Cwd: t.TempDir()},
		Enabled: true,
		Load: func() ([]Source, error) {
			return []Source{{Scope: dialect.Project, Hooks: jsontext.Value(hooks)}}, nil
		},
	})
}

// settingsOf returns the member hooks of a settings file with one hook of an event.
func settingsOf(event, command string) string {
	text, err := json.Marshal(map[string]any{event: []any{map[string]any{"hooks": []any{map[string]any{"type": "command",
		"command": command}}}}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// HOOK-001, HOOK-013
func TestDisabledEngineIsNilAndSafe(t *testing.T) {
	e := New(Config{Dialect: dialect.LLxprt(), Load: func() ([]Source, error) { panic("read") }})
	require.Nil(t, e)
	require.Nil(t, e.Fire(t.Context(), dialect.BeforeTool, Input{}).Plan)
	request := jsontext.Value(`{"model":"m"}`)
	run := e.RunModel(t.Context(), request, func(_ context.Context, sent jsontext.Value) (jsontext.Value, error) { return sent, nil })
	require.True(t, run.Called)
	require.Equal(t, request, run.Response)
	call := e.ExecuteTool(t.Context(), "w", request, func(_ context.Context, input jsontext.Value) (ToolResult, error) {
		return ToolResult{LLMContent: string(input)}, nil
	})
	require.Equal(t, string(request), call.Result.LLMContent)
}

// HOOK-003, HOOK-004, HOOK-005, HOOK-008, HOOK-148, HOOK-206
func TestConfigurationIsReadOnceByTheFirstEvent(t *testing.T) {
	var reads atomic.Int32
	e := New(Config{Dialect: dialect.LLxprt(), Session: Session{Cwd: t.TempDir()}, Enabled: true, Load: func() ([]Source, error) {
		reads.Add(1)
		return []Source{{Hooks: jsontext.Value(`{"BeforeTool":[{"hooks":[{"type":"command","command":"true"},5]}]}`)}}, nil
	}})
	require.Equal(t, Status{}, e.status())
	require.Zero(t, reads.Load(), "New reads nothing")

	var group sync.WaitGroup
	var warned atomic.Int32
	for range 8 {
		group.Go(func() { warned.Add(int32(len(e.Fire(t.Context(), dialect.BeforeTool, Input{}).Warnings()))) })
	}
	group.Wait()
	require.NoError(t, e.Init())
	require.EqualValues(t, 1, reads.Load())
	require.EqualValues(t, 1, warned.Load(), "a problem is reported once")
	require.Equal(t, Status{true, 1}, e.status())
}

// HOOK-113, HOOK-115, HOOK-147
func TestInternalFailuresAllowAndAreLogged(t *testing.T) {
	noValue := dialect.LLxprt()
	noValue.Hooks.Variables = []dialect.Variable{{Name: "X"}} // panics in the runner
	noMerge := dialect.LLxprt()
	noMerge.Events = []dialect.Event{{Name: dialect.BeforeTool, Meanings: dialect.Meanings{Exit2: dialect.Block}}} // panics in the aggregator
	blocks := settingsOf(dialect.BeforeTool, "echo no >&2; exit 2")
	for name, e := range map[string]*Engine{
		"load error": New(Config{Dialect: dialect.LLxprt(), Enabled: true, Load: func() ([]Source, error) { return nil, errors.New("no disk") }}),
		"load panic": New(Config{Dialect: dialect.LLxprt(), Enabled: true, Load: func() ([]Source, error) { panic("no disk") }}),
		"runner":     engineOf(t, noValue, blocks),
		"aggregator": engineOf(t, noMerge, blocks),
		"event":      engineOf(t, dialect.LLxprt(), blocks),
	} {
		t.Run(name, func(t *testing.T) {
			event := dialect.BeforeTool
			if name == "event" {
				event = "NoSuchEvent"
			}
			r := e.Fire(t.Context(), event, Input{})
			require.False(t, r.Policy.Blocking || r.Policy.Stop)
			require.NotEmpty(t, r.Warnings())
			e.Fire(t.Context(), event, Input{}) // must not panic the second time either
		})
	}
}

func TestProcessesRunInTheContextOfBeforeProcesses(t *testing.T) {
	why := errors.New("enough")
	called := 0
	e := engineOf(t, dialect.LLxprt(), settingsOf(dialect.BeforeTool, "sleep 300"))
	e.config.BeforeProcesses = func(ctx context.Context) context.Context {
		called++
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(why)
		return ctx
	}
	e.Fire(t.Context(), dialect.AfterTool, Input{})
	require.Zero(t, called, "nothing runs")
	r := e.Fire(t.Context(), dialect.BeforeTool, Input{})
	require.Equal(t, 1, called)
	require.Contains(t, r.Results[0].Error, "cancelled: enough")
}

// TestToolEventsReturnTheirOutput takes the tool's name and input as fields of the event and returns the hooks' merged
// output. The fields of the session are the engine's. HOOK-127, HOOK-128, HOOK-143, HOOK-150, HOOK-151
func TestToolEventsReturnTheirOutput(t *testing.T) {
	e := engineOf(t, dialect.LLxprt(), `{
		"BeforeTool":[{"matcher":"^w$","hooks":[{"type":"command","command":"case $(cat) in *theirs*) ;; *'\"tool_input\":{\"a\":1}'*) `+
		`echo no >&2; exit 2 ;; esac"}]}],
		"AfterTool":[{"hooks":[{"type":"command","command":"grep -q '\"llmContent\":\"out\"' && echo seen"}]}]}`)
	fields := jsontext.Value(`{"tool_name":"w","tool_input":{"a":1},"session_id":"theirs","transcript_path":"theirs","cwd":"theirs",
		"hook_event_name":"theirs","timestamp":"theirs"}`)
	before := e.Fire(t.Context(), dialect.BeforeTool, Input{Fields: fields})
	require.True(t, before.Aggregated.FinalOutput.Blocks())
	require.Equal(t, "no", before.Policy.Reason)
	require.Nil(t, e.Fire(t.Context(), dialect.BeforeTool, Input{Fields: jsontext.Value(`{"tool_name":"x"}`)}).Aggregated.FinalOutput)

	fields = jsontext.Value(`{"tool_name":"w","tool_input":{"a":1},"tool_response":{"llmContent":"out"}}`)
	after := e.Fire(t.Context(), dialect.AfterTool, Input{Fields: fields})
	require.Equal(t, "seen", after.Aggregated.FinalOutput.SystemMessage())
}

const modelHooks = `{
	"BeforeModel":[{"hooks":[{"type":"command","command":"echo '{\"decision\":\"block\",\"reason\":\"r\",\"hookSpecificOutput\":{\"llm_request\":{\"model\":\"n\"},\"llm_response\":{\"candidates\":[{\"content\":{\"parts\":[\"a\"]}}]}}}'"}]}],
	"AfterModel":[{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"llm_response\":{\"candidates\":[{\"content\":{\"parts\":[\"b\"]}}]}}}'"}]}],
	"BeforeToolSelection":[{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"toolConfig\":{\"mode\":\"NONE\"}}}'"}]}]}`

// The result of BeforeModel has whether and why it blocks, the answer and the changed
// request, in GenerateContent JSON. HOOK-135, HOOK-152
func TestBeforeModelReturnsAnswerAndRequest(t *testing.T) {
	e := engineOf(t, dialect.LLxprt(), modelHooks)
	p := e.Fire(t.Context(), dialect.BeforeModel, Input{Request: jsontext.Value(`{"model":"m","contents":"hi"}`)}).Policy
	require.True(t, p.Blocking)
	require.Equal(t, "r", p.Reason)
	require.JSONEq(t, `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]}`, string(p.SyntheticResponse))
	require.JSONEq(t, `{"model":"n","contents":"hi"}`, string(p.ModifiedRequest))
}

// The result of AfterModel has the changed response, if a hook changed it. HOOK-136, HOOK-153
func TestAfterModelReturnsTheResponse(t *testing.T) {
	e := engineOf(t, dialect.LLxprt(), modelHooks)
	p := e.Fire(t.Context(), dialect.AfterModel, Input{Request: jsontext.Value(`{}`), Response: jsontext.Value(`{"candidates":[]}`)}).Policy
	require.JSONEq(t, `{"candidates":[{"content":{"role":"model","parts":[{"text":"b"}]}}]}`, string(p.ModifiedResponse))
	p = engineOf(t, dialect.LLxprt(), settingsOf(dialect.AfterModel, "true")).Fire(t.Context(), dialect.AfterModel,
		Input{Response: jsontext.Value(`{}`)}).Policy
	require.Nil(t, p.ModifiedResponse)
}

// The result of BeforeToolSelection has the changed tool configuration and the unchanged
// tools. HOOK-137, HOOK-154
func TestToolSelectionReturnsConfigurationAndTools(t *testing.T) {
	e := engineOf(t, dialect.LLxprt(), modelHooks)
	p := e.Fire(t.Context(), dialect.BeforeToolSelection, Input{Request: jsontext.Value(`{"config":{"tools":[1]}}`)}).Policy
	require.JSONEq(t, `{"functionCallingConfig":{"mode":"NONE","allowedFunctionNames":[]}}`, string(p.ToolConfig))
	require.Equal(t, `[1]`, string(p.Tools))
}

func TestBlockedToolIsNotRunAndCancelledHooksDoNotBlock(t *testing.T) {
	e := engineOf(t, dialect.LLxprt(),
		`{"BeforeTool":[{"matcher":"stop","hooks":[{"type":"command","command":"exit `+
			`2"}]},{"matcher":"slow","hooks":[{"type":"command","command":"sleep 300"}]}]}`)
	var ran int
	tool := func(context.Context, jsontext.Value) (ToolResult, error) {
		ran++
		return ToolResult{LLMContent: "ok"}, nil
	}

	run := e.ExecuteTool(t.Context(), "stop", nil, tool)
	require.True(t, run.Blocked)
	require.Zero(t, ran)
	require.Nil(t, run.After)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run = e.ExecuteTool(ctx, "slow", nil, tool)
	require.False(t, run.Blocked)
	require.Equal(t, 1, ran)
	require.Contains(t, run.Before.Results[0].Error, "cancelled")
}

// TestFireReturnsAfterTheHooksHaveEnded returns after every hook has ended. HOOK-134
func TestFireReturnsAfterTheHooksHaveEnded(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "mark")
	e := engineOf(t, dialect.LLxprt(), settingsOf(dialect.AfterTool, "sleep 0.05; touch "+marker))
	r := e.Fire(t.Context(), dialect.AfterTool, Input{})
	require.FileExists(t, marker)
	require.Len(t, r.Results, 1)
	require.True(t, r.Results[0].Success)
}

// HOOK-011
func TestNoHooksForTheEventStartsNothing(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "mark")
	e := engineOf(t, dialect.LLxprt(), settingsOf(dialect.AfterTool, "touch "+marker))
	r := e.Fire(t.Context(), dialect.BeforeTool, Input{Fields: jsontext.Value(`{"tool_name":"w"}`)})
	require.Nil(t, r.Plan)
	require.True(t, r.Aggregated.Success)
	_, err := os.Stat(marker)
	require.ErrorIs(t, err, os.ErrNotExist)
}
