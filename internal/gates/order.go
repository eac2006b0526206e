package gates

import (
	"fmt"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// order denies an update of a step unless every step before it is done, and for its
// completion every one under it. A step that is gone from the list counts as done.
func order(s *state.State, c *state.Current, u Update) Verdict {
	open := s.OpenBlockers(c)
	if len(open) == 0 {
		if inside := s.OpenFor(c, u.Status); len(inside) > 0 {
			return notDoneUnder(s, c, inside)
		}
		return Verdict{}
	}
	verb := "started"
	if u.Status == workflow.Completed {
		verb = "completed"
	}
	reason := c.Name() + " cannot be " + verb + ": " + state.Names(open) + " must be done first"
	v := deny(c, state.Numbers(open)+areNot(open)+" done", reason+". "+s.Next(open))
	v.gate, v.past.step = fsmspec.InOrder, open[0].ID
	if first := s.First(open); first != nil && (first != open[0] || len(open) > 1) {
		v.past.step, v.past.more = first.ID, true
	} else if first == nil {
		v.past.only = true
	}
	return v
}

// notDoneUnder denies the completion of a step while a workflow under it is unfinished.
func notDoneUnder(s *state.State, c *state.Current, open []*state.Current) Verdict {
	reason := fmt.Sprintf("%s cannot be completed: under it is %s", c.Name(), s.DescribeUnder(c))
	v := deny(c, state.Numbers(open)+" under it"+areNot(open)+" done", reason+". "+s.Next(open))
	v.gate = fsmspec.InOrder
	return v
}

// areNot is the verb for these steps.
func areNot(open []*state.Current) string {
	if len(open) == 1 {
		return " is not"
	}
	return " are not"
}
