package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const hydrateLong = `Hydrate is a hook of the client. It reads one event from standard input, PostToolUse
of the Skill tool or UserPromptExpansion, finds and checks the fsm.json of the
invoked skill, and replaces the workflow's tasks in the session's task list. If
anything fails, the list stays as it was.

If work on another skill's workflow has begun and is not finished, nothing is replaced:
the tasks are put under the step in progress, which can be completed once they are done.
Skills can be nested three deep. A skill that is already open further up is refused; one
that is called again from its own step starts over. When the user types the skill, nesting
needs a step in progress. With --nest off the workflow is always replaced.

On success it prints {"continue": true}. On failure it exits with 2 and prints the reason
on standard error, which the client shows to the agent: at most 20 problems, in at most
9,000 characters. --log and fsmtx validate have all of them. Standard output is then empty
or, with --announce, has one line for the person. When the user has typed the skill, exit
code 2 also stops the prompt, so it is used only if the skill is known to have an fsm.json.

Hydrate reads the client's command line, and also finds skills that the client knows only
by its --plugin-dir or --add-dir options. At PreToolUse of a task tool and at Stop it
checks that the tasks come from the folder that the client ran, which the transcript names
by then. If they do not, it replaces them, once.

A call takes at most 5 s more than --lock-timeout: 2 s before that the change is rolled back,
and 1 s before it the hook gives up if the file system does not answer. The client's own time
limit, which fsmtx install sets, is 10 s more than --lock-timeout.

With --announce a successful call also gives the agent, as additionalContext, each step
and the steps it depends on, the descriptions of the steps that are ready, and the tasks
that were replaced. It names the task tools only if the session has them; else those
of the MCP server, or the commands. The person sees one line, as systemMessage, such as
"shipit: 2 tasks #3, #4, replaced #1, #2 (1 was under way)". The line also has warnings
that change what the workflow means, and reports a recovery.

fsmtx install registers the hook.`

type hydrateFlags struct{ hydrate.Flags }

func newHydrate(s terminal.Streams) *cobra.Command { return new(hydrateFlags).command(s) }

// command returns the command, whose flags are parsed into f.
func (f *hydrateFlags) command(s terminal.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "hydrate",
		Short: "As a hook: put the invoked skill's tasks into the task list",
		Long:  hydrateLong,
		Example: Example(
			"fsmtx hydrate < event.json",
			"fsmtx hydrate --announce --log ~/.claude/fsmtx.log < event.json"),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			policy, err := f.Policy()
			if err == nil && len(args) > 0 {
				err = fmt.Errorf("unexpected argument %q", args[0])
			}
			if err != nil {
				return f.refuse(s, err)
			}
			return runHydrate(c.Context(), s, *f, policy)
		},
	}
	f.Add(c.Flags())
	completeHydrate(c)
	return c
}

// completeHydrate completes the values of the flags of hydrate.
func completeHydrate(c *cobra.Command) {
	Complete(c, "scope", "all", "skill")
	Complete(c, "active", "reset", "refuse")
	Complete(c, "nest", "on", "off")
}

// refuseFlags reports flags that cannot be parsed. Nothing is logged, because --log may be
// one of them.
func refuseFlags(s terminal.Streams, err error) error { return hydrateFlags{}.refuse(s, err) }

// refuse reports an invalid command line to the agent. It does not stop a prompt: the hook
// is registered with this command line, so it would stop every skill.
func (f hydrateFlags) refuse(s terminal.Streams, err error) error {
	start := time.Now()
	err = fmt.Errorf("invalid hook command line: %w", err)
	const hint = `run "fsmtx install" to repair it; the flags are in fsmtx hydrate --help`
	var request hydrate.Request
	e, readErr := ReadEvent(s)
	if errors.Is(readErr, errOtherAgent) {
		return nil
	}
	if readErr == nil {
		request, _, _ = hydrate.Understand(e)
	}
	h := hydrated{call: hydrate.Call{Request: request, Err: err}, answer: hydrate.Failed(request, hydrate.Result{}, err.Error(), hint)}
	return h.tell(s, start, newDecisionLog(s, f.Log))
}

func runHydrate(ctx context.Context, s terminal.Streams, f hydrateFlags, policy fsmspec.Policy) error {
	start := time.Now()
	e, err := ReadEvent(s)
	if errors.Is(err, errOtherAgent) {
		return nil
	}
	if err != nil {
		h := hydrated{call: hydrate.Call{Err: err}, answer: hydrate.Failed(hydrate.Request{}, hydrate.Result{}, err.Error(),
			"hydrate is a hook: it reads the client's event; see fsmtx hydrate --help")}
		return h.tell(s, start, newDecisionLog(s, f.Log))
	}
	return f.do(ctx, s, e, policy).tell(s, start, newDecisionLog(s, f.Log))
}

// hydrated is what a call of the hook has done with the task list, and its answer.
type hydrated struct {
	call    hydrate.Call
	answer  event.Answer
	notes   []string // for standard error
	nothing bool     // a check has found nothing wrong; there is one for each use of a task tool, so it is not logged
}

// do puts the tasks of an invoked skill into the list or, at other events, checks those that
// are there.
func (f hydrateFlags) do(ctx context.Context, s terminal.Streams, e *event.Event, policy fsmspec.Policy) hydrated {
	fromClient := func() bool { return s.Who().FromClient() }
	options := hydrate.Options{Policy: policy, PluginDirs: f.PluginDirs, AddDirs: f.AddDirs, LockTimeout: f.LockTimeout,
		History: f.History, Flat: f.Nest == "off" && fromClient(), FromClient: fromClient,
		Answerers: func() []string { return allAnswerers(s, cmp.Or(s.Env("CLAUDE_PROJECT_DIR"), e.Cwd)) },
		Forged:    func() bool { return s.Who().Imitates() }}
	if hydrate.IsCheck(e) {
		return f.check(ctx, s, e, options)
	}
	request, skip, err := hydrate.Understand(e)
	if request.Typed && !fromClient() { // an agent wrote the event: it calls the skill
		request.Typed, request.Invocation = false, ""
	}
	if skip != "" && err == nil {
		return hydrated{call: hydrate.Call{Request: request, Skipped: skip}, answer: event.GoOn(request.Event, ""),
			notes: []string{"nothing to do: " + skip}}
	}
	var result hydrate.Result
	if err == nil {
		result, err = inTime(ctx, f, func(ctx context.Context) (hydrate.Result, error) {
			return carryOut(ctx, s, request, options)
		})
	}
	return f.report(s, hydrate.Call{Request: request, Result: result, Err: err})
}

// check corrects the tasks if the client ran another folder than an earlier call predicted.
func (f hydrateFlags) check(ctx context.Context, s terminal.Streams, e *event.Event, o hydrate.Options) hydrated {
	type checked struct {
		request hydrate.Request
		result  hydrate.Result
		nothing bool
	}
	c, err := inTime(ctx, f, func(ctx context.Context) (checked, error) {
		request, h, result, err := hydrate.Check(ctx, e, s.Getenv, o)
		if err == nil && h != nil {
			result, err = apply(ctx, s, h)
		}
		return checked{request, result, h == nil}, err
	})
	if err == nil && c.nothing {
		return hydrated{answer: event.GoOn(e.Name, ""), nothing: true}
	}
	c.request.Event = e.Name // also when InTime gave up on the check
	return f.report(s, hydrate.Call{Request: c.request, Result: c.result, Err: err})
}

// inTime limits the total time of locating, reading, waiting and committing, so that the
// hook ends before the client kills it: one second is left to roll back and one to answer.
func inTime[T any](ctx context.Context, f hydrateFlags, work func(context.Context) (T, error)) (T, error) {
	limit := time.Duration(settings.TimeLimit(f.LockTimeout)) * time.Second
	return hydrate.InTime(ctx, limit-2*time.Second, limit-time.Second, work)
}

// report returns the answer with what a call did.
func (f hydrateFlags) report(s terminal.Streams, call hydrate.Call) hydrated {
	request, result, err := call.Request, call.Result, call.Err
	if err != nil {
		message, hint := hydrate.Explain(err, result, s.Getenv)
		answer := hydrate.Failed(request, result, message, hint)
		if f.Announce && request.Event == event.PostToolUse {
			answer = answer.WithNotice(hydrate.FailureNotice(request, err, message))
		}
		return hydrated{call: call, answer: answer}
	}
	var model, person string
	if f.Announce {
		prompt := request.Prompt
		if request.Event != event.PostToolUse {
			prompt = "" // the client writes what the user typed after the event
		}
		request.Way = progress.Offered(s.Getenv, request.Transcript, prompt, request.Agent != "", ownPath()).In(request.Cwd)
		model, person = hydrate.Announcement(request, result), hydrate.Notice(request, result)
	}
	if len(result.Created) > 0 {
		person = strings.TrimPrefix(person+"\n"+unjudged(s, request.Cwd, result.Steps), "\n")
	}
	answer := event.GoOnTelling(request.Event, model, strings.TrimSuffix(person, "\n"))
	return hydrated{call: call, answer: answer, notes: hydrate.Notes(result)}
}

// tell logs the call, unless there was nothing to do, and answers the client.
func (h hydrated) tell(s terminal.Streams, start time.Time, log *decisionLog) error {
	h.log(start, log)
	return h.finish(s, log)
}

// log adds the call to the log, unless there was nothing to do.
func (h hydrated) log(start time.Time, log *decisionLog) {
	if !h.nothing && log.on() {
		log.add(h.call.Decision(start, time.Now()))
	}
}

// finish answers the client first, because what follows may block or fail: writing the log and
// notes on standard error. A log that cannot be written does not fail the hook.
func (h hydrated) finish(s terminal.Streams, log *decisionLog) error {
	if log.on() {
		SurviveBrokenPipe(s) // the call is logged even if the client has gone
	}
	err := deliver(s, h.answer)
	log.write()
	for _, note := range h.notes {
		s.Errorf("%s", note)
	}
	return err
}

// carryOut finds the workflow and applies it. Signals are handled only from then on: most
// skills have no workflow, and for them the handler would be a good part of the hook's
// cost. The handler is never removed: after the commit a signal must not keep the hook from
// reporting the new tasks.
func carryOut(ctx context.Context, s terminal.Streams, r hydrate.Request, o hydrate.Options) (hydrate.Result, error) {
	h, result, err := hydrate.Find(r, s.Getenv, o)
	if h == nil {
		return result, hydrate.NoteCall(ctx, r, s.Getenv, o, err)
	}
	return apply(ctx, s, h)
}

func apply(ctx context.Context, s terminal.Streams, h *hydrate.Hydration) (hydrate.Result, error) {
	SurviveBrokenPipe(s)
	ctx, _ = Interruptible(ctx)
	return h.Apply(ctx)
}
