package guard

import (
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
)

// form is the form of a reply.
type form int

const (
	pass     form = iota // no objection: nothing is printed
	warn                 // PreToolUse: no objection, user and model are warned
	deny                 // PreToolUse: the tool call is refused
	block                // Stop, SubagentStop: the agent or turn continues
	inject               // the model gets context
	notice               // the user gets a message
	feedback             // PostToolUse: the model gets a message, nothing is undone
)

// Verdict is what a rule decided and why.
type Verdict struct {
	Row     int    // row of the rule's table that decided, from 1; 0 if the frame decided
	Word    string // decision as the log has it: ALLOW, DENY, …
	Detail  string // the log's detail
	Message string // for the model; of a notice, for the user
	reason  string // of a block: the short form
	user    string // of an injection: for the user
	form    form
	writes  bool // the rule changes a file
	stalled bool // another hook has sent the agent back, and has seen no progress since
	blockState
}

// acts reports whether the verdict refuses, prints or changes anything.
func (v Verdict) acts() bool { return v.form != pass || v.writes }

// Writing marks the verdict of a rule that changes a file, even if nothing is printed.
func (v Verdict) Writing() Verdict {
	v.writes = true
	return v
}

// blockState is stored with a block. When the agent tries to end again, limitBlocks
// compares it with the state of the next block.
type blockState struct {
	progress string // changes when the workflow advances
	asked    string // what the agent asks the user, otherwise empty
	once     bool   // the block is not repeated until progress changes
}

// WithProgress adds the state of the work to a block. A change of progress restarts the
// count of consecutive blocks. Without a change since the last block, the agent may end if
// it asks the user something.
func (v Verdict) WithProgress(progress, asked string) Verdict {
	v.progress, v.asked = progress, asked
	return v
}

// Once marks a block that is not repeated until progress changes.
func (v Verdict) Once() Verdict {
	v.once = true
	return v
}

// Stalled marks a block of an agent that another hook of this program has already sent back,
// and lets end now because nothing has changed: the block is not repeated either.
func (v Verdict) Stalled() Verdict {
	v.stalled = true
	return v
}

// Pass is "no objection". Its word in the log depends on the event: ALLOW, APPROVE or
// SILENT.
func Pass(row int, detail string) Verdict { return Verdict{Row: row, Detail: detail} }

// Warn lets a tool call pass with a warning to user and model.
func Warn(row int, detail, message string) Verdict {
	return Verdict{Row: row, Word: "ALLOW+WARN", Detail: detail, Message: message, form: warn}
}

// Deny refuses a tool call.
func Deny(row int, message string) Verdict {
	return Verdict{Row: row, Word: "DENY", Detail: message, Message: message, form: deny}
}

// Block keeps an agent or a turn from ending.
func Block(row int, reason, message string) Verdict {
	return Verdict{Row: row, Word: "BLOCK", Detail: reason, Message: message, reason: reason, form: block}
}

// Inject gives context to the model and, if user is not empty, a message to the
// user.
func Inject(row int, word, detail, context, user string) Verdict {
	return Verdict{Row: row, Word: word, Detail: detail, Message: context, user: user, form: inject}
}

// Notice gives a message to the user.
func Notice(row int, word, detail, message string) Verdict {
	return Verdict{Row: row, Word: word, Detail: detail, Message: message, form: notice}
}

// Feedback gives a message about a completed tool call to the model.
func Feedback(row int, message string) Verdict {
	return Verdict{Row: row, Word: "FEEDBACK", Detail: message, Message: message, form: feedback}
}

// telling adds a text for the user to a verdict that refuses nothing.
func (v Verdict) telling(text string) Verdict {
	switch {
	case text == "":
	case v.form == pass:
		return Notice(v.Row, v.Word, v.Detail, text)
	case v.form == notice:
		v.Message += "\n" + text
	case v.form == inject && v.user != "":
		v.user += "\n" + text
	case v.form == inject:
		v.user = text
	}
	return v
}

// answer returns the verdict in the form that the client accepts at the event and shows to
// the right reader.
func (v Verdict) answer(eventName string) client.Answer {
	switch v.form {
	case warn:
		return client.Tell(eventName, message.ForAgent(v.Message), message.ForPerson(v.Message))
	case deny:
		return client.Refuse(message.ForAgent(v.Message))
	case block:
		if eventName == client.Stop {
			return client.Hold(v.reason, v.Message)
		}
		return client.Block(v.reason, v.Message)
	case inject:
		return client.Tell(eventName, message.ForAgent(v.Message), message.ForPerson(v.user))
	case notice:
		return client.Tell(eventName, "", message.ForPerson(v.Message))
	case feedback:
		return client.Feedback(v.Message)
	}
	return client.Answer{}
}
