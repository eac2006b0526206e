package gates

import (
	"cmp"

	"github.com/fsmtx/fsmtx/internal/state"
)

// by returns who decided about an update. If it is carried out, that is its sender: an agent, unless the Frame
// says otherwise. A command denied it if a check failed, and this program in all other cases. A question decides
// nothing yet: it has the sender, too.
func (f *Frame) by(u Update, v Verdict) state.By {
	by := f.sender(u)
	if v.Check != nil && f.IsForged() || f.isUnseen() {
		by.How = state.ByShell
	}
	switch {
	case v.answer == state.AtTerminal: // it is the sender's
	case v.answer != "":
		by.Who, by.How, by.TTY, by.Young = state.ThePerson, v.answer, nil, false
	case v.Decision != state.Deny:
	case v.Check != nil && v.Check.Exit != 0:
		by.Who = state.TheCommand
	default:
		by.Who = state.Fsmtx
	}
	return by
}

// sender returns who sent an update. It looks at no process, and so suffices for what is on record at every event: what the list shows,
// and what the clock says.
func (f *Frame) sender(u Update) state.By {
	return state.By{Who: cmp.Or(f.Via.Who, state.TheAgent), How: cmp.Or(f.Via.How, state.ByUpdate), Session: f.Session, Agent: u.Agent,
		TTY: f.Via.TTY, Young: f.Via.Young}
}

// isUnseen reports whether the update comes from the agent's shell, past the hooks of its client: from a script, or from a hook or
// a server that it has started itself.
func (f *Frame) isUnseen() bool { return f.Unseen != nil && f.Unseen() }

// seenBy returns who decided that a step which was completed in another way counts as
// done, or does not: the command if its check ran, and otherwise this program.
func (f *Frame) seenBy(u Update, v Verdict) state.By {
	by := f.by(u, v)
	by.Who = state.Fsmtx
	if v.Check != nil {
		by.Who = state.TheCommand
	}
	return by
}

// person returns the By of a person's yes.
func (f *Frame) person(how state.How, agent string) state.By {
	return state.By{Who: state.ThePerson, How: how, Session: f.Session, Agent: agent}
}
