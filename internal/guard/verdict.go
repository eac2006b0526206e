package guard

import "github.com/fsmtx/fsmtx/internal/claude/event"

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

// answer is the verdict in the one form that the client accepts and shows as
// meant for each event.
func (v Verdict) answer(name string) event.Answer {
	switch v.kind {
	case warn:
		return event.Tell(name, v.Message, v.Message)
	case deny:
		return event.Deny(v.Message)
	case block:
		return event.Block(v.reason, v.Message)
	case inject:
		return event.Tell(name, v.Message, v.user)
	case notice:
		return event.Tell(name, "", v.Message)
	case feedback:
		return event.Feedback(v.Message)
	}
	return event.Answer{}
}
