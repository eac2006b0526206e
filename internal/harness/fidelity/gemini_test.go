package fidelity

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

const geminiSettings = ".gemini/settings.json"

// geminiInput returns the fields of a case's event.
func geminiInput(c fidelityCase) map[string]any {
	request := map[string]any{"model": "m", "contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "hello"}}}}}
	response := map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"role": "model",
		"parts": []any{map[string]any{"text": "hi"}}}, "finishReason": "STOP"}}}
	return map[string]map[string]any{
		"BeforeTool": {"tool_name": "write_file", "tool_input": map[string]any{"path": "a"}},
		"AfterTool": {"tool_name": "write_file", "tool_input": map[string]any{"path": "a"},
			"tool_response": map[string]any{"llmContent": "x"}},
		"BeforeAgent":         {"prompt": "go"},
		"AfterAgent":          {"prompt": "go", "prompt_response": "done", "stop_hook_active": false},
		"SessionStart":        {"source": "startup"},
		"SessionEnd":          {"reason": "exit"},
		"PreCompress":         {"trigger": "manual"},
		"Notification":        {"notification_type": "ToolPermission", "message": "m", "details": map[string]any{}},
		"BeforeModel":         {"sdk_request": request},
		"AfterModel":          {"sdk_request": request, "sdk_response": response},
		"BeforeToolSelection": {"sdk_request": request},
	}[c.event]
}

// fireAsGemini returns what fire answers to a case. Gemini CLI treats allow and
// undecided alike.
func fireAsGemini(t testing.TB, c fidelityCase) answer {
	event := geminiInput(c)
	event["session_id"] = "s"
	text, err := json.Marshal(event)
	require.NoError(t, err)
	p, ran := newWorld(t).fire(t, c, "gemini", geminiSettings, string(text))
	return p.asGemini(c, ran)
}

// asGemini returns the answer that a policy is for Gemini CLI.
func (p policy) asGemini(c fidelityCase, ran []string) answer {
	a := answer{verdict: undecided, ran: ran}
	texts := []string{p.SystemMessage, p.AdditionalContext}
	switch {
	case p.Stop:
		a.verdict, texts = stopped, append(texts, p.Reason)
	case p.Blocking:
		a.verdict, texts = denied, append(texts, p.Reason, string(p.SyntheticResponse))
	case p.Verdict == asks:
		a.verdict = asks
	}
	for _, value := range []jsontext.Value{p.ToolInput, p.ModifiedRequest, p.ModifiedResponse, p.ToolConfig, p.TailToolCall} {
		texts = append(texts, string(value))
	}
	a.model = c.marksOf(texts...)
	if p.ClearContext {
		a.model = append(a.model, "CLEARED")
	}
	if strings.Contains(p.AdditionalContext, "&lt;") {
		a.model = append(a.model, "ESCAPED")
	}
	return a
}
