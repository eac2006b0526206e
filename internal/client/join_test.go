package client

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
)

func TestJoin(t *testing.T) {
	done := GoOn(PreToolUse, "")
	told := GoOnTelling(PreToolUse, "the tasks are new", "new tasks")
	failed := Notice("no disk")
	for name, c := range map[string]struct{ first, second, want Answer }{
		"nothing":              {Answer{}, Answer{}, Answer{}},
		"nothing to decide":    {done, Answer{}, done},
		"nothing told":         {done, Refuse("not yet"), Refuse("not yet")},
		"nothing done":         {Answer{}, Refuse("not yet"), Refuse("not yet")},
		"told, nothing else":   {told, Answer{}, told},
		"failed, nothing else": {failed, Answer{}, failed},
		"told twice": {told, Tell(PreToolUse, "go on", "see"),
			Answer{Output: `{"continue": true, "hookSpecificOutput": {"hookEventName": "PreToolUse", ` +
				`"additionalContext": "the tasks are new\ngo on"}, "systemMessage": "new tasks\nsee"}` + "\n"}},
		"told and refused": {told, Refuse("not yet"), Answer{
			Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", ` +
				`"permissionDecisionReason": "the tasks are new\nnot yet"}, "systemMessage": "new tasks"}` + "\n",
			ErrorText: "the tasks are new\nnot yet\n", Exit: ExitBlock,
		}},
		"told and sent back": {GoOnTelling(PreToolUse, "the tasks are new", ""), SendBack(PreToolUse, "go on", ""),
			Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "the tasks are new\ngo on"}}` + "\n"}},
		"told and rewritten": {told, Rewrite(jsontext.Value(`{"a": 1}`), "", ""),
			Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "the tasks are new", ` +
				`"updatedInput": {"a": 1}}, "systemMessage": "new tasks"}` + "\n"}},
		"failed and told": {failed, Tell(PreToolUse, "go on", ""),
			Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "go on"}, ` +
				`"systemMessage": "fsmtx: no disk"}` + "\n", ErrorText: failed.ErrorText}},
		"failed for the model and told": {Feedback("no such step"), Tell(PreToolUse, "", "fsmtx: no disk"),
			Answer{Output: `{"systemMessage": "fsmtx: no disk"}` + "\n", ErrorText: "no such step\n", Exit: ExitBlock}},
		"failed and refused": {failed, Refuse("not yet"),
			Answer{Output: `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", ` +
				`"permissionDecisionReason": "not yet"}, "systemMessage": "fsmtx: no disk"}` +
				"\n", ErrorText: "not yet\n", Exit: ExitBlock}},
	} {
		want := c.want
		got := Join(PreToolUse, c.first, c.second)
		assert.Equal(t, want.Exit, got.Exit, name)
		assert.Equal(t, want.ErrorText, got.ErrorText, name)
		if want.Output == "" {
			assert.Empty(t, got.Output, name)
		} else {
			assert.JSONEq(t, withoutContinue(want.Output), withoutContinue(got.Output), name)
		}
	}
}

func withoutContinue(output string) string {
	r := Answer{Output: output}.Reply()
	r.Continue = nil
	return r.answer(ExitOK, "").Output
}
