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
	// ErrNoGrant is returned when an agent goes past a gate and no person has agreed to
	// exactly that command within the last minute.
	ErrNoGrant = errors.New("an agent cannot go past a gate by itself")
)

// grantLifetime is how long a grant is valid.
const grantLifetime = time.Minute

// grant permits one command of the agent. Whether the person agreed is up to the client,
// which runs the command only then.
type grant struct {
	Past
	Time time.Time
}

func (g grant) fresh(now time.Time) bool {
	return now.Sub(g.Time) < grantLifetime && !g.Time.After(now.Add(grantLifetime))
}

// Grant permits the command once, within a minute. The caller then asks the person; the
// client runs the command only if they agree.
func (f *Frame) Grant(ctx context.Context, p Past) error {
	return f.locked(ctx, func(dir *txn.Dir) error {
		grants, err := readGrants(dir)
		if err != nil {
			return err
		}
		return writeGrants(dir, append(grants, grant{p, time.Now().UTC()}))
	})
}

// GoPast completes a step without evaluating its gates: it records the decision, then
// changes the task's file under the client's locks. needsGrant says that the command needs
// a grant, which it uses up. by is who decided; its Session is filled in.
//
// Errors: ErrNoStep, ErrIsDone, ErrNoGrant, those of Load and of tasks.List.Open.
func (f *Frame) GoPast(ctx context.Context, p Past, by By, needsGrant bool) (s *State, err error) {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return nil, err
	}
	if live.find(itoa(p.Step)) == nil {
		return nil, fmt.Errorf("#%d: %w", p.Step, ErrNoStep)
	}
	err = f.locked(ctx, func(dir *txn.Dir) error {
		if needsGrant {
			if err := takeGrant(dir, p); err != nil {
				return err
			}
		}
		if s, err = live.state(ctx, dir.Path(), dir.ReadState); err != nil {
			return err
		}
		return f.goPast(ctx, dir, s, p, by)
	})
	return s, err
}

func (f *Frame) goPast(ctx context.Context, dir *txn.Dir, s *State, p Past, by By) error {
	c := s.Step(p.Step)
	switch {
	case c.Gone():
		return fmt.Errorf("#%d: %w: it is gone from the list", p.Step, ErrNoStep)
	case c.Done():
		return fmt.Errorf("%s: %w", c.Name(), ErrIsDone)
	}
	by.Session = f.Session
	e := Evidence{Time: time.Now().UTC(), Step: p.Step, From: c.Status, To: completed, Verdict: Override, Why: p.why(), By: by}
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

// locked calls do while it holds the lock of the list.
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

// takeGrant removes a grant for exactly this command.
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

// readGrants returns the grants that are still valid.
func readGrants(dir *txn.Dir) ([]grant, error) {
	data, err := dir.ReadState(grantsFile)
	if err != nil {
		return nil, err
	}
	var all []grant
	_ = json.Unmarshal(data, &all, jsonx.Tolerant) // a file that cannot be read grants nothing
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
