package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// engineOf returns an engine for hooks written as in settings.
func engineOf(t *testing.T, d Dialect, hooks string) *Engine {
	return New(Config{
		Dialect: d,
		Session: Session{ID: "s", Cwd: t.TempDir()},
		Enabled: true,
		Load: func() ([]Source, error) {
			return []Source{{Scope: Project, Hooks: jsontext.Value(hooks)}}, nil
		},
	})
}

func TestDisabledEngineIsNilAndSafe(t *testing.T) {
	e := New(Config{Dialect: LLxprt(), Load: func() ([]Source, error) { panic("read") }})
	require.Nil(t, e)
	require.Nil(t, e.Fire(t.Context(), BeforeTool, Input{}).Plan)
	require.Nil(t, e.BeforeTool(t.Context(), "x", nil))
	require.Equal(t, Status{}, e.Status())
	require.ErrorIs(t, e.Init(), ErrNotInitialized)
	request := jsontext.Value(`{"model":"m"}`)
	require.Equal(t, BeforeModelResult{}, e.BeforeModel(t.Context(), request))
	require.Equal(t, request, e.AfterModel(t.Context(), nil, request).Response)
	require.Equal(t, ToolSelectionResult{}, e.BeforeToolSelection(t.Context(), request))
}

func TestConfigurationIsReadOnceByTheFirstEvent(t *testing.T) {
	var reads atomic.Int32
	e := New(Config{Dialect: LLxprt(), Session: Session{Cwd: t.TempDir()}, Enabled: true, Load: func() ([]Source, error) {
		reads.Add(1)
		return []Source{{Hooks: jsontext.Value(`{"BeforeTool":[{"hooks":[{"type":"command","command":"true"},5]}]}`)}}, nil
	}})
	_, err := e.Registry()
	require.ErrorIs(t, err, ErrNotInitialized)
	require.Zero(t, reads.Load(), "making an engine reads nothing")

	var group sync.WaitGroup
	var warned atomic.Int32
	for range 8 {
		group.Go(func() {
			for _, entry := range e.Fire(t.Context(), BeforeTool, Input{}).Logs {
				if entry.Level == "warn" {
					warned.Add(1)
				}
			}
		})
	}
	group.Wait()
	require.NoError(t, e.Init())
	require.EqualValues(t, 1, reads.Load())
	require.EqualValues(t, 1, warned.Load(), "what is wrong is said once")
	require.Equal(t, Status{true, 1}, e.Status())
}

func TestTroubleInsideAllowsAndIsLogged(t *testing.T) {
	broken := LLxprt()
	broken.variables = func(Session, Hook) []Variable { panic("in the runner") }
	worse := LLxprt()
	worse.rules = map[string]rule{BeforeTool: {name: BeforeTool, effects: nil, merge: func([]HookResult) Output { panic("in the aggregator") }}}
	one := `{"BeforeTool":[{"hooks":[{"type":"command","command":"exit 2"}]}]}`
	for name, e := range map[string]*Engine{
		"load error": New(Config{Dialect: LLxprt(), Enabled: true, Load: func() ([]Source, error) { return nil, errors.New("no disk") }}),
		"load panic": New(Config{Dialect: LLxprt(), Enabled: true, Load: func() ([]Source, error) { panic("no disk") }}),
		"runner":     engineOf(t, broken, one),
		"aggregator": engineOf(t, worse, one),
		"event":      engineOf(t, LLxprt(), one),
	} {
		t.Run(name, func(t *testing.T) {
			event := BeforeTool
			if name == "event" {
				event = "NoSuchEvent"
			}
			r := e.Fire(t.Context(), event, Input{})
			require.False(t, r.Policy.Blocking || r.Policy.Stop)
			require.NotEmpty(t, r.Logs)
			require.Equal(t, "warn", r.Logs[0].Level)
			e.Fire(t.Context(), event, Input{}) // and again
		})
	}
}

func TestTriggers(t *testing.T) {
	e := engineOf(t, LLxprt(), `{
		"BeforeTool":[{"matcher":"^w$","hooks":[{"type":"command","command":"echo no >&2; exit 2"}]}],
		"AfterTool":[{"hooks":[{"type":"command","command":"grep -q '\"llmContent\":\"out\"' && echo seen"}]}],
		"BeforeModel":[{"hooks":[{"type":"command","command":"echo '{\"decision\":\"block\",\"reason\":\"r\",\"hookSpecificOutput\":{\"llm_request\":{\"model\":\"n\"},\"llm_response\":{\"candidates\":[{\"content\":{\"parts\":[\"a\"]}}]}}}'"}]}],
		"AfterModel":[{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"llm_response\":{\"candidates\":[{\"content\":{\"parts\":[\"b\"]}}]}}}'"}]}],
		"BeforeToolSelection":[{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"toolConfig\":{\"mode\":\"NONE\"}}}'"}]}]}`)
	ctx, input, request := t.Context(), jsontext.Value(`{"a":1}`), jsontext.Value(`{"model":"m","config":{"tools":[1]}}`)

	require.True(t, e.BeforeTool(ctx, "w", input).Blocks())
	require.Nil(t, e.BeforeTool(ctx, "x", input))

	after := e.AfterTool(ctx, "w", input, jsontext.Value(`{"llmContent":"out"}`))
	require.Equal(t, "seen", after.SystemMessage())

	before := e.BeforeModel(ctx, request)
	require.True(t, before.Blocked)
	require.Equal(t, "r", before.Reason)
	require.Contains(t, string(before.Synthetic), `{"text":"a"}`)
	require.Contains(t, string(before.Modified), `"model":"n"`)

	require.Contains(t, string(e.AfterModel(ctx, request, jsontext.Value(`{}`)).Response), `{"text":"b"}`)

	selection := e.BeforeToolSelection(ctx, request)
	require.Contains(t, string(selection.ToolConfig), modeNone)
	require.Equal(t, `[1]`, string(selection.Tools))
}

func TestBlockedToolIsNotRunAndCancelledHooksDoNotBlock(t *testing.T) {
	e := engineOf(t, LLxprt(), `{"BeforeTool":[{"matcher":"stop","hooks":[{"type":"command","command":"exit 2"}]},{"matcher":"slow","hooks":[{"type":"command","command":"sleep 300"}]}]}`)
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

func TestNoHooksForTheEventStartsNothing(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "mark")
	e := engineOf(t, LLxprt(), `{"AfterTool":[{"hooks":[{"type":"command","command":"touch `+marker+`"}]}]}`)
	r := e.Fire(t.Context(), BeforeTool, Input{Fields: jsontext.Value(`{"tool_name":"w"}`)})
	require.Nil(t, r.Plan)
	require.True(t, r.Aggregated.Success)
	_, err := os.Stat(marker)
	require.ErrorIs(t, err, os.ErrNotExist)
}
