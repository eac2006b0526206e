package hook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// errTyped is returned if standard input is a terminal: a person has typed the command.
var errTyped = errors.New("standard input is a terminal; it must be the client's event")

// readEvent reads the event of a hook from standard input. It returns errTyped or an error of client.Read.
func readEvent(s terminal.Streams) (*client.Event, error) {
	if s.InputIsTerminal() {
		return nil, errTyped
	}
	return client.Read(s.In)
}

// Deliver prints a hook's answer and returns its exit code. A reply that
// cannot be printed is reported, but is not a failure: what the hook has done stays done. Only a
// call about which it decides is refused.
func Deliver(s terminal.Streams, a client.Answer) (code int) {
	if err := a.Write(s.Out, s.Err); err != nil {
		s.Errorf("cannot write the reply: %v", err)
		if code := a.Undelivered(); code != a.Exit {
			a.Exit = code
			s.Errorf("the call is refused, because it depends on that reply: make it again")
		}
		if out, ok := s.Out.(*terminal.Output); ok {
			out.Forget()
		}
	}
	return a.Exit
}

// ownPath returns the path of this program, by which any shell of the agent can run it; a
// login shell may not have the PATH of the hooks. It is "fsmtx" if the path is unknown.
func ownPath() string {
	self, err := programs.Path()
	if err != nil {
		return settings.Program
	}
	return filepath.ToSlash(self)
}

// unread answers an event that cannot be read.
func (f *Flags) unread(s terminal.Streams, err error) (code int) {
	switch {
	case errors.Is(err, errTyped):
		s.Errorf("%v", err)
		s.Hintf("an agent runs this hook; see fsmtx hook --help. fsmtx status shows the steps")
		return client.ExitOK
	case f.Hydrates:
		return Deliver(s, hydrate.Failed(hydrate.Request{}, hydrate.Result{}, err.Error(),
			"hydrate is a hook: it reads the client's event; see fsmtx hook --help"))
	}
	a := agent.Named(f.Agent)
	if a == nil {
		a = agent.Claude()
	}
	// there is an event, perhaps ahead of a call that a step refuses
	return tell(s, a, message.Sprintf("no workflow was taken up and no step was enforced: %v", err))
}

// refuseUnread answers a call whose event is too large to be judged, but not too large to tell which session it is of: with
// a list the call is refused, because a step may forbid it. It returns false if something else is to be said.
func (h *hook) refuseUnread(ctx context.Context, e *client.Event) (code int, ok bool) {
	if h.agent = h.flags.eventAgent(e); h.agent == nil {
		return 0, false
	}
	h.call, _ = h.agent.Read(e)
	h.found, h.noList = h.find(ctx)
	if h.call.Moment != agent.Before || !h.flags.enforces() || h.isIdle() {
		return 0, false
	}
	return Deliver(h.streams, h.agent.Answer(h.call, client.Refuse(message.ForAgent(fmt.Sprintf(
		"fsmtx: the call of %s was refused: its event is larger than %d MiB, so it cannot be judged by the steps of the workflow. "+
			"Make it in smaller parts",
		e.ToolName, client.MaxBytes>>20))))), true
}

// tell tells the person at an agent. It has no effect on what the agent does.
func tell(s terminal.Streams, a *agent.Agent, text string) (code int) {
	return Deliver(s, a.Answer(agent.Call{Event: new(client.Event)}, client.Notice(message.ForPerson(text))))
}

// Misused reports an invalid hook command line: in Claude Code to the agent that has called
// a skill, or else to the person; in other agents to the person. It refuses nothing.
func Misused(s terminal.Streams, err error) (code int) {
	message := message.Sprintf("invalid hook command line: %v", err)
	e, readErr := readEvent(s) // an agent may not expect that its pipe breaks
	if errors.Is(readErr, errTyped) {
		s.Errorf("%s", message)
		s.Hintf("the flags are in fsmtx hook --help")
		return client.ExitOK
	}
	a, install := agent.Claude(), "fsmtx install"
	if readErr == nil && e.Foreign() {
		if a = agent.Of(e); a == nil {
			s.Errorf("%s", message)
			s.Hintf(`run "fsmtx install --agent NAME" to repair it`)
			return client.ExitOK
		}
		install += " --agent " + a.Name
	}
	hint := `run "` + install + `" to repair it; the flags are in fsmtx hook --help`
	if readErr == nil && a.Session {
		if request, skip, _ := hydrate.Understand(e); skip == "" {
			return Deliver(s, hydrate.Failed(request, hydrate.Result{}, message, hint))
		}
	}
	return tell(s, a, message+"; "+hint+". The steps of workflows are not enforced")
}
