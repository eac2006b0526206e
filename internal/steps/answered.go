package steps

import (
	"context"

	"github.com/fsmtx/fsmtx/txn"
)

// Answered carries out what a person has answered to the question of an earlier verdict,
// where the client does not: the update was let through but for the answer. If the step
// has changed since, or one before it was opened again, it is denied and has to be asked
// again.
func (f *Frame) Answered(ctx context.Context, u Update, yes bool) Verdict {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return f.trouble(err)
	}
	own := live.find(u.Task)
	if own == nil {
		return Verdict{}
	}
	c := &call{Frame: f, update: u, steps: live, own: own}
	var v Verdict
	err = f.locked(ctx, func(dir *txn.Dir) error {
		s, err := live.state(ctx, dir.Path(), dir.ReadState)
		if err == nil {
			v = c.record(dir, s, answered(s, s.Step(own.ID), u, yes))
		}
		return err
	})
	if err != nil {
		return f.trouble(err)
	}
	v.Step = own.ID
	return f.finished(v)
}

// answered decides an update about which a person was asked.
func answered(s *State, own *Current, u Update, yes bool) Verdict {
	if e, ok := s.last(own.ID); !ok || e.Verdict != Ask || e.To != u.Status || own.Status != e.From {
		return deny(own, "the question is out of date", own.Name()+" has changed since the person was asked. Complete it again")
	}
	if v := order(s, own, u); !v.Allowed() {
		return v
	}
	if !yes {
		return deny(own, "a person said no", own.Name()+" was not approved: the person said no, or nothing. Ask them what is missing")
	}
	return Verdict{Why: "a person said yes"}
}
