package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

const hookLong = `Hook is the one hook of agents other than Claude Code: Codex, Copilot CLI, Gemini CLI and
Qwen Code (docs/agents.md). It reads an event from standard input, finds out which agent has
sent it and what it is about, and does in one process, and in this order, what is due:

  a session starts       finishes an interrupted change of the project's list; a resumed
                         session receives the state of its workflow
  a prompt               hears whether the person says stop, or wants a part only; takes
                         up the skill that the prompt names
  a tool is about to run refuses to edit the files of the list, and to run commands of
                         fsmtx that take something away, which only a person can decide
  a tool has run         takes up the skill that the tool has loaded, or whose SKILL.md the
                         agent's shell has read
  the turn ends          sends the agent back to a step that is ready (--stop)

Taking a skill up puts the workflow of its fsm.json into the project's list and tells the
agent its steps, and how to work them: with fsmtx next, start and complete, where the gates
are. A skill whose workflow is open already goes on with it.

The answer is in the form that the agent reads, with exit code 0. For an event of another
agent, of Claude Code or without any work hook prints nothing. Errors of fsmtx refuse
nothing; they are reported to the agent and the person. fsmtx install --agent registers the
hook.`

type eventFlags struct {
	agent string
	stop  string
}

func newHook(s terminal.Streams) *cobra.Command {
	var f eventFlags
	c := &cobra.Command{
		Use:   "hook",
		Short: "As a hook of another agent than Claude Code: do what its event needs",
		Long:  hookLong,
		Example: example(
			"fsmtx hook --agent codex < event.json",
			"fsmtx hook --agent gemini --stop hold < event.json"),
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return misusedHook(s, err)
			}
			return runHook(c.Context(), s, f)
		},
	}
	c.Flags().StringVar(&f.agent, "agent", "", "the agent whose hook this is; without it, the agent that the event shows")
	c.Flags().StringVar(&f.stop, "stop", string(steps.Remind), `when the agent stops while a step is ready: "remind" it once, "hold" it (at most 8 times in a row), or do nothing ("off")`)
	complete(c, "agent", agent.Names()...)
	complete(c, "stop", install.StepValues["stop"]...)
	return c
}

func (f eventFlags) check() error {
	if f.agent != "" && agent.Named(f.agent) == nil {
		return fmt.Errorf("--agent: got %q, want %s", f.agent, strings.Join(agent.Names(), ", "))
	}
	return stepFlags{stop: f.stop, checks: "on", limit: steps.CallLimit}.check()
}

// misusedHook reports an invalid hook command line on standard error. It refuses nothing.
func misusedHook(s terminal.Streams, err error) error {
	_, _ = readAnyEvent(s) // an agent may not expect that its pipe breaks
	s.Errorf("invalid hook command line: %v", err)
	s.Hintf(`run "fsmtx install --agent NAME" to repair it`)
	return nil
}

func readAnyEvent(s terminal.Streams) (*event.Event, error) {
	e, err := readEvent(s)
	if errors.Is(err, errOtherAgent) {
		err = nil
	}
	return e, err
}

// runHook answers one event. It never fails: some of these agents refuse every call whose hook
// fails, or never end a turn.
func runHook(ctx context.Context, s terminal.Streams, f eventFlags) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.Errorf("internal error: %v", p)
			err = nil
		}
	}()
	surviveBrokenPipe()
	e, err := readAnyEvent(s)
	if err != nil {
		s.Errorf("%v", err)
		s.Hintf("hook is a hook of an agent: it reads an event; see fsmtx hook --help")
		return nil
	}
	a := agent.Of(e)
	if f.agent != "" {
		if a = agent.Named(f.agent); !e.Foreign() {
			return nil // the agent runs Claude Code's hooks, or Claude Code this agent's
		}
	}
	if a == nil {
		return nil
	}
	call, ok := a.Read(e)
	if !ok {
		return nil
	}
	h, err := newAgentHook(ctx, s, f, a, call)
	if err != nil {
		return deliver(s, a.Answer(call, agent.Reply{Person: visible.Sprintf("fsmtx: the steps of workflows are not enforced: %v", err)}))
	}
	return deliver(s, a.Answer(call, h.reply(ctx)))
}
