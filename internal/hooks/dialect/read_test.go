package dialect

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// TestRead shows what a hook's exit code and output mean, one row for each kind of answer in
// the tables.
func TestRead(t *testing.T) {
	const nothing = ""
	for _, c := range []struct {
		dialect, event string
		outcome        process.Outcome
		want           string // the output
		notes          int
	}{
		{"llxprt", BeforeTool, process.Outcome{}, nothing, 0},
		{"llxprt", BeforeTool, process.Outcome{Stdout: " hi\n"}, `{"decision":"allow","systemMessage":"hi"}`, 0},
		{"llxprt", BeforeTool, process.Outcome{Stdout: `{"decision": "block"}`}, `{"decision":"block"}`, 0},
		{"llxprt", BeforeTool, process.Outcome{Stdout: `"{\"decision\":\"block\"}"`}, `{"decision":"block"}`, 0},
		{"llxprt", BeforeTool, process.Outcome{Stdout: `{"decision"`}, `{"decision":"allow","systemMessage":"{\"decision\""}`, 0},
		{"llxprt", BeforeTool, process.Outcome{Stdout: `[1]`}, nothing, 1},
		{"llxprt", BeforeTool, process.Outcome{Stdout: `null`}, nothing, 0},
		{"llxprt", BeforeTool, process.Outcome{ExitCode: 2, Stderr: "no\n", Stdout: `{"decision":"allow"}`},
			`{"decision":"deny","reason":"no"}`, 0},
		{"llxprt", BeforeTool, process.Outcome{ExitCode: 2}, `{"decision":"deny","reason":"Blocked by hook"}`, 0},
		{"llxprt", BeforeTool, process.Outcome{ExitCode: 1, Stderr: "bad"}, `{"decision":"allow","systemMessage":"Warning: bad"}`, 0},
		{"llxprt", BeforeTool, process.Outcome{ExitCode: 1, Stdout: `{"decision":"block"}`}, nothing, 0},
		{"llxprt", BeforeTool, process.Outcome{Signal: "SIGKILL", Stderr: "bad"}, `{"decision":"allow","systemMessage":"Warning: bad"}`, 0},
		{"llxprt", BeforeTool, process.Outcome{Err: errors.New("timed out"), Stderr: "bad"}, nothing, 0},
		{"gemini", BeforeTool, process.Outcome{ExitCode: 2}, nothing, 0},
		{"gemini", BeforeTool, process.Outcome{ExitCode: 2, Stdout: "no", Stderr: "unread"}, `{"decision":"deny","reason":"no"}`, 0},
		{"gemini", BeforeTool, process.Outcome{ExitCode: 1, Stderr: "bad"}, `{"decision":"allow","systemMessage":"Warning: bad"}`, 0},
		{"gemini", BeforeTool, process.Outcome{ExitCode: 3, Stderr: "bad"}, `{"decision":"deny","reason":"bad"}`, 0},
		{"gemini", BeforeTool, process.Outcome{Signal: "SIGKILL", Stderr: "bad"}, `{"decision":"allow","systemMessage":"bad"}`, 0},
		{"gemini", BeforeTool, process.Outcome{ExitCode: 1, Stderr: `{"decision":"block"}`}, `{"decision":"block"}`, 0},
		{"gemini", BeforeTool, process.Outcome{ExitCode: 2, Stdout: "7"}, nothing, 1},
		{"claude", "PreToolUse", process.Outcome{Stdout: "hi"}, nothing, 0},
		{"claude", "PreToolUse", process.Outcome{Stdout: `{"decision"`}, nothing, 1},
		{"claude", "PreToolUse", process.Outcome{Stdout: `[1]`}, nothing, 0},
		{"claude", "PreToolUse", process.Outcome{ExitCode: 1, Stderr: "bad"}, nothing, 0},
		{"claude", "PreToolUse", process.Outcome{ExitCode: 2}, `{"decision":"block","reason":"No stderr output"}`, 0},
		{"claude", "PreToolUse", process.Outcome{ExitCode: 2, Stderr: "no",
			Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}`},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"},"decision":"block","reason":"no"}`, 0},
		{"claude", "PreToolUse", process.Outcome{ExitCode: 2, Stderr: "no",
			Stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse"},"decision":"block","reason":"no"}`, 0},
		{"claude", "PreToolUse", process.Outcome{ExitCode: 2, Stderr: "no", Stdout: `{"hookSpecificOutput":{"additionalContext":"c"}}`},
			`{"decision":"block","reason":"no"}`, 1},
		{"claude", "PreToolUse", process.Outcome{Stdout: `{"hookSpecificOutput":{"hookEventName":"Stop"},"reason":"r"}`}, `{"reason":"r"}`, 1},
		{"codex", "PreToolUse", process.Outcome{Stdout: `{"reason":"r"}`}, nothing, 1},
		{"codex", "Stop", process.Outcome{Stdout: `{"reason":"r"}`}, `{"reason":"r"}`, 0},
		{"claude", "UserPromptSubmit", process.Outcome{Stdout: "hi"}, `{"hookSpecificOutput":{"additionalContext":"hi"}}`, 0},
		{"claude", "UserPromptSubmit", process.Outcome{Stdout: `[1]`}, `{"hookSpecificOutput":{"additionalContext":"[1]"}}`, 0},
	} {
		t.Run(fmt.Sprintf("%s %s %+v", c.dialect, c.event, c.outcome), func(t *testing.T) {
			d, err := Named(c.dialect)
			require.NoError(t, err)
			e, ok := d.Event(c.event)
			require.True(t, ok)
			answer := d.Read(e, c.outcome)
			require.Len(t, answer.Notes, c.notes, "%q", answer.Notes)
			if c.want == nothing {
				require.Nil(t, answer.Output)
				return
			}
			require.NotNil(t, answer.Output)
			require.Equal(t, c.want, string(answer.Output.Raw()))
		})
	}
}

// TestVerdicts: at an event that has a field of its own for the decision, no other field decides or stops.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct{ event, field, want string }{
		{"PermissionRequest", `"hookSpecificOutput":{"decision":{"behavior":"deny"}}`, Deny},
		{"PermissionRequest", `"hookSpecificOutput":{"decision":{"behavior":"allow"}}`, Allow},
		{"PermissionRequest", `"decision":"block"`, Undecided},
		{"Elicitation", `"hookSpecificOutput":{"action":"decline"}`, Deny},
		{"Elicitation", `"hookSpecificOutput":{"action":"cancel"}`, Deny},
		{"Elicitation", `"hookSpecificOutput":{"action":"accept"}`, Allow},
		{"PreToolUse", `"hookSpecificOutput":{"permissionDecision":"deny"}`, Deny},
		{"PreToolUse", `"hookSpecificOutput":{"permissionDecision":"ask"}`, Ask},
		{"PreToolUse", `"hookSpecificOutput":{"permissionDecision":"defer"}`, Defer},
		{"PreToolUse", `"hookSpecificOutput":{"permissionDecision":"allow"}`, Allow},
		{"PreToolUse", `"decision":"block"`, Deny},
		{"PreToolUse", `"decision":"approve"`, Allow},
		{"Stop", `"hookSpecificOutput":{"permissionDecision":"deny"}`, Undecided},
		{"PermissionRequest", `"hookSpecificOutput":{"decision":{"behavior":"deny","interrupt":true}}`, "stop"},
		{"PermissionRequest", `"continue":false`, Undecided},
		{"PostToolUse", `"continue":false`, "stop"},
	} {
		e, _ := Claude().Event(c.event)
		out, _ := ParseOutput(jsontext.Value("{" + c.field + "}"))
		assert.Equal(t, c.want, map[bool]string{true: "stop", false: e.Verdict(out)}[e.StoppedBy(out)], "%s %s", c.event, c.field)
	}
}

// TestTablesAreComplete finds rows without a field that every row needs.
func TestTablesAreComplete(t *testing.T) {
	for _, d := range All() {
		seen := map[string]bool{}
		for _, e := range d.Events {
			require.False(t, seen[e.Name], "%s has %s twice", d.Name, e.Name)
			seen[e.Name] = true
			require.NotZero(t, e.Merge, "%s %s", d.Name, e.Name)
			require.True(t, e.Behavior || e.Meanings != (Meanings{}), "%s %s", d.Name, e.Name)
			if d.Answers.Objects == ObjectsOnAnyStream {
				require.Zero(t, e.Meanings.OtherJSON, "%s %s: nothing reads it", d.Name, e.Name)
				require.Zero(t, e.Meanings.Broken, "%s %s: nothing reads it", d.Name, e.Name)
			}
		}
		for _, around := range []string{d.Around.BeforeTool, d.Around.AfterTool} {
			require.True(t, seen[around], "%s has no %s", d.Name, around)
		}
		require.NotZero(t, d.Hooks.ToolMatcher)
		require.NotZero(t, d.Hooks.OtherMatcher)
		require.NotEmpty(t, d.Hooks.Identity)
		require.NotEmpty(t, d.Settings.Switch.settings)
	}
}

func TestUnknownNames(t *testing.T) {
	_, err := Named("cobol")
	require.ErrorIs(t, err, errUnknown)
	require.EqualError(t, err, `unknown dialect "cobol"; known are llxprt, gemini, claude and codex`)
}

// TestVariableText: a number is written as by JavaScript.
func TestVariableText(t *testing.T) {
	for value, want := range map[string]string{
		"8080": "8080", "1.50": "1.5", "-0": "0", "1e21": "1e+21", "1e-7": "1e-7", "123456789012345678901234": "1.2345678901234569e+23",
		"true": "true", "null": "null", `"a\n"`: "a\n",
	} {
		text, ok := VariableText(jsontext.Value(value))
		assert.True(t, ok, value)
		assert.Equal(t, want, text, value)
	}
	_, ok := VariableText(jsontext.Value("[1]"))
	assert.False(t, ok)
}

// TestResponses: what hooks see of a response, and what a response of hooks becomes.
func TestResponses(t *testing.T) {
	const usage = `"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3`
	for _, c := range []struct{ response, hook, back string }{
		{`{}`, `{"candidates":[]}`, ``},
		{`{"candidates":[{"content":{"role":"user","parts":[{"text":"a"},{"text":"b"},{"other":1}]},"finishReason":"STOP","index":0,"x":1}],` +
			`"y":1,` + usage + `,"z":4}}`,
			`{"text":"ab","candidates":[{"content":{"role":"user","parts":["a","b"]},"finishReason":"STOP","index":0}],` + usage + `}}`,
			`{"text":"ab","candidates":[{"content":{"role":"user","parts":[{"text":"a"},{"text":"b"}]},"finishReason":"STOP","index":0}],` +
				usage + `}}`},
		{`{"text":"t","candidates":[{"content":{"parts":[{"text":"a"}]},"safetyRatings":[{"category":"c","probability":"p","x":1}]},{}]}`,
			`{"text":"t","candidates":[{"content":{"role":"model","parts":["a"]},"safetyRatings":[{"category":"c","probability":"p"}]},` +
				`{"content":{"role":"model","parts":[]}}]}`,
			`{"text":"t","candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"safetyRatings":[{"category":"c","probability":"p"}]},` +
				`{"content":{"role":"model","parts":[]}}]}`},
	} {
		hook := ToHookResponse(jsontext.Value(c.response)).Raw()
		assert.JSONEq(t, c.hook, string(hook), c.response)
		back, ok := FromHookResponse(hook)
		if assert.Equal(t, c.back != "", ok, c.response); ok {
			assert.JSONEq(t, c.back, string(back), c.response)
		}
	}
	for given, want := range map[string]string{
		`{"candidates":[1,{"content":{"parts":["a"]}}]}`: `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]}`,
		`{"candidates":[{"content":{"parts":[]}}]}`:      "", `7`: "",
	} {
		got, ok := FromHookResponse(jsontext.Value(given))
		if assert.Equal(t, want != "", ok, given); ok {
			assert.JSONEq(t, want, string(got), given)
		}
	}
	assert.JSONEq(t, `{"candidates":[{"content":{"role":"model","parts":[{"text":"why"}]},"finishReason":"STOP","index":0}]}`,
		string(StopResponse("why")))
}
