package hook

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
)

// taken puts the workflow of a skill that the event takes up into the list. At other events it corrects the tasks if the client
// ran another folder than an earlier call predicted.
func (h *hook) taken(ctx context.Context) client.Answer {
	if take := h.takingUp(); take != nil {
		return take(ctx)
	}
	return client.Answer{}
}

// takingUp returns what does that at the event, nil at one with which no skill can be taken up.
func (h *hook) takingUp() func(context.Context) client.Answer {
	switch {
	case !h.agent.Session && (h.call.Moment == agent.Prompt || h.call.Moment == agent.After):
		return h.takeUp
	case !h.agent.Session:
	case hydrate.IsCheck(h.call.Event) && h.call.TranscriptPath != "": // which says what the client ran
		return h.check
	case h.call.Moment == agent.Typed || h.agent.Takes(h.call):
		return h.hydrate
	}
	return nil
}

// options are the options of a hydration.
func (h *hook) options() hydrate.Options {
	s, f := h.streams, h.flags
	o := hydrate.Options{Policy: f.Policy(), LockTimeout: f.LockTimeout, History: f.History, Flat: f.Nest == "off",
		FromClient: h.fromClient, Committing: h.committing, Program: h.agent.Name}
	if !h.agent.Session {
		return o
	}
	o.PluginDirs, o.AddDirs, o.Flat = f.PluginDirs, f.AddDirs, o.Flat && h.fromClient()
	o.Answerers = func() []string { return AllAnswerers(s.Getenv, h.directory()) }
	o.Forged = s.Forged
	return o
}

// inTime limits the total time of waiting for locks as long as wait, and of all else, so that the hook ends before the client
// kills it: one second is left to roll back and one to answer.
func inTime[T any](ctx context.Context, wait time.Duration, work func(context.Context) (T, error)) (T, error) {
	limit := time.Duration(settings.TimeLimit(wait)) * time.Second
	return hydrate.InTime(ctx, limit-2*time.Second, limit-time.Second, work)
}

// hydrate puts the tasks of a skill that the client has called into the list.
func (h *hook) hydrate(ctx context.Context) client.Answer {
	r, skip, err := hydrate.Understand(h.call.Event)
	if r.Typed && !h.fromClient() { // an agent wrote the event: it calls the skill
		r.Typed, r.Invocation = false, ""
	}
	if skip != "" && err == nil {
		h.notes = []string{"nothing to do: " + skip}
		h.hydrated(hydrate.Call{Request: r, Skipped: skip})
		return client.GoOn(r.Event, "")
	}
	var result hydrate.Result
	if err == nil {
		result, err = h.carryOut(ctx, r, h.options())
	}
	return h.report(hydrate.Call{Request: r, Result: result, Err: err})
}

// check corrects the tasks if the client ran another folder than an earlier call predicted.
func (h *hook) check(ctx context.Context) client.Answer {
	type checked struct {
		request hydrate.Request
		result  hydrate.Result
		nothing bool
	}
	name := h.call.Name
	c, err := inTime(ctx, h.flags.LockTimeout, func(ctx context.Context) (checked, error) {
		r, result, nothing, err := hydrate.Correct(ctx, h.call.Event, h.streams.Getenv, h.options())
		return checked{r, result, nothing}, err
	})
	if err == nil && c.nothing { // there is a check for each use of a task tool, so it is not logged
		return client.GoOn(name, "")
	}
	c.request.Event = name // also when inTime gave up on the check
	return h.report(hydrate.Call{Request: c.request, Result: c.result, Err: err})
}

// report returns the answer with what a call did.
func (h *hook) report(call hydrate.Call) client.Answer {
	h.hydrated(call)
	r, result, err := call.Request, call.Result, call.Err
	announce := h.flags.Announce || !h.agent.Session
	if err != nil {
		text, hint := hydrate.Explain(err, result, h.streams.Getenv)
		answer := hydrate.Failed(r, result, text, hint)
		if announce && r.Event == client.PostToolUse {
			answer = answer.WithNotice(message.ForPerson(hydrate.FailureNotice(r, err, text)))
		}
		return answer
	}
	var model, person string
	if announce {
		if len(result.Created) > 0 { // else the transcript would be read for nothing
			prompt := r.Prompt
			if r.Event != client.PostToolUse {
				prompt = "" // the client writes what the user typed after the event
			}
			r.Way = h.way(r.Transcript, prompt)
			result.Lacking = hydrate.Lacking(r.Way, result, h.streams.Getenv)
		}
		model, person = hydrate.Announcement(r, result), hydrate.Notice(r, result)
	}
	if len(result.Created) > 0 && h.agent.Session {
		person = strings.TrimPrefix(person+"\n"+unjudged(h.streams, r.Cwd, result.Steps), "\n")
		all := Registered(h.streams.Getenv, h.directory())
		for _, more := range []string{Differing(all), Observes(all)} {
			if more != "" {
				person = strings.Trim(person, "\n") + "\nfsmtx: " + more
			}
		}
	}
	h.notes = hydrate.Notes(result)
	return client.GoOnTelling(r.Event, message.ForAgent(model), message.ForPerson(strings.TrimSuffix(person, "\n")))
}

// hydrated adds a call to the log.
func (h *hook) hydrated(c hydrate.Call) {
	if h.log.On() {
		h.log.Add(c.Decision(h.began, time.Now()))
	}
}

// carryOut finds the workflow and applies it, in time.
func (h *hook) carryOut(ctx context.Context, r hydrate.Request, o hydrate.Options) (hydrate.Result, error) {
	return inTime(ctx, o.LockTimeout, func(ctx context.Context) (hydrate.Result, error) { return hydrate.Run(ctx, r, h.streams.Getenv, o) })
}

// committing prepares for a change of the list. Its handler of signals is never removed: after the commit a signal must not keep
// the hook from reporting the new tasks.
func (h *hook) committing(ctx context.Context) context.Context {
	h.streams.SurviveBrokenPipe()
	ctx, _ = signals.Interruptible(ctx)
	return ctx
}

// takeUp puts the workflow of a skill that the event takes up into the list. A
// workflow of the skill that is open goes on: the same skill is taken up more than once in a
// session where reading its SKILL.md does that.
func (h *hook) takeUp(ctx context.Context) client.Answer {
	skill := h.agent.Search(h.streams.Getenv).TakenUp(h.call)
	if skill == nil {
		return client.Answer{}
	}
	if h.noList != nil {
		return notEnforced(h.noList)
	}
	h.tookUp = true
	open, under, err := h.isOpen(ctx, skill)
	if !open && err == nil {
		return h.begin(ctx, skill)
	}
	text := ""
	if err == nil {
		err = h.joins(ctx, skill.Name)
	}
	if err == nil { // a step may demand it that was not in progress at the first call
		err = h.Calls(ctx, state.SkillCall{Skill: skill.Name, Under: under})
	}
	if err == nil {
		text, err = h.Report(ctx, h.call.SessionID)
	}
	if text != "" && err == nil {
		text += h.way("", "").Manual()
	}
	return client.Join(h.call.Name, client.Tell(h.call.Name, message.ForAgent(text), ""),
		h.failed("the state of the workflow of "+skill.Name+" is not known", err))
}

// isOpen reports whether the list has an unfinished workflow of the skill, and under which step;
// that is 0 if it is under none.
func (h *hook) isOpen(ctx context.Context, skill *agent.Skill) (open bool, under int64, err error) {
	s, err := h.Now(ctx)
	if err != nil {
		return false, 0, err
	}
	for _, c := range s.Steps {
		if c.Workflow.Command != skill.Name || c.Done() || !state.SameFile(c.Workflow.Spec, filepath.Join(skill.Dir, "fsm.json")) {
			continue
		}
		for _, p := range s.Above(c.Workflow) {
			if p.Workflow.Command != skill.Name { // its parts and copies are under its own steps
				return true, p.ID, nil
			}
		}
		return true, 0, nil
	}
	return false, 0, nil
}

// begin puts the workflow of a skill that is not open into the list.
func (h *hook) begin(ctx context.Context, skill *agent.Skill) client.Answer {
	typed := h.call.Moment == agent.Prompt && h.fromClient() // an agent can write the event
	r := hydrate.Request{Event: client.PostToolUse, Session: h.Session, List: h.List.Dir, Command: skill.Name, Folder: skill.Dir,
		Cwd: h.call.Cwd, Typed: typed}
	heard, err := h.Heard(h.call.SessionID)
	if err != nil {
		return h.failed("the workflow of "+skill.Name+" was not put into the list of steps", err)
	}
	o := h.options()
	o.Mine = heard.Called
	result, err := h.carryOut(ctx, r, o)
	a := h.report(hydrate.Call{Request: r, Result: result, Err: err})
	if err == nil && result.Spec != "" && len(result.Created) > 0 {
		err = h.joins(ctx, skill.Name)
		a = client.Join(h.call.Name, a, h.failed("the session could not be recorded, so it is not reminded of the steps", err))
	}
	return a
}

// project returns the directory of the session's project, as the client tells it; empty if it does not.
func (h *hook) project() string { return h.streams.Env("CLAUDE_PROJECT_DIR") }

// directory returns the directory for which the client reads its settings.
func (h *hook) directory() string { return cmp.Or(h.project(), h.call.Cwd) }
