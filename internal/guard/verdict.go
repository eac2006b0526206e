package guard

import (
	"errors"
	"io"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// kind is the form of a reply.
type kind int

const (
	pass     kind = iota // no objection: nothing is printed
	warn                 // PreToolUse: no objection, user and model are warned
	deny                 // PreToolUse: the call is not made
	block                // Stop, SubagentStop: it goes on
	inject               // the model is told something
	notice               // the user is told something
	feedback             // PostToolUse: the model is told, nothing is undone
)

// Verdict is what a guard decided and why.
type Verdict struct {
	Row     int    // row of the guard's table that decided, from 1; 0 if the frame decided
	Word    string // decision as the log has it: ALLOW, DENY, …
	Detail  string // the log's detail
	Message string // what the model is told; for a notice, the user
	reason  string // of a block: the short form
	user    string // of an injection: what the user sees
	kind    kind
}

// Blocks reports whether the verdict stops what the client was about to do.
func (v Verdict) Blocks() bool { return v.kind == deny || v.kind == block }

// passed is "no objection"; the frame fills in the event's word for it.
func passed(row int, detail string) Verdict { return Verdict{Row: row, Detail: detail} }

func denied(row int, message string) Verdict {
	return Verdict{Row: row, Word: "DENY", Detail: message, Message: message, kind: deny}
}

func blocked(row int, reason, message string) Verdict {
	return Verdict{Row: row, Word: "BLOCK", Detail: reason, Message: message, reason: reason, kind: block}
}

func noticed(word, detail, message string) Verdict {
	return Verdict{Word: word, Detail: detail, Message: message, kind: notice}
}

// exit codes: the client shows the model standard error for 2 and only for 2.
const (
	exitPass  = 0
	exitBlock = 2
)

// write prints the verdict in the one form that the client accepts and shows
// as meant for each event, and returns the exit code.
//
// "allow" is never written: it would bypass the user's permission prompt. A
// refusal is said three times over (exit code, standard output, standard
// error): the client reads the output where it can and falls back on the rest.
func (v Verdict) write(name string, stdout, stderr io.Writer) (int, error) {
	switch v.kind {
	case warn:
		return exitPass, event.Reply{SystemMessage: v.Message, Specific: &event.Specific{HookEventName: name, AdditionalContext: v.Message}}.Write(stdout)
	case deny:
		return exitBlock, both(v.denial(name), stdout, v.Message, stderr)
	case block:
		return exitBlock, both(v.blockage(), stdout, v.reason+". "+v.Message, stderr)
	case inject:
		return exitPass, v.writeContext(name, stdout)
	case notice:
		return exitPass, v.writeNotice(name, stdout)
	case feedback:
		_, err := io.WriteString(stderr, v.Message+"\n")
		return exitBlock, err
	}
	return exitPass, nil
}

func (v Verdict) denial(name string) event.Reply {
	return event.Reply{
		Specific:      &event.Specific{HookEventName: name, PermissionDecision: "deny", PermissionDecisionReason: v.Message},
		SystemMessage: v.Message,
	}
}

// blockage repeats the message in the reason, the only part the model gets.
func (v Verdict) blockage() event.Reply {
	return event.Reply{Decision: "block", Reason: v.reason + ". " + v.Message, SystemMessage: v.Message}
}

// writeContext prints plain text for PreCompact, which appends standard output
// to the summary's instructions as it is and refuses hookSpecificOutput.
func (v Verdict) writeContext(name string, stdout io.Writer) error {
	if name == event.PreCompact {
		_, err := io.WriteString(stdout, v.Message+"\n")
		return err
	}
	return event.Reply{SystemMessage: v.user, Specific: &event.Specific{HookEventName: name, AdditionalContext: v.Message}}.Write(stdout)
}

// writeNotice says nothing at PreCompact, where it would become an instruction.
func (v Verdict) writeNotice(name string, stdout io.Writer) error {
	if name == event.PreCompact {
		return nil
	}
	return event.Reply{SystemMessage: v.Message}.Write(stdout)
}

func both(r event.Reply, stdout io.Writer, text string, stderr io.Writer) error {
	_, err := io.WriteString(stderr, text+"\n")
	return errors.Join(r.Write(stdout), err)
}
