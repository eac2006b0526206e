package event_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct{ got, want event.Answer }{
		"go on": {event.GoOn(event.PostToolUse, ""), event.Answer{Output: "{\"continue\": true}\n"}},
		"go on with a context": {event.GoOn(event.PostToolUse, "c"),
			event.Answer{Output: `{"continue": true, "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "c"}}` + "\n"}},
		"go on and tell both": {event.GoOnTelling(event.PostToolUse, "c", "p"),
			event.Answer{Output: `{"continue": true, "hookSpecificOutput": {"hookEventName": "PostToolUse", ` +
				`"additionalContext": "c"}, "systemMessage": "p"}` + "\n"}},
		"go on and tell the person": {event.GoOnTelling(event.PostToolUse, "", "p"),
			event.Answer{Output: `{"continue": true, "systemMessage": "p"}` + "\n"}},
		"notice": {event.Notice("n"), event.Answer{Output: `{"continue": true, "systemMessage": "fsmtx: n"}` + "\n", ErrorText: "fsmtx: n\n"}},
		"tell both": {event.Tell(event.PreToolUse, "m", "p"),
			event.Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "m"}, "systemMessage": "p"}` + "\n"}},
		"tell the person":            {event.Tell(event.Stop, "", "p"), event.Answer{Output: `{"systemMessage": "p"}` + "\n"}},
		"tell before a compaction":   {event.Tell(event.PreCompact, "m", "p"), event.Answer{Output: "m\n"}},
		"nothing for the compaction": {event.Tell(event.PreCompact, "", "p"), event.Answer{}},
		"refuse": {event.Refuse("r"), event.Answer{
			Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "r"}}` +
				"\n",
			ErrorText: "r\n", Exit: 2}},
		"block": {event.Block("r", "m"), event.Answer{
			Output: `{"decision": "block", "reason": "r. m", "systemMessage": "m"}` + "\n", ErrorText: "r. m\n", Exit: 2}},
		"feedback": {event.Feedback("m"), event.Answer{ErrorText: "m\n", Exit: 2}},
		"escaped texts": {event.GoOnTelling(event.PreToolUse, "a\u202e\nb", "\xff\x1b"), event.Answer{
			Output: `{"continue": true, "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "a\\u202e\nb"}, ` +
				`"systemMessage": "\\xff\\x1b"}` + "\n"}},
		"escaped feedback": {event.Feedback("a\x1b"), event.Answer{ErrorText: "a\\x1b\n", Exit: 2}},
		"send back": {event.SendBack(event.SubagentStop, "a\x1b", ""), event.Answer{
			Output: `{"hookSpecificOutput": {"hookEventName": "SubagentStop", "additionalContext": "a\\x1b"}}` + "\n"}},
		"escaped question": {event.Ask("a\u2028", nil),
			event.Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", ` +
				`"permissionDecisionReason": "a\\u2028"}}` + "\n"}},
		"escaped summary": {event.Tell(event.PreCompact, "a\x1b", ""), event.Answer{Output: "a\\x1b\n"}},
		"tool input, kept": {event.Rewrite([]byte("{\"a\":\"\u202e\"}"), "", ""),
			event.Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"a": "\u202e"}}}` + "\n"}},
	} {
		assert.Equal(t, test.want, test.got, name)
	}
}

func TestFailureBlocksOnlyAtSomeEvents(t *testing.T) {
	blocks := event.Answer{ErrorText: "fsmtx: m\nhint: h\n", Exit: event.ExitBlock}
	notice := event.Answer{Output: `{"continue": true, "systemMessage": "fsmtx: m\nh"}` + "\n", ErrorText: "fsmtx: m\nh\n"}
	context := event.Answer{
		Output:    `{"continue": true, "hookSpecificOutput": {"hookEventName": "UserPromptExpansion", "additionalContext": "c"}}` + "\n",
		ErrorText: "fsmtx: m\n",
	}
	for _, test := range []struct {
		event string
		stop  bool
		want  event.Answer
	}{
		{event.PostToolUse, false, blocks}, {event.PostToolUse, true, blocks}, {"", false, blocks},
		{event.UserPromptExpansion, true, blocks}, {event.UserPromptExpansion, false, context},
		{event.SessionStart, false, notice}, {event.SessionStart, true, notice}, {event.Stop, true, notice}, {event.PreToolUse, true, notice},
	} {
		f := event.Failure{Message: "m", Hint: "h", Context: "c", Stop: test.stop}
		assert.Equal(t, test.want, f.Answer(test.event), "%s, stop %v", test.event, test.stop)
	}
	assert.Equal(t, event.Answer{ErrorText: "fsmtx: m\n", Exit: event.ExitBlock}, event.Failure{Message: "m"}.Answer(event.PostToolUse))
	assert.Equal(t, "fsmtx: m\n", event.Failure{Message: "m"}.Answer(event.SessionStart).ErrorText)
}

type failingWriter struct{ error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.error }

func TestWritePrintsTheOutputFirst(t *testing.T) {
	var out, errs strings.Builder
	a := event.Answer{Output: "o\n", ErrorText: "e\n", Exit: 2}
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
		answer event.Answer
		code   int
	}{
		"nothing":       {event.Answer{}, event.ExitOK},
		"a notice":      {event.Notice("x"), event.ExitOK},
		"the usual":     {event.GoOn(event.PostToolUse, ""), event.ExitOK},
		"a permission":  {event.Allow("x"), event.ExitOK},
		"a question":    {event.Ask("Really?", nil), event.ExitBlock},
		"other input":   {event.Rewrite([]byte(`{"a":1}`), "", ""), event.ExitBlock},
		"a refusal":     {event.Refuse("no"), event.ExitBlock},
		"a bare denial": {event.Reply{Specific: &event.Specific{PermissionDecision: "deny"}}.Answer(), event.ExitBlock},
		"a bare block":  {event.Reply{Decision: "block"}.Answer(), event.ExitBlock},
	} {
		assert.Equal(t, c.code, c.answer.Undelivered(), name)
	}
}
