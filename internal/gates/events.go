package gates

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn"
)

// Stop decides whether an agent may stop. If it may not, agent is the reason for the agent
// and person the one for the person. Only the session that called the skill of a workflow is
// sent back to its steps: others may share the list. If the agent may stop, agent is empty, and
// person may be what the person has to know.
//
// After an error the agent may stop.
func (f *Frame) Stop(ctx context.Context, x Stopping) (agent message.ForAgent, person message.ForPerson, err error) {
	list, err := f.load(ctx)
	if err != nil {
		return "", "", err
	}
	s, left, err := f.stop(ctx, list, x)
	if err != nil {
		return "", "", err
	}
	missing := f.tellMissing(ctx, list, x)
	if x.Agent == "" {
		missing = message.Join(missing, f.tellChanged(ctx, list, false))
	}
	missing = message.Join(missing, message.ForPerson(f.tellChosen(ctx, list, x.Project)))
	f.logStop(s, x, left)
	if len(left) == 0 {
		return "", missing, nil
	}
	agent, person = sentBack(s, left, x, f.Questions)
	if x.Shown {
		person = ""
	}
	return agent, message.Join(person, missing), nil
}

// stop returns the steps to which the agent is sent back, or none. s is the state of the
// list; mine is that of the session's workflows.
func (f *Frame) stop(ctx context.Context, s *state.State, x Stopping) (mine *state.State, left []*state.Current, err error) {
	_ = f.lapse(ctx, s, Pause{Agent: x.Agent, Calls: client.Transcript(x.Transcript), Idle: true}) // the next event tries again
	if x.Heard == nil {
		s = f.own(s, x.Transcript, x.Prompt)
	} else {
		s = s.OnlyCalled(x.Heard.Called)
	}
	all, err := f.reminders()
	if err != nil {
		return nil, nil, err
	}
	last := all.of(f.reminder(x))
	if last.times < 0 && x.goesOn() {
		last = reminder{}
	}
	left = slices.DeleteFunc(stop(s, x, last), func(c *state.Current) bool { return f.lacksCommand(s, c) != "" })
	if len(left) == 0 {
		return s, nil, nil
	}
	if f.IsForged() { // the reminder is for the client's own event
		return s, nil, nil
	}
	next := last.again(s.ProgressDigest())
	if left = x.heard(s).wanted(s, left); len(left) == 0 && x.Mode != Hold {
		// Once the person has said stop, there is no reminder in a later turn either, unless the work has gone on, or the person
		// asks to go on: the reminder of this stall counts as given.
		next.times = -1
	}
	if err := f.changeReminders(ctx, f.reminder(x), next.String()); err != nil {
		return nil, nil, err // a reminder that is not recorded would be repeated for ever
	}
	return s, left, nil
}

// load is Now at an event: the list shows the state then.
func (f *Frame) load(ctx context.Context) (*state.State, error) {
	_, _ = f.redo(ctx, true) // the next event tries again
	return f.Now(ctx)
}

// own returns the state of the workflows whose skill the session has called.
func (f *Frame) own(s *state.State, path, prompt string) *state.State {
	return s.Of(f.Session, func(command string) bool {
		_, called := client.LastCall(path, prompt,
			func(name string) bool { return name == command || strings.HasSuffix(command, ":"+name) })
		return called
	})
}

// reminder returns the key of an agent in the reminders.
func (f *Frame) reminder(x Stopping) string { return cmp.Or(x.Caller, f.Session) + "/" + x.Agent }

// changeReminders sets a value in the reminders.
func (f *Frame) changeReminders(ctx context.Context, key, value string) error {
	return f.Remember(ctx, func(m *state.Memory) { m.Reminders = reminders(m.Reminders).with(key, value) })
}

// reminders reads them without the lock.
func (f *Frame) reminders() (reminders, error) {
	m, err := f.memory()
	return m.Reminders, err
}

// memory returns what is kept for the sessions of the list. Of a damaged file, as a power cut may leave it, nothing is known: the hook
// has told the person before.
func (f *Frame) memory() (state.Memory, error) {
	m, err := f.Memory()
	if errors.Is(err, state.ErrMemory) {
		err = nil
	}
	return m, err
}

// reminders has the last reminder, by session and agent.
type reminders map[string]string

// reminder is the progress at which an agent was last sent back, and how often it was sent back
// there: -1 if it was not, because of what the person had said.
type reminder struct {
	at    string
	times int
}

// again returns the reminder after one more at the progress.
func (r reminder) again(progress string) reminder {
	if r.at != progress {
		return reminder{progress, 1}
	}
	return reminder{progress, r.times + 1}
}

// String returns the progress and, if it is more than once, how often.
func (r reminder) String() string {
	if r.times == 1 {
		return r.at
	}
	return r.at + " " + strconv.Itoa(r.times)
}

func (r reminders) of(agent string) reminder {
	at, times, counted := strings.Cut(r[agent], " ")
	n := 1
	if counted {
		n, _ = strconv.Atoi(times)
	}
	return reminder{at, n}
}

// BeginTurn makes the count of Stopping.Turns begin again, because the person has sent a
// prompt.
func (f *Frame) BeginTurn(ctx context.Context, x Stopping) error {
	all, err := f.reminders()
	last := all.of(f.reminder(x))
	if err != nil || last.times < 2 {
		return err
	}
	return f.changeReminders(ctx, f.reminder(x), reminder{last.at, 0}.String())
}

// maxReminders limits the number of agents in the reminders. When it is reached, all subagents
// are forgotten, and if they are still too many, all sessions.
const maxReminders = 50

func (r reminders) with(agent, progress string) reminders {
	if len(r) >= maxReminders {
		maps.DeleteFunc(r, func(key, _ string) bool { return !strings.HasSuffix(key, "/") })
	}
	if r == nil || len(r) >= maxReminders {
		r = reminders{}
	}
	r[agent] = progress
	return r
}

// Resume returns the state of the session's workflows in the list as text for an agent that
// has lost its context. It is empty if every step is done. path is that of the session's
// transcript.
func (f *Frame) Resume(ctx context.Context, path string) (string, error) {
	s, err := f.load(ctx)
	if err != nil || len(s.Steps) == 0 {
		return "", err
	}
	return resumed(f.own(s, path, "")), nil
}

// Report returns the state of the workflows that a session works, or of all workflows in the list if
// it is not known to work any, as text for an agent. It is empty if every step is done.
func (f *Frame) Report(ctx context.Context, session string) (string, error) {
	s, err := f.Now(ctx)
	if err != nil || len(s.Steps) == 0 {
		return "", err
	}
	if heard, err := f.Heard(session); err == nil && heard.Works {
		s = s.OnlyCalled(heard.Called)
	}
	return resumed(s), nil
}

// Edit decides whether an agent that works in cwd may write the file at the path. The files of a list
// are kept from it if a step is in the list, whether or not its record can be read.
func (f *Frame) Edit(path, cwd string) Verdict {
	if path = safefile.Absolute(facts.Homely(path), cwd); path == "" || f.observes() {
		return Verdict{}
	}
	path = safefile.AsOpened(path)
	s, err := txn.StateDir(f.List.Dir)
	if err != nil {
		return f.trouble(err)
	}
	dirs := []string{safefile.Resolve(f.List.Dir), safefile.Resolve(s)}
	v := edit(safefile.Resolve(path), dirs...) // as the kernel reads ..
	if v.Allowed() {
		v = edit(safefile.Resolve(filepath.Clean(path)), dirs...) // as the client does
	}
	if v.Allowed() {
		return v
	}
	if r, err := f.OnRecord(); err == nil && len(r.Steps) == 0 {
		return Verdict{}
	}
	return v
}
