package steps

import (
	"context"

	"github.com/fsmtx/fsmtx/txn"
)

// Answered applies a person's answer to the question of an earlier verdict, for clients
// that do not apply it themselves. The gates are not evaluated again. If the step has
// changed since the question, or a step before it was reopened, the update is denied and
// has to be made again.
func (f *Frame) Answered(ctx context.Context, u Update, yes bool) Verdict {
	return f.forStep(u, func(c *call) (v Verdict, err error) {
		err = f.locked(ctx, func(dir *txn.Dir) error {
			s, err := c.steps.state(ctx, dir.Path(), dir.ReadState)
			if err == nil {
				v = c.record(dir, s, answered(s, s.Step(c.target.ID), u, yes))
			}
			return err
		})
		return v, err
	})
}

// answered decides an update about which a person was asked.
func answered(s *State, c *Current, u Update, yes bool) Verdict {
	if e, ok := s.last(c.ID); !ok || e.Verdict != Ask || e.To != u.Status || c.Status != e.From {
		return deny(c, "the question is out of date", c.Name()+" has changed since the person was asked. Complete it again")
	}
	if v := order(s, c, u); !v.Allowed() {
		return v
	}
	if !yes {
		return deny(c, "a person said no", c.Name()+" was not approved: the person said no or did not answer. Ask them what is missing")
	}
	return Verdict{Why: "a person said yes", yes: ByElicitation}
}
