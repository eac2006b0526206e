package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// Past is a person's decision to go past the gates of a step.
type Past struct {
	Done    bool // the work was done; otherwise the step is skipped
	Step    int64
	Because string
}

// Verb returns "done" or "skip".
func (p Past) Verb() string {
	if p.Done {
		return "done"
	}
	return "skip"
}

func (p Past) why() string {
	if p.Done {
		return doneWord + p.Because
	}
	return skipWord + p.Because
}

// Errors of GoPast.
var (
	// ErrNoStep is returned when the list has no such step.
	ErrNoStep = errors.New("not a step of a workflow in this task list")
	// ErrIsDone is returned when the step is done already.
	ErrIsDone = errors.New("the step is done already")
	// ErrNoGrant is returned when an agent goes past a gate and no person has said yes
	// to exactly that within the last minute.
	ErrNoGrant = errors.New("an agent cannot go past a gate by itself")
)

// grantLasts is how long a grant is good for.
const grantLasts = time.Minute

// grant is a person's yes, as far as this program can tell, to a command of the agent.
type grant struct {
	Past
	Time time.Time
}

func (g grant) fresh(now time.Time) bool {
	return now.Sub(g.Time) < grantLasts && !g.Time.After(now.Add(grantLasts))
}

// Grant leaves a grant for the command, good once and for a minute. The client runs the
// command only if the person says yes to it.
func (f *Frame) Grant(ctx context.Context, p Past) error {
	return f.locked(ctx, func(dir *txn.Dir) error {
		grants, err := readGrants(dir)
		if err != nil {
			return err
		}
		return writeGrants(dir, append(grants, grant{p, time.Now().UTC()}))
	})
}

// GoPast completes a step whatever its gates say: the decision is recorded, then the
// task's file is changed under the client's locks. With granted it takes a grant.
//
// Errors: ErrNoStep, ErrIsDone, ErrNoGrant, those of Load and of tasks.List.Open.
func (f *Frame) GoPast(ctx context.Context, p Past, granted bool) (s *State, err error) {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return nil, err
	}
	if live.find(itoa(p.Step)) == nil {
		return nil, fmt.Errorf("#%d: %w", p.Step, ErrNoStep)
	}
	err = f.locked(ctx, func(dir *txn.Dir) error {
		if granted {
			if err := takeGrant(dir, p); err != nil {
				return err
			}
		}
		if s, err = live.state(ctx, dir.Path(), dir.ReadState); err != nil {
			return err
		}
		return f.goPast(ctx, dir, s, p)
	})
	return s, err
}

func (f *Frame) goPast(ctx context.Context, dir *txn.Dir, s *State, p Past) error {
	c := s.Step(p.Step)
	switch {
	case c.Gone():
		return fmt.Errorf("#%d: %w: it is gone from the list", p.Step, ErrNoStep)
	case c.Done():
		return fmt.Errorf("%s: %w", c.Name(), ErrIsDone)
	}
	e := Evidence{Time: time.Now().UTC(), Step: p.Step, From: c.Status, To: completed, Verdict: Override, Why: p.why()}
	if err := appendEvidence(dir, e); err != nil {
		return err
	}
	s.Evidence = append(s.Evidence, e)
	if c.Status != completed {
		waiting, cancel := f.List.Waiting(ctx)
		defer cancel()
		if err := setStatus(waiting, dir, p.Step, completed); err != nil {
			return err
		}
	}
	c.Status, c.Passed = completed, true
	return nil
}

// locked runs do under the lock of the list's state.
func (f *Frame) locked(ctx context.Context, do func(*txn.Dir) error) error {
	waiting, cancel := f.List.Waiting(ctx)
	defer cancel()
	dir, err := f.List.Open(waiting)
	if err != nil {
		return err
	}
	defer f.release(dir)
	return do(dir)
}

// takeGrant uses up a grant for exactly this command.
func takeGrant(dir *txn.Dir, p Past) error {
	grants, err := readGrants(dir)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(grants, func(g grant) bool { return g.Past == p })
	if i < 0 {
		return ErrNoGrant
	}
	return writeGrants(dir, slices.Delete(grants, i, i+1))
}

// readGrants returns the grants that are still good.
func readGrants(dir *txn.Dir) ([]grant, error) {
	data, err := dir.ReadState(grantsFile)
	if err != nil {
		return nil, err
	}
	var all []grant
	_ = json.Unmarshal(data, &all, jsonx.Tolerant) // what cannot be read grants nothing
	now := time.Now()
	return slices.DeleteFunc(all, func(g grant) bool { return !g.fresh(now) }), nil
}

func writeGrants(dir *txn.Dir, all []grant) error {
	if len(all) == 0 {
		return dir.RemoveState(grantsFile)
	}
	text, err := json.Marshal(all, jsonx.Tolerant)
	if err != nil {
		return err
	}
	return dir.WriteState(grantsFile, text)
}
