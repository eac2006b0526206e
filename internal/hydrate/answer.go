package hydrate

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Failed returns the hook's answer to a failure. The person's prompt is stopped only if
// the skill is known to have an fsm.json: UserPromptExpansion fires for every command,
// and most have no tasks (fact 19, client 2.1.329). A long message is cut, because all of
// it would reach the agent (fact 45, client 2.1.329).
func Failed(r Request, result Result, text, hint string) client.Answer {
	hint = cut(message.Line(hint), maxHint)
	text = bounded(text, maxText-client.Length("fsmtx: \nhint: \n")-client.Length(hint))
	if r.Command != "" && (r.Event == client.PreToolUse || r.Event == client.Stop) {
		return checkFailed(r, text, hint)
	}
	return client.Failure{
		Message: text,
		Hint:    hint,
		Context: "fsmtx could not look for the tasks of this skill, so none were put into the task list: " + text,
		Stop:    result.Spec != "",
	}.Answer(r.Event)
}

// checkFailed returns the hook's answer when a check failed. It does not stop what the
// agent is about to do. At Stop any text for the agent makes it continue (fact 69, client
// 2.1.329), so the agent gets the text only once.
func checkFailed(r Request, text, hint string) client.Answer {
	agent := strings.TrimSpace(fmt.Sprintf("fsmtx could not correct the tasks of the skill %s: %s\n%s", clip(r.Command), text, hint))
	if r.Event == client.Stop && r.Stopped {
		agent = ""
	}
	a := client.GoOnTelling(r.Event, message.ForAgent(agent), message.ForPerson("fsmtx: "+clip(text)))
	a.ErrorText = terminal.Message(text)
	return a
}
