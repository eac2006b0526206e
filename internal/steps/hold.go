package steps

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn"
)

// Stop decides whether an agent may stop. agent, if not empty, is why it may not, for the
// agent; person is the same for the person.
//
// Errors are trouble of this program's own: the agent may stop.
func (f *Frame) Stop(ctx context.Context, x Stopping) (agent, person string, err error) {
	if x.Mode == StopOff {
		return "", "", nil
	}
	s, err := Load(ctx, f.List.Dir)
	if err != nil || len(s.Ready()) == 0 {
		return "", "", err
	}
	data, err := txn.ReadState(f.List.Dir, stopFile)
	if err != nil {
		return "", "", err
	}
	left := stop(s, x, parseReminders(data)[x.Agent])
	if len(left) == 0 {
		return "", "", nil
	}
	err = f.locked(ctx, func(dir *txn.Dir) error {
		data, err := dir.ReadState(stopFile)
		if err != nil {
			return err
		}
		text, err := json.Marshal(parseReminders(data).with(x.Agent, s.progress()), jsonx.Tolerant, json.Deterministic(true))
		if err != nil {
			return err
		}
		return dir.WriteState(stopFile, text)
	})
	if err != nil {
		return "", "", err // it could not be remembered, and would be repeated for ever
	}
	agent, person = sentBack(s, left, x.Mode)
	return agent, person, nil
}

// reminders has, by agent, the progress at which it was sent back last.
type reminders map[string]string

// maxReminders bounds the number of agents that are remembered.
const maxReminders = 50

func parseReminders(data []byte) (r reminders) {
	_ = json.Unmarshal(data, &r, jsonx.Tolerant) // what cannot be read was never said
	return r
}

func (r reminders) with(agent, progress string) reminders {
	if r == nil || len(r) >= maxReminders {
		r = reminders{"": r[""]}
	}
	r[agent] = progress
	return r
}

// Resume returns where the workflows in the list stand, for an agent that has forgotten
// it; empty if there is nothing to go on with.
func (f *Frame) Resume(ctx context.Context) (string, error) {
	s, err := Load(ctx, f.List.Dir)
	if err != nil {
		return "", err
	}
	return resumed(s), nil
}

// Edit decides whether an agent may write the file at the absolute path.
func (f *Frame) Edit(path string) Verdict {
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return f.trouble(err)
	}
	if len(live) == 0 {
		return Verdict{}
	}
	s, err := txn.StateDir(f.List.Dir)
	if err != nil {
		return f.trouble(err)
	}
	return behind(safefile.Resolve(path), safefile.Resolve(f.List.Dir), safefile.Resolve(s))
}
