package command

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const hydrateLong = `As a hook of Claude Code, hydrate is "fsmtx hook --agent claude" without the rest: it takes up
the skill that was invoked, and corrects the tasks if the client ran another folder than was
predicted. It exits with 2 if the event cannot be read. fsmtx hook --help says more.`

type hydrateFlags struct{ hydrate.Flags }

func newHydrate(s terminal.Streams) *cobra.Command {
	f := partOfHook(takesUp)
	c := f.command(s, &cobra.Command{
		Use:   "hydrate",
		Short: "As a hook: fsmtx hook without the rules about steps",
		Long:  hydrateLong,
		Example: Example(
			"fsmtx hydrate < event.json",
			"fsmtx hydrate --announce --log ~/.claude/fsmtx.log < event.json"),
		Args: NoArguments,
	})
	f.Hydrate.Add(c.Flags())
	completeHydrate(c)
	return c
}

// completeHydrate completes the values of the flags of hydrate.
func completeHydrate(c *cobra.Command) {
	Complete(c, "scope", "all", "skill")
	Complete(c, "active", "reset", "refuse")
	Complete(c, "nest", "on", "off")
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
