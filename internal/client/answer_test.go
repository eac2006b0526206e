package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
)

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct{ got, want client.Answer }{
		"go on": {client.GoOn(client.PostToolUse, ""), client.Answer{Output: "{\"continue\": true}\n"}},
		"go on with a context": {client.GoOn(client.PostToolUse, "c"),
			client.Answer{Output: `{"continue": true, "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "c"}}` + "\n"}},
		"go on and tell both": {client.GoOnTelling(client.PostToolUse, "c", "p"),
			client.Answer{Output: `{"continue": true, "hookSpecificOutput": {"hookEventName": "PostToolUse", ` +
				`"additionalContext": "c"}, "systemMessage": "p"}` + "\n"}},
		"go on and tell the person": {client.GoOnTelling(client.PostToolUse, "", "p"),
			client.Answer{Output: `{"continue": true, "systemMessage": "p"}` + "\n"}},
		"notice": {client.Notice("n"), client.Answer{Output: `{"continue": true, "systemMessage": "fsmtx: n"}` + "\n", ErrorText: "fsmtx: n\n"}},
		"tell both": {client.Tell(client.PreToolUse, "m", "p"),
			client.Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "m"}, "systemMessage": "p"}` + "\n"}},
		"tell the person":            {client.Tell(client.Stop, "", "p"), client.Answer{Output: `{"systemMessage": "p"}` + "\n"}},
		"tell before a compaction":   {client.Tell(client.PreCompact, "m", "p"), client.Answer{Output: "m\n"}},
		"nothing for the compaction": {client.Tell(client.PreCompact, "", "p"), client.Answer{}},
		"refuse": {client.Refuse("r"), client.Answer{
			Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "r"}}` +
				"\n",
			ErrorText: "r\n", Exit: 2}},
		"block": {client.Block("r", "m"), client.Answer{
			Output: `{"decision": "block", "reason": "r. m", "systemMessage": "m"}` + "\n", ErrorText: "r. m\n", Exit: 2}},
		"feedback": {client.Feedback("m"), client.Answer{ErrorText: "m\n", Exit: 2}},
		"escaped texts": {client.GoOnTelling(client.PreToolUse, "a\u202e\nb", "\xff\x1b"), client.Answer{
			Output: `{"continue": true, "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "a\\u202e\nb"}, ` +
				`"systemMessage": "\\xff\\x1b"}` + "\n"}},
		"escaped feedback": {client.Feedback("a\x1b"), client.Answer{ErrorText: "a\\x1b\n", Exit: 2}},
		"send back": {client.SendBack(client.SubagentStop, "a\x1b", ""), client.Answer{
			Output: `{"hookSpecificOutput": {"hookEventName": "SubagentStop", "additionalContext": "a\\x1b"}}` + "\n"}},
		"escaped question": {client.Ask("a\u2028", nil),
			client.Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", ` +
				`"permissionDecisionReason": "a\\u2028"}}` + "\n"}},
		"escaped summary": {client.Tell(client.PreCompact, "a\x1b", ""), client.Answer{Output: "a\\x1b\n"}},
		"tool input, kept": {client.Rewrite([]byte("{\"a\":\"\u202e\"}"), "", ""),
			client.Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"a": "\u202e"}}}` + "\n"}},
	} {
		assert.Equal(t, test.want, test.got, name)
	}
}

func TestFailureBlocksOnlyAtSomeEvents(t *testing.T) {
	blocks := client.Answer{ErrorText: "fsmtx: m\nhint: h\n", Exit: client.ExitBlock}
	notice := client.Answer{Output: `{"continue": true, "systemMessage": "fsmtx: m\nh"}` + "\n", ErrorText: "fsmtx: m\nh\n"}
	context := client.Answer{
		Output:    `{"continue": true, "hookSpecificOutput": {"hookEventName": "UserPromptExpansion", "additionalContext": "c"}}` + "\n",
		ErrorText: "fsmtx: m\n",
	}
	for _, test := range []struct {
		event string
		stop  bool
		want  client.Answer
	}{
		{client.PostToolUse, false, blocks}, {client.PostToolUse, true, blocks}, {"", false, blocks},
		{client.UserPromptExpansion, true, blocks}, {client.UserPromptExpansion, false, context},
		{client.SessionStart, false, notice}, {client.SessionStart, true, notice}, {client.Stop, true, notice}, {client.PreToolUse, true, notice},
	} {
		f := client.Failure{Message: "m", Hint: "h", Context: "c", Stop: test.stop}
		assert.Equal(t, test.want, f.Answer(test.event), "%s, stop %v", test.event, test.stop)
	}
	assert.Equal(t, client.Answer{ErrorText: "fsmtx: m\n", Exit: client.ExitBlock}, client.Failure{Message: "m"}.Answer(client.PostToolUse))
	assert.Equal(t, "fsmtx: m\n", client.Failure{Message: "m"}.Answer(client.SessionStart).ErrorText)
}

type failingWriter struct{ error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.error }

func TestWritePrintsTheOutputFirst(t *testing.T) {
	var out, errs strings.Builder
	a := client.Answer{Output: "o\n", ErrorText: "e\n", Exit: 2}
	require.NoError(t, a.Write(&out, &errs))
	assert.Equal(t, "o\n", out.String())
	assert.Equal(t, "e\n", errs.String())
	var both strings.Builder
	require.NoError(t, a.Write(&both, &both))
	assert.Equal(t, "o\ne\n", both.String())
	broken := errors.New("broken")
	require.ErrorIs(t, a.Write(failingWriter{broken}, &errs), broken)
	require.ErrorIs(t, a.Write(&out, failingWriter{broken}), broken)
}

// TestAnAnswerThatIsNotPrintedRefusesWhatItDecides: the client would carry the call out.
func TestAnAnswerThatIsNotPrintedRefusesWhatItDecides(t *testing.T) {
	for name, c := range map[string]struct {
		answer client.Answer
		code   int
	}{
		"nothing":       {client.Answer{}, client.ExitOK},
		"a notice":      {client.Notice("x"), client.ExitOK},
		"the usual":     {client.GoOn(client.PostToolUse, ""), client.ExitOK},
		"a permission":  {client.Allow("x"), client.ExitOK},
		"a question":    {client.Ask("Really?", nil), client.ExitBlock},
		"other input":   {client.Rewrite([]byte(`{"a":1}`), "", ""), client.ExitBlock},
		"a refusal":     {client.Refuse("no"), client.ExitBlock},
		"a bare denial": {client.Reply{Specific: &client.Specific{PermissionDecision: "deny"}}.Answer(), client.ExitBlock},
		"a bare block":  {client.Reply{Decision: "block"}.Answer(), client.ExitBlock},
	} {
		assert.Equal(t, c.code, c.answer.Undelivered(), name)
	}
}
