package client

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Exit codes of a hook. The client shows standard error to the model for
// ExitBlock and for no other code, and reads standard output for both
// (fact 22, client 2.1.197).
const (
	ExitOK    = 0
	ExitBlock = 2
)

// Answer is what the client reads from a hook that has ended. Every hook of this
// program builds its answer with the functions below, so the effect of an exit code
// at an event is defined in one place.
type Answer struct {
	Output    string // standard output: one JSON object and a newline, or nothing
	ErrorText string // standard error; all of it reaches the model if Exit is ExitBlock (fact 45, client 2.1.329)
	Exit      int
}

// WithNotice adds a line for the person to an answer that has no output. It works
// with ExitBlock too: the model gets standard error, the person the line (fact 70,
// client 2.1.329).
func (a Answer) WithNotice(person message.ForPerson) Answer {
	if a.Output == "" {
		a.Output = Reply{SystemMessage: string(person)}.answer(a.Exit, "").Output
	}
	return a
}

// Write prints the answer. It prints the output first, because writing to standard
// error can fail: it may be a pipe that no process reads. The caller exits with
// a.Exit or, if Write returns an error, with a.Undelivered().
func (a Answer) Write(stdout, stderr io.Writer) error {
	return errors.Join(write(stdout, a.Output), write(stderr, a.ErrorText))
}

// Undelivered returns the exit code of an answer that could not be printed. The client would go on
// as if nothing had been said: it would make a call that the person was to be asked about, or
// make it with the input that was to be replaced. Such a call is refused.
func (a Answer) Undelivered() int {
	r := a.Reply()
	if s := r.Specific; r.Decision != "" || s != nil && (s.UpdatedInput != nil || s.PermissionDecision == "ask" ||
		s.PermissionDecision == "deny") {
		return ExitBlock
	}
	return a.Exit
}

// write makes no system call for an empty text.
func write(w io.Writer, text string) error {
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w, text)
	return err
}

// GoOn answers that the hook has done its work and the client may continue:
// {"continue": true}. context, if not empty, is added for the model (fact 22, client
// 2.1.197).
func GoOn(name string, context message.ForAgent) Answer { return GoOnTelling(name, context, "") }

// GoOnTelling is GoOn with a text for the model, as additionalContext, and one for the
// person, as systemMessage. Either may be empty.
func GoOnTelling(name string, model message.ForAgent, person message.ForPerson) Answer {
	if model == "" && person == "" {
		return Answer{Output: bareContinue} // the usual answer; encoding it by reflection would cost as much as reading the event
	}
	return goOn(Reply{Specific: withContext(name, string(model)), SystemMessage: string(person)})
}

// Notice answers that the client may continue, with a message for the person: as
// systemMessage, which the terminal shows and the model does not see (fact 22, client
// 2.1.197), and on standard error.
func Notice(text message.ForPerson) Answer {
	a := goOn(Reply{SystemMessage: "fsmtx: " + string(text)})
	a.ErrorText = terminal.Message(string(text))
	return a
}

const bareContinue = `{"continue": true}` + "\n"

func goOn(r Reply) Answer {
	yes := true
	r.Continue = &yes
	return r.answer(ExitOK, "")
}

// Tell lets the event pass, with a text for the model and one for the person. Either
// may be empty.
//
// At PreCompact the client refuses hookSpecificOutput and appends standard output to
// the instructions for the summary (fact 100, client 2.1.329). There the model's text
// is printed without JSON around it, and the person's is dropped.
func Tell(name string, model message.ForAgent, person message.ForPerson) Answer {
	if name == PreCompact {
		if model == "" {
			return Answer{}
		}
		return Answer{Output: message.Text(string(model)) + "\n"}
	}
	return Reply{Specific: withContext(name, string(model)), SystemMessage: string(person)}.answer(ExitOK, "")
}

// Allow lets the tool call of a PreToolUse event run without the person's permission prompt;
// a rule of theirs that denies or asks still holds (fact 150, client 2.1.329). It is for the
// commands of this program that do nothing but work on a workflow.
func Allow(reason string) Answer {
	return Reply{Specific: &Specific{HookEventName: PreToolUse, PermissionDecision: "allow",
		PermissionDecisionReason: reason}}.answer(ExitOK, "")
}

// Ask makes the client ask the person whether to allow the tool call of a PreToolUse
// event. If there is no person to ask, as in -p mode, the client refuses the call with
// the question as the reason (fact 37, client 2.1.329). If the input is not nil, it replaces that of the call: the person is
// asked about it, and a yes carries it out (fact 145, client 2.1.329).
func Ask(question message.ForBoth, input jsontext.Value) Answer {
	return Reply{Specific: &Specific{HookEventName: PreToolUse, PermissionDecision: "ask", PermissionDecisionReason: string(question),
		UpdatedInput: input}}.answer(ExitOK, "")
}

// SendBack keeps an agent from stopping. The agent and the person read the text once; person is what else the person is told.
// An answer with exit code 2 is shown to both with the hook's whole line, and to the person as a problem; the reason of a JSON
// decision reaches the model twice in one request (facts 103 and 191, client 2.1.329). Clients before 2.1.163 let the agent stop.
func SendBack(name string, text message.ForAgent, person message.ForPerson) Answer {
	return Tell(name, text, person)
}

// Rewrite replaces the input of the tool call of a PreToolUse event (fact 37, client
// 2.1.329), with a text for the model, as additionalContext, which reaches it
// beside the result of the rewritten call (fact 69, client 2.1.329), and one for the person. It does not skip the person's
// permission prompt.
func Rewrite(input jsontext.Value, model message.ForAgent, person message.ForPerson) Answer {
	return Reply{Specific: &Specific{HookEventName: PreToolUse, UpdatedInput: input, AdditionalContext: string(model)},
		SystemMessage: string(person)}.answer(ExitOK, "")
}

// Block keeps an agent from stopping, at Stop and SubagentStop. The model sees only
// the reason and the person only the message, so the reason repeats the message.
func Block(reason, message string) Answer {
	reason += ". " + message
	return Reply{Decision: "block", Reason: reason, SystemMessage: message}.answer(ExitBlock, reason+"\n")
}

// Refuse refuses the tool call of a PreToolUse event. The reason is printed both in the
// output and on standard error, because the client accepts either (fact 37, client
// 2.1.329). There is no message for the person: the terminal shows the refused call with the
// reason, and would show the message in addition (client 2.1.329).
//
// See Allow for when a call is let through without the person's permission prompt.
func Refuse(reason message.ForAgent) Answer { return RefuseTelling(reason, "") }

// RefuseTelling is Refuse with a message for the person about something else than the call.
func RefuseTelling(reason message.ForAgent, person message.ForPerson) Answer {
	return Reply{
		Specific:      &Specific{HookEventName: PreToolUse, PermissionDecision: "deny", PermissionDecisionReason: string(reason)},
		SystemMessage: string(person),
	}.answer(ExitBlock, string(reason)+"\n")
}

// Hold keeps a turn from ending as Block does at Stop, but without a message for the
// person: the terminal already lists the reasons of Stop hooks, and would show the
// message in addition (client 2.1.329). It does not list those of SubagentStop.
func Hold(reason, message string) Answer {
	reason += ". " + message
	return Reply{Decision: "block", Reason: reason}.answer(ExitBlock, reason+"\n")
}

// Feedback gives the model a message about a tool call that has already run. It undoes
// nothing.
func Feedback(text string) Answer {
	return Answer{ErrorText: message.Text(text) + "\n", Exit: ExitBlock}
}

// Failure is a hook's failure to do its work.
type Failure struct {
	Message string // what happened, to what
	Hint    string // what to do about it; may be empty
	Context string // for the model, if the failure does not stop the prompt
	Stop    bool   // the failure may stop the person's prompt
}

// Answer returns the answer of a hook that failed at the named event; name is
// empty if the event could not be read. What a failure may stop is decided only here:
//
//	PostToolUse, unknown   ExitBlock: the model gets the message (fact 22, client
//	                       2.1.197); the tool has run, so nothing is stopped
//	UserPromptExpansion    ExitBlock cancels the prompt (fact 19, client 2.1.329), so it
//	                       is used only with Stop; otherwise the prompt continues, and
//	                       the model gets Context
//	any other              the client continues, and the person gets the message
func (f Failure) Answer(name string) Answer {
	switch {
	case name == PostToolUse, name == "", name == UserPromptExpansion && f.Stop:
		text := terminal.Message(f.Message)
		if f.Hint != "" {
			text += terminal.Hint(f.Hint)
		}
		return Answer{ErrorText: text, Exit: ExitBlock}
	case name == UserPromptExpansion:
		a := GoOn(name, message.ForAgent(f.Context))
		a.ErrorText = terminal.Message(f.Message)
		return a
	}
	return Notice(message.ForPerson(strings.TrimSpace(f.Message + "\n" + f.Hint)))
}
