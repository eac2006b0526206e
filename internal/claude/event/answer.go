package event

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// Exit codes of a hook. The client shows standard error to the model for
// ExitBlock and for no other code, and reads standard output for both
// (fact 22, client 2.1.197).
const (
	ExitOK    = 0
	ExitBlock = 2
)

// Answer is everything that the client takes from a hook that has ended. Every
// hook of this program builds its answer with the functions below, so that what
// an exit code does at an event is written down once.
type Answer struct {
	Output    string // standard output: one JSON object and a newline, or nothing
	ErrorText string // standard error; all of it reaches the model if Exit is ExitBlock (fact 45, client 2.1.329)
	Exit      int
}

// WithNotice adds a line for the person to an answer that has no output. The client
// reads standard output for ExitBlock too: the model gets standard error, the person
// the line (fact 70, client 2.1.329).
func (a Answer) WithNotice(person string) Answer {
	if a.Output == "" {
		a.Output = Reply{SystemMessage: person}.answer(a.Exit, "").Output
	}
	return a
}

// Write prints the answer, the output first: standard error may be a pipe that no
// process reads. The caller exits with a.Exit, whatever Write returns.
func (a Answer) Write(stdout, stderr io.Writer) error {
	_, err := io.WriteString(stdout, a.Output)
	_, errText := io.WriteString(stderr, a.ErrorText)
	return errors.Join(err, errText)
}

// GoOn answers that the work is done and the client goes on: {"continue": true}.
// context, if not empty, is added for the model (fact 22, client 2.1.197).
func GoOn(name, context string) Answer { return GoOnTelling(name, context, "") }

// GoOnTelling goes on as GoOn does, and tells the person something as systemMessage;
// either text may be empty.
func GoOnTelling(name, model, person string) Answer {
	if model == "" && person == "" {
		return Answer{Output: goesOn} // the usual answer; encoding it by reflection would cost as much as reading the event
	}
	return goOn(Reply{Specific: withContext(name, model), SystemMessage: person})
}

// Notice goes on as well, and tells the person something: as systemMessage, which
// the terminal shows and the model does not see (fact 22, client 2.1.197), and on
// standard error.
func Notice(message string) Answer {
	a := goOn(Reply{SystemMessage: "fsmtx: " + message})
	a.ErrorText = terminal.Message(message)
	return a
}

const goesOn = `{"continue": true}` + "\n"

func goOn(r Reply) Answer {
	yes := true
	r.Continue = &yes
	return r.answer(ExitOK, "")
}

// Tell has no objection and tells the model and the person something; either may
// be empty.
//
// PreCompact refuses hookSpecificOutput and appends standard output to the
// instructions of the summary: there the model's text is printed as it is, and
// the person's is left out.
func Tell(name, model, person string) Answer {
	if name == PreCompact {
		if model == "" {
			return Answer{}
		}
		return Answer{Output: visible.Text(model) + "\n"}
	}
	return Reply{Specific: withContext(name, model), SystemMessage: person}.answer(ExitOK, "")
}

// Deny refuses the tool call of a PreToolUse event. The reason is in the output
// and on standard error: the client reads the output where it can, and falls back
// on the other.
//
// There is no Allow: "allow" would skip the person's permission prompt.
func Deny(reason string) Answer {
	return Reply{
		Specific:      &Specific{HookEventName: PreToolUse, PermissionDecision: "deny", PermissionDecisionReason: reason},
		SystemMessage: reason,
	}.answer(ExitBlock, reason+"\n")
}

// Ask has the client ask the person whether the tool call of a PreToolUse event may be
// made. Where nobody can be asked the client refuses it, with the question as the reason
// (fact 37, client 2.1.329).
func Ask(question string) Answer {
	return Reply{Specific: &Specific{HookEventName: PreToolUse, PermissionDecision: "ask", PermissionDecisionReason: question}}.answer(ExitOK, "")
}

// SendBack keeps an agent from stopping, as Block does, with a text for the agent and
// another one for the person.
func SendBack(agent, person string) Answer {
	return Reply{Decision: "block", Reason: agent, SystemMessage: person}.answer(ExitOK, "")
}

// Rewrite lets the tool call of a PreToolUse event go on with another input. The person's
// permission prompt is as it was.
func Rewrite(input jsontext.Value) Answer {
	return Reply{Specific: &Specific{HookEventName: PreToolUse, UpdatedInput: input}}.answer(ExitOK, "")
}

// Block keeps an agent from stopping, at Stop and SubagentStop. The model sees
// only the reason, the person only the message, so the message is in both.
func Block(reason, message string) Answer {
	reason += ". " + message
	return Reply{Decision: "block", Reason: reason, SystemMessage: message}.answer(ExitBlock, reason+"\n")
}

// Refuse refuses a tool call as Deny does and leaves the person out: the terminal shows
// the result of the call, with the reason, and would show a message beside it
// (client 2.1.329).
func Refuse(reason string) Answer {
	return Reply{
		Specific: &Specific{HookEventName: PreToolUse, PermissionDecision: "deny", PermissionDecisionReason: reason},
	}.answer(ExitBlock, reason+"\n")
}

// Hold keeps a turn from ending as Block does at Stop, and leaves the person out: the
// terminal lists the reasons of Stop hooks, and would show a message beside each
// (client 2.1.329). It does not list those of SubagentStop.
func Hold(reason, message string) Answer {
	reason += ". " + message
	return Reply{Decision: "block", Reason: reason}.answer(ExitBlock, reason+"\n")
}

// Feedback tells the model something about a tool call that has been made;
// nothing is undone.
func Feedback(message string) Answer {
	return Answer{ErrorText: visible.Text(message) + "\n", Exit: ExitBlock}
}

// Failure is a hook's failure to do its work.
type Failure struct {
	Message string // what happened, to what
	Hint    string // what to do about it; may be empty
	Context string // for the model, where the failure stops nothing
	Stop    bool   // the failure is worth stopping the person's prompt
}

// Answer returns the answer of a hook that failed at the named event; name is
// empty if the event could not be read. It is the one place that decides what a
// failure may stop:
//
//	PostToolUse, unknown   ExitBlock: the model reads why (fact 22, client 2.1.197);
//	                       the tool has run, so nothing is stopped
//	UserPromptExpansion    ExitBlock cancels the prompt (fact 19, client 2.1.329), so it
//	                       is used only with Stop; otherwise the prompt goes on, and the
//	                       model reads why as context
//	any other              the client goes on, and the person reads why
func (f Failure) Answer(name string) Answer {
	switch {
	case name == PostToolUse, name == "", name == UserPromptExpansion && f.Stop:
		text := terminal.Message(f.Message)
		if f.Hint != "" {
			text += terminal.Hint(f.Hint)
		}
		return Answer{ErrorText: text, Exit: ExitBlock}
	case name == UserPromptExpansion:
		a := GoOn(name, f.Context)
		a.ErrorText = terminal.Message(f.Message)
		return a
	}
	return Notice(strings.TrimSpace(f.Message + "\n" + f.Hint))
}
