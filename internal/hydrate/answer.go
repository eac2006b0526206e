package hydrate

import "github.com/fsmtx/fsmtx/internal/claude/event"

// Failed is what the hook answers after a failure. The person's prompt is stopped
// only if the skill is known to have an fsm.json: UserPromptExpansion fires for
// every command, most of which have no tasks (fact 19).
func Failed(r Request, result Result, message, hint string) event.Answer {
	return event.Failure{
		Message: message,
		Hint:    hint,
		Context: "fsmtx could not look for the tasks of this skill, so none were put into the task list: " + message,
		Stop:    result.Spec != "",
	}.Answer(r.Event)
}
