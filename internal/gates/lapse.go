package gates

import (
	"context"
	"slices"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn"
)

// lapseOver is lapse for the decisions about calls of the same agent that are over.
func (c *call) lapseOver(s *state.State) []state.Evidence {
	if c.update.Over == nil {
		return nil
	}
	p := Pause{Agent: c.update.Agent, InFlight: func(use string) bool { return use == "" || use == c.update.Use || !c.update.Over(use) },
		Rejected: c.update.Rejected}
	return s.Lapse(c.over(s, p), c.sender(c.update), p.Rejected)
}

// Pause is a moment at which an agent carries out none of its calls, or few.
type Pause struct {
	Agent    string                // id of the subagent; empty for the session's own agent
	InFlight func(use string) bool // whether a call, by its id, is still being carried out; nil if none is
	Rejected func(use string) bool // whether the person said no to a call when the client asked them; nil if that is not known
}

// over returns the decisions that stand although their calls are over.
func (f *Frame) over(s *state.State, p Pause) []state.Evidence {
	return slices.DeleteFunc(s.NotCarriedOut(), func(e state.Evidence) bool {
		no := e.Verdict == state.Ask && p.Rejected != nil && p.Rejected(e.Use)
		return e.By.Session != f.Session || e.Agent != p.Agent || !no && (!isUpdate(e) || p.InFlight != nil && p.InFlight(e.Use))
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
		return c.Record(dir, s, s.Lapse(f.over(s, p), c.sender(c.update), p.Rejected))
	})
}
