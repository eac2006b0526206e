// Package hook answers an event of an agent. [Run] is its way: the event is read, the list is found, what was interrupted is
// recovered, a skill that was taken up is put into the list, the rules about steps decide, and the answer is written in the
// form that the agent reads.
//
// Which agent it is does not matter here: what one has and can is in its row of package agent.
package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/startup"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// Flags are the flags of the hook, and what the command line gives it.
type Flags struct {
	hydrate.Flags
	Hydrates bool // only: fsmtx hydrate
	Read     Reader
}

// enforces reports whether the hook enforces the steps of workflows.
func (f *Flags) enforces() bool { return !f.Hydrates && f.Steps != "off" }

// hook is one call of the hook.
type hook struct {
	*gates.Frame       // of the list; nil if that is not known
	noList       error // why the list is not known
	found        tasklist.Found
	streams      terminal.Streams
	flags        *Flags
	agent        *agent.Agent
	call         agent.Call
	began        time.Time
	log          *Log
	notes        []string       // for standard error
	sentBack     bool           // the agent may not stop
	present      state.Presence // who is at the list
	tookUp       bool           // the event takes up a skill, in another agent than Claude Code
}

// Run answers one event and returns the exit code. After an error of this program it refuses nothing: some agents refuse every
// call whose hook fails, or never end a turn.
func Run(ctx context.Context, s terminal.Streams, f *Flags) (code int) {
	defer func() {
		if p := recover(); p != nil {
			s.Errorf("internal error: %v", p)
			code = client.ExitOK
		}
	}()
	h := &hook{streams: s, flags: f, began: time.Now()}
	e, err := readEvent(s)
	if errors.Is(err, client.ErrTooLarge) {
		if code, refused := h.refuseUnread(ctx, e); refused {
			return code
		}
	}
	if err != nil {
		return f.unread(s, err)
	}
	if h.agent = f.eventAgent(e); h.agent == nil {
		return client.ExitOK
	}
	var needed bool
	if h.call, needed = h.agent.Read(e); !needed {
		return client.ExitOK
	}
	h.found, h.noList = h.find(ctx)
	if h.takingUp() == nil && h.isIdle() {
		return client.ExitOK
	}
	h.open()
	answer := h.answer(ctx)
	h.join(ctx)
	if h.log.On() {
		s.SurviveBrokenPipe() // the call is logged even if the client has gone
	}
	code = Deliver(s, h.agent.Answer(h.call, answer))
	h.log.Write()
	for _, note := range h.notes {
		s.Errorf("%s", note)
	}
	return code
}

// join records which client works on the list. Of another agent than Claude Code that takes a look at the processes above, so it is
// done at a prompt, when the session starts and when a workflow is taken up.
func (h *hook) join(ctx context.Context) {
	rare := h.tookUp || slices.Contains([]agent.Moment{agent.Start, agent.Prompt}, h.call.Moment)
	if h.noList == nil && (h.agent.Session || rare) {
		sees := h.flags.enforces() && h.agent.SeesShell()
		presence.Join(ctx, &h.Store, h.streams, h.agent.Name, h.directory(), sees)
		if h.agent.Session && h.call.Moment == agent.Start && h.call.Source == "clear" {
			presence.Leave(ctx, h.streams.Getenv, h.List.Dir)
		}
	}
}

// isStricter reports whether another hook that is registered runs checks.
func (h *hook) isStricter() bool {
	all := Registered(h.streams.Getenv, h.directory())
	return len(all) > 0 && !ofRegistered(all)
}

// who returns who has started the hook. It may be an orphan of the agent that works on the list.
func (h *hook) who() caller.Caller {
	who, _, _ := presence.Beside(h.streams.Who(), h.found.Dir)
	return who
}

// fromClient reports whether the event comes from the client.
func (h *hook) fromClient() bool { return h.who().FromClient() }

// eventAgent returns the agent whose event it is, nil if this hook was registered for another one: agents run each other's hooks.
func (f *Flags) eventAgent(e *client.Event) *agent.Agent {
	if f.Agent == "" {
		return agent.Of(e)
	}
	if a := agent.Named(f.Agent); a.Sent(e) || e.Foreign() && !a.Session {
		return a
	}
	return nil
}

// open prepares to decide about the list.
func (h *hook) open() {
	s, f := h.streams, h.flags
	h.log = NewLog(s, f.Log)
	if h.noList != nil {
		return
	}
	h.Frame = NewFrame(s, h.found)
	memory, _ := h.Memory()
	h.present = memory.Presence
	if !h.agent.Session {
		h.NoChecks = sync.OnceValue(ChecksOff(s.Getenv, h.found))
	}
	if h.agent.Session {
		h.Limit, h.Began, h.Planning = f.Limit, startup.Began, h.call.PermissionMode == planMode
		if f.Checks == "off" { // another hook may be stricter, and an agent may imitate this one
			h.NoChecks = sync.OnceValue(func() bool { return h.fromClient() && !h.isStricter() })
		}
		if f.Steps == hydrate.Observe {
			h.Observe = sync.OnceValue(func() bool {
				all := Registered(s.Getenv, h.directory())
				return h.fromClient() && (len(all) == 0 || Observes(all) != "")
			})
		}
		h.Forged = s.Forged
		h.Unseen = h.Forged
		h.log.event = h.call.Event
	}
	if h.log.On() {
		h.Frame.Log = h.log
	}
}

// find returns the list: the session's or the project's.
func (h *hook) find(ctx context.Context) (found tasklist.Found, err error) {
	if h.agent.Session {
		if h.call.SessionID == "" {
			return found, errors.New("the event has no session_id")
		}
		dir, err := tasklist.OfSession(h.streams.Getenv, h.call.SessionID)
		return tasklist.Found{Dir: dir, Session: h.call.SessionID}, err
	}
	if h.call.Cwd == "" {
		if h.call.Cwd, err = os.Getwd(); err != nil {
			return found, err
		}
	}
	return tasklist.Find(ctx, tasklist.Query{Lookup: h.streams.Getenv, Dir: h.call.Cwd, Agent: h.agent.Name, Own: h.call.SessionID,
		Begins: true})
}

// answer does what is due at the event in one order: recover, take up or correct a workflow, judge, tell. The answers of the
// parts are one answer.
func (h *hook) answer(ctx context.Context) client.Answer {
	before := client.Join(h.call.Name, h.recovered(ctx), h.taken(ctx))
	answer := client.Join(h.call.Name, before, h.enforceInTime(ctx))
	if answer.Exit == client.ExitBlock && before.Exit != client.ExitBlock {
		h.notes = nil // the model would read them
	}
	return answer
}

// enforceInTime returns the answer of the rules about steps. Unless a check may run, which has a time limit of its own, the answer
// comes in time: the client does not report that it has ended a hook (fact 46, client 2.1.329).
func (h *hook) enforceInTime(ctx context.Context) client.Answer {
	if !h.flags.enforces() || !h.decides() || h.isIdle() {
		return client.Answer{}
	}
	h.streams.SurviveBrokenPipe()
	if h.call.Moment == agent.Approved || h.call.Command != "" || h.isUpdate() {
		return h.enforceSafely(ctx)
	}
	a, err := inTime(ctx, 0, func(ctx context.Context) (client.Answer, error) { return h.enforceSafely(ctx), nil })
	if err != nil {
		return notEnforced(err)
	}
	return a
}

// isIdle reports whether the session has no list and the call does not run this program. Most sessions are so, and nothing is
// decided in them.
func (h *hook) isIdle() bool {
	c := h.call
	return h.noList == nil && c.Moment != agent.Start && !strings.Contains(c.Command, "fsmtx") && !settings.IsServed(c.ToolName) &&
		h.streams.Env(tasklist.Variable) == "" && txn.IsAbsent(h.found.Dir)
}

// enforceSafely returns the answer of the rules. A panic refuses nothing.
func (h *hook) enforceSafely(ctx context.Context) (a client.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = notEnforced(fmt.Errorf("internal error: %v", p))
		}
	}()
	if h.noList != nil {
		return notEnforced(h.noList)
	}
	lost := h.lost(ctx)
	h.endGrants(ctx)
	h.endVouchers(ctx)
	h.EndOrphans()
	return client.Join(h.call.Name, client.Join(h.call.Name, lost, h.wentOn(ctx)), h.withNews(ctx, h.dispatch(ctx)))
}

// lost tells the person that what was kept for the sessions of the list is damaged, and has it begin anew.
func (h *hook) lost(ctx context.Context) client.Answer {
	_, err := h.Memory()
	if !errors.Is(err, state.ErrMemory) || h.IsForged() || h.Remember(ctx, func(*state.Memory) {}) != nil {
		return client.Answer{}
	}
	return h.troubled(message.ForPerson(message.Join(err.Error(), message.Hint(err))))
}

// wentOn tells the session, once, that its workflow goes on in another list.
func (h *hook) wentOn(ctx context.Context) client.Answer {
	words, err := h.Resolve(ctx)
	switch {
	case err != nil && !h.AlreadyTold(ctx, h.Session+"/"+err.Error()):
		return h.troubled(message.ForPerson(message.Join(err.Error(), message.Hint(err))))
	case words == "":
		return client.Answer{}
	}
	whose := "session"
	if !h.found.IsOfSession() {
		whose = "project"
	}
	words = message.Sprintf("%s: it is not in the list of this %s any more", words, whose)
	return client.Tell(h.call.Name, message.ForAgent("Note: "+words+". Tell the person if you were working on it."),
		notice(message.ForPerson(words)))
}

// dispatch answers the event by the rules.
func (h *hook) dispatch(ctx context.Context) client.Answer {
	switch h.call.Moment {
	case agent.Start:
		return h.start(ctx)
	case agent.Prompt:
		return h.prompt(ctx)
	case agent.Before:
		return h.before(ctx)
	case agent.After:
		return h.after(ctx)
	case agent.Approved:
		return h.approved(ctx)
	case agent.Stop, agent.SubStop:
		return h.stop(ctx)
	}
	return client.Answer{}
}

// notEnforced reports to the person why the hook could not decide about a call. It refuses no call.
func notEnforced(why error) client.Answer {
	return client.Notice(message.ForPerson(message.Sprintf("the steps of workflows are not enforced: %v", why)))
}

// troubled reports an error of this program to the person. It refuses nothing.
func (h *hook) troubled(trouble message.ForPerson) client.Answer {
	if trouble == "" {
		return client.Answer{}
	}
	return client.Tell(h.call.Name, "", notice(trouble))
}
