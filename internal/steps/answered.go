package steps

import "context"

// Answered applies a person's answer to the question of an earlier verdict, for clients
// that do not apply it themselves. The gates are not evaluated again. If the step has
// changed since the question, or a step before it was reopened, the update is denied and
// has to be made again.
//
// how is the way by which the person was asked.
func (f *Frame) Answered(ctx context.Context, u Update, yes bool, how How) Verdict {
	c, v := f.begin(ctx, u)
	if c == nil {
		return v
	}
	dir, s, err := c.open(ctx, c.steps)
	if err != nil {
		return f.trouble(err)
	}
	defer f.release(dir)
	target := s.Step(c.target.ID)
	asked, _ := s.last(target.ID)
	d := c.final(s, target, answered(s, target, u, yes, how), nil)
	if d.verdict.Allowed() && len(d.lines) > 0 {
		e := &d.lines[len(d.lines)-1]
		e.Outcome, e.Round, e.Values, e.Tree, e.Unchanged = asked.Outcome, asked.Round, asked.Values, asked.Tree, asked.Unchanged
	}
	return f.finished(c, c.carryOut(ctx, dir, s, d), func(key string) bool { return f.toldIn(dir, key) })
}

// answered decides an update about which a person was asked.
func answered(s *State, c *Current, u Update, yes bool, how How) Verdict {
	if e, ok := s.last(c.ID); !ok || e.Verdict != Ask || e.To != u.Status || c.Status != e.From {
		return deny(c, "the question is out of date", c.Name()+" has changed since the person was asked. Complete it again")
	}
	if v := order(s, c, u); !v.Allowed() {
		return v
	}
	if !yes {
		return deny(c, "a person said no", c.Name()+" was not approved: the person said no or did not answer. Ask them what is missing")
	}
	return Verdict{Why: "a person said yes", yes: how}
}
