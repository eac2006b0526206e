package steps

import "cmp"

// By is who took a decision, and by which way it came to this program.
type By struct {
	Who     Who     `json:"who"`
	How     How     `json:"how"`
	Session string  `json:"session"` // id of the client's session; empty if unknown
	Agent   string  `json:"agent"`   // id of the subagent; empty for the session's own agent and for people
	TTY     *string `json:"tty"`     // path of the terminal; nil unless How is AtTerminal
}

// Who is who took a decision.
type Who string

const (
	TheAgent   Who = "agent"
	ThePerson  Who = "person"  // answered a question with yes, or used a terminal outside the client
	TheCommand Who = "command" // of a check, or a script outside the client
	TheClock   Who = "clock"   // a time limit
	Fsmtx      Who = "fsmtx"   // a rule of this program
)

// How is the way by which a decision came.
type How string

const (
	ByUpdate      How = "update"      // the client's TaskUpdate
	ByCall        How = "call"        // a call of another tool
	ByMCP         How = "mcp"         // a tool of fsmtx mcp
	ByShell       How = "shell"       // a command without a terminal of its own
	AtTerminal    How = "terminal"    // a command in a terminal outside the client
	ByQuestion    How = "question"    // the client asked whether a command may run
	ByElicitation How = "elicitation" // the MCP server asked
	ByApproval    How = "approval"    // the client asked whether a step may be completed
)

// by returns who decided about an update: whoever sent it if it is carried out, which is an
// agent unless the Frame says otherwise; the command if a check denied it, and otherwise this
// program. Of a question, which decides nothing yet, it is who caused it.
func (f *Frame) by(u Update, v Verdict) By {
	by := By{Who: cmp.Or(f.Via.Who, TheAgent), How: cmp.Or(f.Via.How, ByUpdate), Session: f.Session, Agent: u.Agent, TTY: f.Via.TTY}
	if v.Check != nil && f.forged() {
		by.How = ByShell
	}
	switch {
	case v.yes != "":
		by.Who, by.How, by.TTY = ThePerson, v.yes, nil
	case v.Decision != Deny:
	case v.Check != nil && v.Check.Exit != 0:
		by.Who = TheCommand
	default:
		by.Who = Fsmtx
	}
	return by
}

// seenBy returns who decided that a step which was completed in another way counts as
// done, or does not: the command if its check ran, and otherwise this program.
func (f *Frame) seenBy(u Update, v Verdict) By {
	by := f.by(u, v)
	by.Who = Fsmtx
	if v.Check != nil {
		by.Who = TheCommand
	}
	return by
}

// person returns the By of a person's yes.
func (f *Frame) person(how How, agent string) By {
	return By{Who: ThePerson, How: how, Session: f.Session, Agent: agent}
}
