package hydrate

import (
	"cmp"
	"strconv"
	"time"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/state"
)

// Call is one call of the hook, for the log.
type Call struct {
	Request Request
	Result  Result
	Skipped string // why there was nothing to do; empty otherwise
	Err     error
}

// Decision returns what a call that began at start and ended at now decided.
func (c Call) Decision(start, now time.Time) decisions.Record {
	r := decisions.Record{
		Time: start, Source: decisions.Hydrate, Decision: c.outcome(), Why: c.Skipped,
		Session: c.Request.Session, Agent: c.Request.Agent, Event: c.Request.Event,
		List: c.Result.List, Project: cmp.Or(c.Request.Project, c.Request.Cwd), Workflow: c.Request.Command,
		Spec: c.Result.Spec, Digest: c.Result.SHA256,
		Lost: c.Result.Lost, Changed: c.Result.Changed,
		Restored: Numbers(c.Result.Restored), Duration: decisions.Milliseconds(now.Sub(start)),
	}
	r.DecidedBy(cmp.Or(c.Request.By, c.Request.BegunBy, decisions.ByCall(c.Request.Typed)))
	if c.Request.Unseen {
		r.Gaps = []string{string(state.Unseen)}
	}
	if c.Err != nil {
		r.Why = c.Err.Error()
	}
	for _, d := range c.Result.Deleted {
		r.Deleted = append(r.Deleted, Numbers([]string{d.ID})...)
	}
	for _, created := range c.Result.Created {
		r.Created = append(r.Created, created.ID)
	}
	return c.counted(r)
}

// counted adds how many steps there are, and what names the run.
func (c Call) counted(r decisions.Record) decisions.Record {
	if c.Result.Nested != nil {
		r.Parent = c.Result.Nested.ID
	}
	if len(r.Created) == 0 {
		return r
	}
	open := 0
	for _, t := range c.Result.Steps {
		if t.Status.String() != "completed" {
			open++
		}
	}
	r.Run, r.Steps, r.Open = r.Created[0], len(r.Created), &open
	return r
}

// Numbers returns the numbers among the ids of tasks.
func Numbers(ids []string) (all []int64) {
	for _, id := range ids {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func (c Call) outcome() string {
	switch {
	case c.Err != nil:
		return "failed"
	case c.Skipped != "":
		return "skipped"
	case c.Result.Duplicate:
		return "duplicate"
	case len(c.Result.Deleted)+len(c.Result.Created)+len(c.Result.Restored) == 0:
		return "nothing to do"
	}
	return "hydrated"
}
