package gates

import (
	"context"

	"github.com/fsmtx/fsmtx/internal/state"
)

// Answered applies a person's answer to the question of an earlier verdict, for clients
// that do not apply it themselves. The gates are not evaluated again. If the step has
// changed since the question, or a step before it was reopened, the update is denied and
// has to be made again.
//
// how is the way by which the person was asked.
func (f *Frame) Answered(ctx context.Context, u Update, yes bool, how state.How) Verdict {
	c, v := f.begin(ctx, u)
	if c == nil {
		return v
	}
	dir, s, err := c.Open(ctx)
	if err != nil {
		return f.trouble(err)
	}
	defer f.Release(dir)
	target := s.Step(c.target.ID)
	if target == nil {
		return outOfDate(&state.Current{Step: *c.target.Step})
	}
	asked, _ := s.Last(target.ID)
	d := c.finalDecision(s, target, answered(s, target, u, yes, how), nil)
	if d.verdict.Allowed() && len(d.lines) > 0 {
		e := &d.lines[len(d.lines)-1]
		yes := s.Yes(asked, e.From, e.Why, e.By)
		yes.Note, yes.Use = e.Note, e.Use
		*e = yes
	}
	return f.withPastHint(c, c.carryOut(ctx, dir, s, d), func(key string) bool { return f.AlreadyToldIn(dir, key) })
}

// answered decides an update about which a person was asked.
func answered(s *state.State, c *state.Current, u Update, yes bool, how state.How) Verdict {
	if s.EndedInTerminal(c) {
		return Verdict{Decision: state.Deny, over: true, Why: "a person decided in a terminal meanwhile",
			Reason: s.HowEnded(c.ID) + " already: " + saidInTerminal + ". Go on",
			past:   pastHint{forbidden: true}}
	}
	if e, ok := s.Last(c.ID); !ok || e.Verdict != state.Ask || e.To != u.Status || c.Status != e.From {
		return outOfDate(c)
	}
	if v := order(s, c, u); !v.Allowed() {
		return v
	}
	if !yes {
		v := deny(c, "a person said no", c.Name()+" was not approved: the person said no or did not answer. Ask them what is missing")
		v.declined, v.answer = true, how
		return v
	}
	return Verdict{Why: "a person said yes", answer: how}
}

const saidInTerminal = "a person has said so in a terminal, before this question was answered"

func outOfDate(c *state.Current) Verdict {
	return deny(c, "the question is out of date", c.Name()+" has changed since the person was asked. Complete it again")
}

// mayBeAnother returns why an answer about the step does not count, or nil.
func (f *Frame) mayBeAnother(s *state.State, c *state.Current) *Verdict {
	if f.Answerers == nil {
		return nil
	}
	hook := s.NewAnswerer(f.Answerers())
	if hook == "" {
		return nil
	}
	v := deny(c, "a new hook may have answered for a person", c.Name()+": "+state.NotByPerson(hook, doneCommand(s, c, f.listFlag())))
	v.past.forbidden = true
	return &v
}
