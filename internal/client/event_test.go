package client_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

func TestParse(t *testing.T) {
	e := must(client.Parse([]byte(`{"session_id": "s", "session_id": "t", "cwd": null, "hook_event_name": "Stop", "stop_hook_active": true, ` +
		`"tool_name": 1, "prompt": [],
		"tool_input": {"a": 1}, "unknown": 7}`)))
	assert.Equal(t, "t", e.SessionID, "the last one counts")
	assert.Equal(t, "Stop", e.Name)
	assert.True(t, e.StopHookActive)
	assert.Equal(t, []string{"prompt", "tool_name"}, e.WrongType)
	assert.Empty(t, e.ToolName)
	assert.Equal(t, `{"a": 1}`, string(e.ToolInput))
	assert.Nil(t, e.ToolResponse)
	assert.Equal(t, "7", string(e.Member("unknown")))
	assert.Nil(t, e.Member("absent"))
	for field, want := range map[string]bool{"unknown": true, "cwd": false, "absent": false} {
		assert.Equal(t, want, e.Has(field), field)
	}
}

func TestMalformedEvents(t *testing.T) {
	for text, want := range map[string]string{
		"{\"session_id\": \"ä\", x":  `the event on standard input is not valid JSON: 1:21: `,
		"{\n\"session_id\": \"abc\"": `the event on standard input is not valid JSON: 2:20: unexpected end of file`,
		"[1]":                        `the event on standard input is not a JSON object: 1:1: got an array, want an object`,
		"\n  null":                   `the event on standard input is not a JSON object: 2:3: got null, want an object`,
		`"text"`:                     `the event on standard input is not a JSON object: 1:1: got a string, want an object`,
		`7`:                          `the event on standard input is not a JSON object: 1:1: got a number, want an object`,
		`true`:                       `the event on standard input is not a JSON object: 1:1: got a boolean, want an object`,
		`{} {}`:                      `the event on standard input is not valid JSON: 1:4: `,
	} {
		_, err := client.Parse([]byte(text))
		require.ErrorIs(t, err, client.ErrMalformed, text)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%q: %v", text, err)
	}
	for _, text := range []string{"", " \n\t"} {
		_, err := client.Parse([]byte(text))
		require.ErrorIs(t, err, client.ErrEmpty)
	}
}

// TestInput: the members of tool_input are those of its last value.
func TestInput(t *testing.T) {
	for text, want := range map[string]string{
		`{"tool_input": {"a": "x"}}`:                              "x",
		`{"tool_input": {"a": "x", "a": "y"}, "tool_name": "T"}`:  "y",
		`{"tool_input": {"a": "x"}, "tool_input": { "a" :"y" } }`: "y",
		`{"tool_input": {"a": "x"}, "tool_input": null}`:          "",
		`{"tool_input": {"a": {"a": "x"}}}`:                       "",
		`{"tool_response": {"tool_input": {"a": "x"}}}`:           "",
		`{"tool_\u0069nput": {"\u0061": "\u0078"}}`:               "x",
		`{"tool_input": ["a"]}`:                                   "",
		`{"a": "z"}`:                                              "",
	} {
		e, err := client.Parse([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, e.InputText("a"), text)
		assert.Equal(t, want, jsonx.StringMember(e.ToolInput, "a"), text)
	}
	e := client.Event{ToolInput: []byte(`{"a": "x"}`)}
	assert.Equal(t, "x", e.InputText("a"), "of an event that was not read")
}

// TestWhatIsKnownOfALargeEvent is what stands before the large part.
func TestWhatIsKnownOfALargeEvent(t *testing.T) {
	begin := `{"session_id": "s", "hook_event_name": "PreToolUse", "tool_input": {"file_path": "/a", "content": "`
	e, err := client.Read(io.MultiReader(strings.NewReader(begin), zeros{}))
	require.ErrorIs(t, err, client.ErrTooLarge)
	assert.Equal(t, []string{"s", "PreToolUse", ""}, []string{e.SessionID, e.Name, e.InputText("file_path")})
	e, err = client.Read(zeros{})
	require.ErrorIs(t, err, client.ErrTooLarge)
	assert.Empty(t, e.Name)
}

// zeros is endless input.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestReadIsLimited(t *testing.T) {
	_, err := client.Read(zeros{})
	require.ErrorIs(t, err, client.ErrTooLarge)
	require.EqualError(t, err, fmt.Sprintf("event is larger than %d MiB", client.MaxBytes>>20))
	assert.Len(t, must(client.ReadAll(io.LimitReader(zeros{}, client.MaxBytes))), client.MaxBytes)
}

func TestReadReturnsTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	_, err := client.Read(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestLengthIsInUTF16CodeUnits(t *testing.T) { assert.Equal(t, 5, client.Length("aé→😀")) }

// TestOtherAgentsEventsAreForeign reads recorded events; the test of this name in
// internal/harness/agents asks the agents.
func TestOtherAgentsEventsAreForeign(t *testing.T) {
	f := must(os.Open("../../testdata/agents/events.jsonl"))
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for lines.Scan() {
		var recorded struct {
			Agent string
			Event jsontext.Value
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &recorded, json.MatchCaseInsensitiveNames(true)))
		assert.True(t, must(client.Parse(recorded.Event)).Foreign(), "%s", lines.Bytes())
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
		assert.Equal(t, want, must(client.Parse([]byte(text))).Foreign(), text)
	}
}
