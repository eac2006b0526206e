package client_test

import (
	"bufio"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
)

// TestOtherAgentsEventsAreForeign reads recorded events; the test of this name in
// internal/harness/agents asks the agents.
func TestOtherAgentsEventsAreForeign(t *testing.T) {
	f, err := os.Open("../../testdata/agents/events.jsonl")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for lines.Scan() {
		var recorded struct {
			Agent string
			Event jsontext.Value
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &recorded, json.MatchCaseInsensitiveNames(true)))
		e, err := client.Parse(recorded.Event)
		require.NoError(t, err)
		assert.True(t, e.Foreign(), "%s", lines.Bytes())
		n++
	}
	require.NoError(t, lines.Err())
	require.Greater(t, n, 20)
}

func TestOnlyMarkedEventsAreForeign(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false,
		`{"session_id": "s", "tool_name": "Skill"}`:                                                        false,
		`{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "model": "opus"}`:     false,
		`{"session_id": "s", "hook_event_name": "Future"}`:                                                 false,
		`{"hook_event_name": "PreToolUse", "prompt_id": "p", "timestamp": "2027-01-01T00:00:00Z"}`:         false,
		`{"hook_event_name": "Stop", "transcript_path": "/home/a/.claude/projects/rollout-x/s.jsonl"}`:     false,
		`{"hook_event_name": "Stop", "timestamp": null}`:                                                   false,
		`{"hook_event_name": "Stop", "timestamp": "2027-01-01T00:00:00Z"}`:                                 true,
		`{"hook_event_name": "Stop", "prompt_id": "s########0", "timestamp": "2027-01-01T00:00:00Z"}`:      true,
		`{"hook_event_name": "Stop", "turn_id": "t"}`:                                                      true,
		`{"hook_event_name": "SessionStart", "transcript_path": "/c/sessions/2026/11/22/rollout-x.jsonl"}`: true,
		`{"hook_event_name": "preToolUse", "conversation_id": "c"}`:                                        true,
		`{"hook_event_name": "BeforeTool", "session_id": "s"}`:                                             true,
		`{"hook_event_name": "AfterAgent", "session_id": "s"}`:                                             true,
		`{"sessionId": "s"}`:        true,
		`{"hookName": "TaskStart"}`: true,
	} {
		e, err := client.Parse([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, e.Foreign(), text)
	}
}
