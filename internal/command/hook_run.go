package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/recovery"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const hookLong = `Hook is the one hook of fsmtx. It reads an event from standard input, finds out which agent
sent it and what it is about, and does what the event needs, in one process and in this
order: recover, reconcile, hydrate, judge, tell.

  a session starts       finishes an interrupted change of the list; a resumed session
                         receives the state of its workflow
  a prompt               notes whether the person says stop, or wants only a part; takes
                         up the skill that the prompt names
  a tool is about to run corrects the tasks if the client ran another folder than was
                         predicted; refuses a step before its turn or whose gates do not
                         hold, calls that belong to a later step, and edits of the files
                         of the list; asks the person about commands of fsmtx that take
                         something away
  a tool has run         takes up the skill that the tool has loaded, or whose SKILL.md the
                         agent's shell has read; records what a person chose
  the turn ends          corrects the tasks, and sends the agent back to a step that is
                         ready (--stop)

Taking a skill up puts the workflow of its fsm.json into the list and tells the agent its
steps, and by what it can work on them.

In Claude Code the list is the session's. If a skill's workflow cannot be taken up, the list stays
as it was, and the hook exits with 2 and the reason, which the agent reads, on standard
error; when the user has typed the skill, that also stops the prompt. A refused call exits
with 2, too. A call takes at most 5 s more than --lock-timeout, unless the check of a step
runs, for which --limit is. With --steps off nothing is enforced.

In other agents (docs/agents.md) the list is the project's. A skill whose workflow is already
open continues it. The answer is in the form that the agent reads, with exit code 0.
--checks, --limit, --announce, --plugin-dir and --add-dir have no effect there.

Without --agent the event shows which agent sent it. With --agent, hook ignores the events of
other agents, whose own hooks answer them. Errors of fsmtx refuse nothing; they are reported
to the agent and the person. fsmtx install registers the hook.`

type eventFlags struct {
	hydrate.HookFlags
	only     part
	recovery recovery.Options
}

// part is what a command does of the hook; the zero part is the whole.
type part int

const (
	takesUp  part = iota + 1 // fsmtx hydrate
	judges                   // fsmtx step
	recovers                 // fsmtx recover --hook
)

// does reports whether the hook does a part.
func (f *eventFlags) does(p part) bool { return f.only == 0 || f.only == p }

// partOfHook returns the flags, with their defaults, of a command that does a part of Claude Code's hook.
func partOfHook(only part) *eventFlags {
	f := &eventFlags{only: only}
	f.Add(pflag.NewFlagSet("", pflag.ContinueOnError))
	f.Agent = caller.Claude
	return f
}

// command lets c run the hook with the flags in f.
func (f *eventFlags) command(s terminal.Streams, c *cobra.Command) *cobra.Command {
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c.Context(), s) }
	return c
}

func (f *eventFlags) run(ctx context.Context, s terminal.Streams) error {
	policy, err := f.check()
	if err != nil {
		return misusedHook(s, err)
	}
	return runHook(ctx, s, *f, policy)
}

func NewHook(s terminal.Streams) *cobra.Command {
	f := new(eventFlags)
	c := f.command(s, &cobra.Command{
		Use:   "hook",
		Short: "As a hook of any agent: do what its event needs",
		Long:  hookLong,
		Example: Example(
			"fsmtx hook --agent claude < event.json",
			"fsmtx hook --agent codex < event.json",
			"fsmtx hook --agent gemini --stop hold < event.json"),
		Args: NoArguments,
	})
	f.Add(c.Flags())
	completeHydrate(c)
	completeStep(c)
	Complete(c, "agent", append([]string{caller.Claude}, agent.Names()...)...)
	Complete(c, "steps", "on", "off")
	return c
}

func (f *eventFlags) check() (fsmspec.Policy, error) {
	if f.Agent != "" && f.Agent != caller.Claude && agent.Named(f.Agent) == nil {
		return fsmspec.Policy{}, fmt.Errorf("--agent: got %q, want %s, %s", f.Agent, caller.Claude, strings.Join(agent.Names(), ", "))
	}
	return f.Check()
}

// misusedHook reports an invalid hook command line: in Claude Code to the agent that has called
// a skill, or else to the person; in other agents to the person. It refuses nothing.
func misusedHook(s terminal.Streams, err error) error {
	err = errors.New(message.Sprintf("invalid hook command line: %v", err))
	e, readErr := ReadEvent(s) // an agent may not expect that its pipe breaks
	if errors.Is(readErr, errTyped) {
		s.Errorf("%v", err)
		s.Hintf("the flags are in fsmtx hook --help")
		return nil
	}
	if readErr == nil && e.Foreign() {
		a := agent.Of(e)
		if a == nil {
			s.Errorf("%v", err)
			s.Hintf(`run "fsmtx install --agent NAME" to repair it`)
			return nil
		}
		return deliver(s, noticeTo(a, fmt.Errorf(`%w; run "fsmtx install --agent %s" to repair it. The steps of workflows are not enforced`, err,
			a.Name)))
	}
	const hint = `run "fsmtx install" to repair it; the flags are in fsmtx hook --help`
	if readErr == nil {
		if request, skip, _ := hydrate.Understand(e); skip == "" {
			return deliver(s, hydrate.Failed(request, hydrate.Result{}, err.Error(), hint))
		}
	}
	return deliver(s, event.Notice(message.Sprintf("%v; %s. The steps of workflows are not enforced", err, hint)))
}

// noticeTo tells the person at agent a, nil for Claude Code, and standard error. It has no effect
// on what the agent does.
func noticeTo(a *agent.Agent, why error) event.Answer {
	message := message.Sprintf("%v", why)
	if a == nil {
		return event.Notice(message)
	}
	answer := a.Answer(agent.Call{}, agent.Reply{Person: "fsmtx: " + message})
	answer.ErrorText = terminal.Message(message)
	return answer
}

// runHook answers one event. It never fails for another agent than Claude Code: some of these
// agents refuse every call whose hook fails, or never end a turn.
func runHook(ctx context.Context, s terminal.Streams, f eventFlags, policy fsmspec.Policy) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.Errorf("internal error: %v", p)
			err = nil
		}
	}()
	begun := time.Now()
	e, err := ReadEvent(s)
	if errors.Is(err, errTyped) {
		s.Errorf("%v", err)
		s.Hintf("an agent runs this hook; see fsmtx hook --help. fsmtx step show shows the steps")
		return nil
	}
	if err != nil && f.only == takesUp {
		return deliver(s, hydrate.Failed(hydrate.Request{}, hydrate.Result{}, err.Error(),
			"hydrate is a hook: it reads the client's event; see fsmtx hook --help"))
	}
	if err != nil { // there is an event, perhaps ahead of a call that a step refuses
		return deliver(s, noticeTo(agent.Named(f.Agent), fmt.Errorf("no workflow was taken up and no step was enforced: %w", err)))
	}
	a := agent.Of(e)
	if f.Agent != "" {
		a = agent.Named(f.Agent) // nil for Claude Code, whose files other agents read too
	}
	if !e.Foreign() && (a == nil || !a.Sent(e)) {
		if a != nil {
			return nil // the agent runs Claude Code's hooks, or Claude Code this agent's
		}
		return claudeHook{s, f, policy, e, begun}.run(ctx)
	}
	if a == nil {
		return nil
	}
	call, ok := a.Read(e)
	if !ok {
		return nil
	}
	SurviveBrokenPipe(s)
	h, err := newAgentHook(ctx, s, f, policy, a, call)
	if err != nil {
		return deliver(s, a.Answer(call, agent.Reply{Person: message.Sprintf("fsmtx: the steps of workflows are not enforced: %v", err)}))
	}
	err = deliver(s, a.Answer(call, h.reply(ctx)))
	h.decided.write()
	return err
}
