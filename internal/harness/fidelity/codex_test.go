package fidelity

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

const codexSettings = ".codex/hooks.json"

// fireAsCodex returns what fire answers to a case. The calls need no permission, so that
// allow and undecided look the same, and no user can be asked.
func fireAsCodex(t testing.TB, c fidelityCase) answer {
	event := map[string]any{"session_id": "s"}
	switch c.event {
	case "PreToolUse", "PostToolUse":
		event["tool_name"], event["tool_input"] = "Bash", map[string]any{"command": "echo " + toolOutput}
	case "SessionStart":
		event["source"] = "startup"
	case "UserPromptSubmit":
		event["prompt"] = "go"
	}
	if c.event == "Stop" {
		event["stop_hook_active"] = false
	}
	text, err := json.Marshal(event)
	require.NoError(t, err)
	p, ran := newWorld(t).fire(t, c, "codex", codexSettings, string(text))
	a := answer{verdict: undecided, ran: ran}
	texts := []string{p.AdditionalContext}
	switch {
	case p.Stop && c.event == "Stop":
		texts = nil // the turn ends with and without it
	case p.Blocking:
		a.verdict, texts = denied, append(texts, p.Reason)
	case p.Stop:
		a.verdict, texts = stopped, append(texts, p.Reason)
	}
	if (isPrompt(c.event) || c.event == "SessionStart") && a.verdict != undecided {
		a.verdict, texts = denied, nil
	}
	if c.event == "PreToolUse" && a.verdict == undecided || c.event == "PostToolUse" && a.verdict == undecided {
		output := toolOutput
		if p.ToolInput != nil {
			output = string(p.ToolInput)
		}
		texts = append(texts, output)
	}
	a.model = c.marksOf(texts...)
	return a
}
