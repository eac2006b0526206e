package steps

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn"
)

// Stop decides whether an agent may stop. If it may not, agent is the reason for the agent
// and person the one for the person.
//
// After an error the agent may stop.
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
		return "", "", err // a reminder that is not recorded would be repeated for ever
	}
	agent, person = sentBack(s, left, x.Mode)
	return agent, person, nil
}

// reminders has, by agent, the progress at which the agent was last sent back.
type reminders map[string]string

// maxReminders limits the number of agents in the file. When it is reached, all but the
// session's own agent are forgotten.
const maxReminders = 50

func parseReminders(data []byte) (r reminders) {
	_ = json.Unmarshal(data, &r, jsonx.Tolerant) // a file that cannot be read has no reminders
	return r
}

func (r reminders) with(agent, progress string) reminders {
	if r == nil || len(r) >= maxReminders {
		r = reminders{"": r[""]}
	}
	r[agent] = progress
	return r
}

// Resume returns the state of the workflows in the list as text for an agent that has lost
// its context. It is empty if every step is done.
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
	return edit(safefile.Resolve(path), safefile.Resolve(f.List.Dir), safefile.Resolve(s))
}
