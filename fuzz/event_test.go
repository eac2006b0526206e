package fuzz_test

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

var (
	tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	safeID   = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

// FuzzEvent parses any bytes as an event. Only input that is not a JSON object is refused.
// If the event is for a hydration, the request has the values that an ordinary decoder
// finds.
func FuzzEvent(f *testing.F) {
	seed(f,
		`{"session_id": "abc", "cwd": "/", "hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_input": {"skill": "x"}, `+
			`"tool_response": {"success": true, "commandName": "p:x"}, "tool_use_id": "t"}`,
		`{"session_id": "abc", "hook_event_name": "UserPromptExpansion", "command_name": "p:x", "prompt_id": "1", "agent_id": "a"}`,
		`{"session_id": "abc", "tool_response": {"commandName": "x"}}`,
		`{"session_id": "abc", "tool_response": {"success": false, "commandName": "x"}}`,
		`{"session_id": "abc", "tool_response": {"agentId": "a", "commandName": "x"}}`,
		`{"session_id": "abc", "tool_response": "Error"}`, `{"hook_event_name": "Stop"}`, `{"tool_name": "Bash"}`,
		`{"session_id": 1, "tool_response": {"commandName": null}}`, `null`, `[]`, ``, ` `, `{`,
		"{\"session_id\": \"\xff\\ud800\", \"session_id\": \"../..\", \"tool_response\": {\"commandName\": \"\\u0000\"}}",
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := client.Parse(bytes.Clone(data))
		if err != nil {
			require.True(t, errors.Is(err, client.ErrEmpty) || errors.Is(err, client.ErrMalformed), "%v", err)
			require.Nil(t, members(data), "a JSON object was refused: %v", err)
			return
		}
		checkEvent(t, e, data)
	})
}

func checkEvent(t *testing.T, e *client.Event, data []byte) {
	plain := members(data)
	require.NotNil(t, plain)
	r, skip, err := hydrate.Understand(e)
	require.False(t, skip != "" && err != nil, "skipped and refused")
	if err != nil {
		require.ErrorIs(t, err, hydrate.ErrEvent)
	}
	require.Equal(t, text(plain, "session_id"), e.SessionID)
	require.Equal(t, text(plain, "cwd"), e.Cwd)
	if skip != "" || err != nil {
		return
	}
	want := text(plain, "command_name")
	if r.Event == client.PostToolUse {
		response := members(plain["tool_response"])
		want = text(response, "commandName")
		require.NotEqual(t, "false", string(response["success"]))
		require.Equal(t, !slices.Contains([]string{"", "null", `""`}, string(response["agentId"])), r.Apart)
	}
	require.NotEmpty(t, r.Command)
	require.Equal(t, want, r.Command)
	require.NotEmpty(t, r.Session)
	require.Equal(t, e.SessionID, r.Session)
	require.Equal(t, text(plain, "agent_id"), r.Agent)
	require.Regexp(t, safeID, tasks.ID(func(string) (string, bool) { return "", false }, r.Session))
}

// members returns the members of a JSON object, or nil if data is not one. Of
// duplicate names the last one counts.
func members(data []byte) map[string]jsontext.Value {
	var object map[string]jsontext.Value
	if json.Unmarshal(data, &object, tolerant) != nil {
		return nil
	}
	return object
}

// text returns the member of that name, or "" if it is not a string.
func text(object map[string]jsontext.Value, name string) (s string) {
	if object[name].Kind() == '"' {
		_ = json.Unmarshal(object[name], &s, tolerant)
	}
	return s
}
