package gates

import (
	"context"
	"slices"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn"
)

// lapseOver is lapse for the decisions about calls of the same agent that are over.
func (c *call) lapseOver(s *state.State) []state.Evidence {
	if c.update.Calls == nil {
		return nil
	}
	p := Pause{Agent: c.update.Agent, Calls: c.update.Calls, deciding: &c.update.Use}
	return s.Lapse(c.over(s, p), c.sender(c.update), p.rejected)
}

// Pause is a moment at which an agent carries out none of its calls, or few.
type Pause struct {
	Agent string // id of the subagent; empty for the session's own agent
	Calls Calls  // of the agent; nil if nothing is known of them
	Idle  bool   // no call is being carried out, whatever is known

	deciding *string // id of the call that is being decided; nil if none is
}

// isInFlight reports whether a call, by its id, is still being carried out. While one is decided so is each of which it is not known.
func (p Pause) isInFlight(use string) bool {
	if p.Calls == nil || p.Idle {
		return false
	}
	over, known := p.Calls.Over(use)
	if p.deciding != nil {
		return use == "" || use == *p.deciding || !over || !known
	}
	return known && !over
}

// rejected reports whether the person said no to a call when the client asked them.
func (p Pause) rejected(use string) bool { return p.Calls != nil && p.Calls.Rejected(use) }

// over returns the decisions that stand although their calls are over.
func (f *Frame) over(s *state.State, p Pause) []state.Evidence {
	return slices.DeleteFunc(s.NotCarriedOut(), func(e state.Evidence) bool {
		no := e.Verdict == state.Ask && p.rejected(e.Use)
		return e.By.Session != f.Session || e.Agent != p.Agent || !no && (!isUpdate(e) || p.isInFlight(e.Use))
	})
}

// isUpdate reports whether the line is about an update of the list, also of one that the agent has written itself. A command sets the
// status itself.
func isUpdate(e state.Evidence) bool {
	return e.By.How == state.ByUpdate || e.By.How == state.ByShell && e.Use != ""
}

// Lapse records that decisions about updates of the session's agent have lapsed: the calls are
// over, and the list does not show them. It takes no lock if there are none.
//
// Errors: those of Load and of tasks.List.Open.
func (f *Frame) Lapse(ctx context.Context, p Pause) error {
	s, err := f.Now(ctx)
	if err != nil {
		return err
	}
	return f.lapse(ctx, s, p)
}

// lapse is Lapse for a state that was read without the lock. It reads the state again.
func (f *Frame) lapse(ctx context.Context, s *state.State, p Pause) error {
	if len(f.over(s, p)) == 0 {
		return nil
	}
	return f.changing(ctx, p.Agent, func(c *call, dir *txn.Dir, s *state.State) error {
		return c.Record(dir, s, s.Lapse(f.over(s, p), c.sender(c.update), p.rejected))
	})
}
