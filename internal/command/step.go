package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const stepLong = `As a hook of Claude Code, step is "fsmtx hook --agent claude" without the rest: it enforces
the steps of the workflow in the session's task list, and takes up no skill. fsmtx hook --help
says more.

In a terminal, a person can skip a step with "fsmtx step skip", mark it as done with
"fsmtx step done", or let one call through with "fsmtx step allow".`

// stepLockWait limits the wait for the locks of the list.
const stepLockWait = 3 * time.Second

type stepFlags struct{ hydrate.StepFlags }

// completeStep completes the values of the flags of step.
func completeStep(c *cobra.Command) {
	Complete(c, "stop", hydrate.StepValues()["stop"]...)
	Complete(c, "checks", hydrate.StepValues()["checks"]...)
}

func newStep(s terminal.Streams) *cobra.Command {
	f := partOfHook(judges)
	c := f.command(s, &cobra.Command{
		Use:   "step",
		Short: "Decide about a step, as a person: skip, done, reopen, end, allow, move; or show the steps",
		Long:  stepLong,
		Example: Example(
			"fsmtx step < event.json",
			"fsmtx step --stop hold --checks off < event.json",
			"fsmtx step show",
			`fsmtx step skip 3 --because "there is nothing to publish"`),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return NoSuchCommand(c, args)
			}
			return nil
		},
	})
	f.Step.Add(c.Flags())
	completeStep(c)
	addLog(c, &f.Hydrate.Log)
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}

func stepSubcommands() []Subcommand {
	return []Subcommand{
		{Name: "skip", Make: newStepSkip},
		{Name: "done", Make: newStepDone},
		{Name: "reopen", Make: newStepReopen},
		{Name: "end", Make: newStepEnd},
		{Name: "allow", Make: newStepAllow},
		{Name: "move", Make: newStepMove},
	}
}

// notEnforced reports to the person why the hook could not decide about a call. It refuses
// no call.
func notEnforced(why error) event.Answer {
	return event.Notice(message.Sprintf("the steps of workflows are not enforced: %v", why))
}

// judge returns the answer to an event. It recovers from a panic, whose exit code 2 would refuse
// the call. It adds what it decides to the log.
func (f stepFlags) judge(ctx context.Context, s terminal.Streams, e *event.Event, log *decisionLog) (a event.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = notEnforced(fmt.Errorf("internal error: %v", p))
		}
	}()
	if e.SessionID == "" {
		return notEnforced(errors.New("the event has no session_id"))
	}
	h, err := newStepHook(s, f, e, log)
	if err != nil {
		return notEnforced(err)
	}
	return h.answer(ctx)
}

// processBegan is a few milliseconds after the process began.
var processBegan = time.Now()

// planMode is the permission mode in which the agent only reads.
const planMode = "plan"

// stepHook is one call of the hook.
type stepHook struct {
	*steps.Frame
	streams terminal.Streams
	flags   stepFlags
	event   *event.Event
	decided *decisionLog

	sentBack bool // the agent may not stop
}

func newStepHook(s terminal.Streams, f stepFlags, e *event.Event, log *decisionLog) (*stepHook, error) {
	frame, err := stepFrame(s, e.SessionID)
	if err != nil {
		return nil, err
	}
	frame.Limit, frame.Began = f.Limit, processBegan
	frame.Forged = func() bool { return s.Who().Imitates() }
	frame.Planning = e.PermissionMode == planMode
	frame.NoChecks = f.Checks == "off" && s.Who().FromClient() // an agent may imitate the hook
	log.event, frame.Log = e, log.adder()
	return &stepHook{Frame: frame, streams: s, flags: f, event: e, decided: log}, nil
}

// stepFrame returns the frame for the list of a session.
func stepFrame(s terminal.Streams, session string) (*steps.Frame, error) {
	dir, err := tasklist.OfSession(s.Getenv, session)
	if err != nil {
		return nil, err
	}
	return newFrame(s, tasklist.Found{Dir: dir, Session: session}), nil
}

// newFrame returns the frame for a list.
func newFrame(s terminal.Streams, found tasklist.Found) *steps.Frame {
	return &steps.Frame{
		List:          tasks.List{Dir: found.Dir, Wait: stepLockWait},
		Session:       found.Session,
		Env:           os.Environ(),
		Interruptible: Interruptible,
		Unreleased:    func(err error) { s.Errorf("%s", hydrate.Unreleased(err)) },
		Unnamed:       func() bool { return tasklist.Unnamed(context.Background(), s.Getenv, found.Dir) },
		Questions:     found.Questions(),
	}
}

// answer answers the event. If there is nothing else to say, the person is told of a list that was left.
func (h *stepHook) answer(ctx context.Context) event.Answer {
	a := h.news(ctx, h.judged(ctx))
	if a != (event.Answer{}) || !slices.Contains([]string{event.PreToolUse, event.Stop, event.SessionStart}, h.event.Name) {
		return a
	}
	v := steps.Verdict{Trouble: h.left(ctx)}
	h.log(v)
	return h.troubled(v.Trouble)
}

// news adds to an answer what the person has not been told yet of the steps.
func (h *stepHook) news(ctx context.Context, a event.Answer) event.Answer {
	name := h.event.Name
	if h.event.AgentID != "" || !slices.Contains([]string{event.PostToolUse, event.PostToolUseFailure, event.UserPromptSubmit, event.Stop},
		name) {
		return a
	}
	text := h.News(ctx, name == event.Stop && !h.sentBack)
	if text == "" {
		return a
	}
	return event.Join(name, event.Tell(name, "", text), a)
}

// left tells of the session's own list if the client was given another one while a workflow was under way: settings can
// set the variable at any time.
func (h *stepHook) left(ctx context.Context) string {
	own, err := tasklist.OfSession(WithoutList(h.streams.Getenv), h.Session)
	if err != nil {
		return ""
	}
	open := h.Left(ctx, own)
	if open == "" {
		return ""
	}
	return fmt.Sprintf(`%s, and the client now has another task list, so these steps are not enforced. To go on with them, remove %s `+
		`from "env" in the settings, or from the environment, and start the session again`, open, listVariable)
}

// separated tells the agent and the person, once, that a session has an empty list of its own, and that the workflow is in
// that of the session it came from. That is a fork's, of which the client's command line may name the other session; one
// that goes on under another id than the command line resumes; or one that follows after /clear, where the command line names
// the session with which the client once began. The client has not written the new transcript yet (fact 26), so the other
// session is probably the one whose transcript was written last.
func (h *stepHook) separated(ctx context.Context) event.Answer {
	cleared, named := h.event.Source == "clear", ""
	if !cleared {
		client, _ := client.ReadSwitches(h.streams.Getenv)
		named = client.Resume
	}
	before, goesOn := client.Neighbour(h.event.TranscriptPath, named), h.event.Source == "compact" || h.event.Source == "resume"
	dir, err := tasklist.OfSession(h.streams.Getenv, before)
	if before == "" || err != nil || goesOn && (before != named || named == h.Session) {
		return event.Answer{}
	}
	open := h.Left(ctx, dir)
	if open == "" {
		return event.Answer{}
	}
	var how, back string
	switch {
	case cleared: // that session has ended
		how = "begins after /clear, it seems in place of " + before + ", which was worked on last,"
		back = "; to go on with them, resume that session: claude --resume " + before
	case goesOn:
		how = "goes on from " + before + " under another id"
	case before == named:
		how = "was forked from " + before
	default:
		how = "was forked from another one, it seems from " + before + ", which was worked on last,"
	}
	text := message.Sprintf("this session %s and has a task list of its own. The workflow of that session (%s) stays there: "+
		"here its steps are not in the list and are not enforced. To enforce them here, invoke the skill again, which begins it anew%s",
		how, open, back)
	h.log(steps.Verdict{Trouble: text})
	return event.Tell(event.SessionStart, "Note: "+text+". Ask the person whether to do that, or to go on in the other session.",
		"fsmtx: "+text)
}

// listVariable gives the client another list than the session's.
const listVariable = "CLAUDE_CODE_TASK_LIST_ID"

// WithoutList returns lookup without listVariable: the list of a session is its own.
func WithoutList(lookup func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == listVariable {
			return "", false
		}
		return lookup(name)
	}
}

func (h *stepHook) judged(ctx context.Context) event.Answer {
	h.endGrants(ctx)
	h.EndOrphans()
	switch e := h.event; e.Name {
	case event.PreToolUse:
		return h.tool(ctx)
	case event.PostToolUse:
		return h.after(ctx)
	case event.TaskCompleted:
		// It says that the person has approved a step, if they were asked.
		if who := h.streams.Who(); !who.FromClient() {
			return event.Feedback("this event does not come from the client, so it approves nothing: " + who.Why)
		}
		h.Answers = func() []steps.Answerer { return answerers(h.streams, h.directory(), "TaskUpdate") }
		v := h.Completed(ctx, steps.Update{Task: jsonx.StringMember(e.Raw, "task_id"), Status: "completed", Agent: e.AgentID, Cwd: e.Cwd})
		h.log(v)
		if v.Decision == steps.Deny {
			return event.Feedback(v.Reason)
		}
		return h.troubled(v.Trouble)
	case event.Stop, event.SubagentStop:
		sentBack, person, err := h.Stop(ctx, steps.Stopping{
			Agent: e.AgentID, Background: e.BackgroundTasks, Crons: e.SessionCrons, Mode: steps.StopMode(h.flags.Stop),
			Planning: h.Planning, Project: h.project(), Shown: true,
			Message: e.LastAssistantMessage, Transcript: e.TranscriptPath, Prompt: e.PromptID,
			Words: func() client.Words { return rules.StopWords(h.streams.Env, guard.Project(h.streams.Env, e)) },
		})
		if err != nil {
			return h.troubled(message.Sprintf("the workflow is not enforced at this stop: %v", err))
		}
		if sentBack != "" {
			h.sentBack = true
			return event.SendBack(e.Name, sentBack, person)
		}
		return h.troubled(person)
	case event.UserPromptSubmit: // it may come while the agent works (fact 42)
		return h.lapse(ctx, steps.Pause{InFlight: func(use string) bool {
			over, known := client.Over(e.TranscriptPath, use)
			return known && !over
		}})
	case event.SessionStart:
		return h.resume(ctx)
	}
	return event.Answer{}
}

// over reports whether an earlier call of the agent is over. It is false for the calls of a subagent,
// which this transcript does not have.
func (h *stepHook) over(use string) bool {
	over, known := client.Over(h.event.TranscriptPath, use)
	return over && known
}

// lapse records which decisions have lapsed.
func (h *stepHook) lapse(ctx context.Context, p steps.Pause) event.Answer {
	if err := h.Lapse(ctx, p); err != nil {
		return h.troubled(message.Sprintf("it could not be recorded which updates were stopped: %v", err))
	}
	return event.Answer{}
}

// endGrants removes the grants of calls that are over. It ignores errors: a grant is checked
// again when it is used.
func (h *stepHook) endGrants(ctx context.Context) {
	e := h.event
	between := e.Name == event.Stop || e.Name == event.SessionStart
	_ = h.EndGrants(ctx, steps.Seen{Session: e.SessionID, Prompt: e.PromptID, Use: e.ToolUseID, Between: between})
}

func (h *stepHook) resume(ctx context.Context) event.Answer {
	switch h.event.Source {
	case "fork", "clear":
		return h.separated(ctx)
	case "compact", "resume":
	default:
		return event.Answer{}
	}
	state, err := h.Resume(ctx, h.event.TranscriptPath)
	if err != nil {
		return h.troubled(message.Sprintf("the agent could not be given the state of its workflow: %v", err))
	}
	if state == "" {
		return h.separated(ctx)
	}
	return event.Tell(event.SessionStart, state+progress.Offered(h.streams.Getenv, h.event.TranscriptPath, "",
		h.event.AgentID != "", ownPath()).In(h.event.Cwd).Manual(), "")
}

// directory returns the directory for which the client reads its settings.
func (h *stepHook) directory() string { return cmp.Or(h.project(), h.event.Cwd) }

// tool answers the event before a tool runs. A call that belongs to another step is denied
// before anything else is decided about it.
func (h *stepHook) tool(ctx context.Context) event.Answer {
	v := h.called(ctx)
	h.log(v)
	if v.Decision == steps.Deny {
		return event.Refuse(v.Reason)
	}
	a := h.ruled(ctx)
	switch {
	case v.Trouble == "":
	case a == event.Answer{}:
		return h.troubled(v.Trouble)
	default:
		h.streams.Errorf("%s", v.Trouble)
	}
	return a
}

// called decides whether the call belongs to a step that is not in progress.
func (h *stepHook) called(ctx context.Context) steps.Verdict {
	e := h.event
	if e.ToolName == "TaskUpdate" || settings.IsServed(e.ToolName) {
		return steps.Verdict{} // with these tools the agent works on the steps
	}
	path := jsonx.StringMember(e.ToolInput, "file_path")
	if path == "" {
		path = jsonx.StringMember(e.ToolInput, "notebook_path")
	}
	return h.Call(ctx, steps.ToolCall{Tool: e.ToolName, Line: jsonx.StringMember(e.ToolInput, "command"), Path: path, Agent: e.AgentID,
		Cwd: e.Cwd, Use: e.ToolUseID})
}

// ruled answers by the rules about the tool itself.
func (h *stepHook) ruled(ctx context.Context) event.Answer {
	input := h.event.ToolInput
	var v steps.Verdict
	switch h.event.ToolName {
	case "TaskUpdate":
		v = h.Update(ctx, steps.Update{
			Task:         jsonx.StringMember(input, "taskId"),
			Status:       jsonx.StringMember(input, "status"),
			Metadata:     jsonx.Member(input, "metadata"),
			Subject:      textMember(input, "subject"),
			Description:  textMember(input, "description"),
			AddBlocks:    textsMember(input, "addBlocks"),
			AddBlockedBy: textsMember(input, "addBlockedBy"),
			Agent:        h.event.AgentID,
			Cwd:          h.event.Cwd,
			Use:          h.event.ToolUseID,
			Over:         h.over,
		})
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		v = h.edit()
	case "Bash":
		return h.bash(ctx)
	default:
		if settings.IsServed(h.event.ToolName) {
			return h.served()
		}
	}
	h.log(v)
	switch v.Decision {
	case steps.Deny:
		return event.RefuseTelling(v.Reason, h.notice(v.Trouble))
	case steps.Ask:
		return event.Ask(v.Reason)
	}
	if v.Turn != nil {
		return h.turn(v)
	}
	return h.told(v.Told, v.Trouble)
}

// told passes a text on to the agent, and an error of this program to the person. It refuses
// nothing.
func (h *stepHook) told(agent, trouble string) event.Answer {
	if agent == "" {
		return h.troubled(trouble)
	}
	return event.Tell(h.event.Name, agent, h.notice(trouble))
}

// textMember returns a text of a tool's input, nil if it has none. The client refuses a value
// of another type.
func textMember(input jsontext.Value, name string) *string {
	var text string
	if value := jsonx.Member(input, name); value.Kind() != '"' || json.Unmarshal(value, &text, jsonx.Tolerant) != nil {
		return nil
	}
	return &text
}

// textsMember returns the texts of an array in a tool's input.
func textsMember(input jsontext.Value, name string) (texts []string) {
	_ = json.Unmarshal(jsonx.Member(input, name), &texts, jsonx.Tolerant) // the client refuses anything else
	return texts
}

func (h *stepHook) edit() steps.Verdict {
	for _, field := range []string{"file_path", "notebook_path"} {
		if v := h.Edit(jsonx.StringMember(h.event.ToolInput, field), h.event.Cwd); v.Decision != "" || v.Trouble != "" {
			return v
		}
	}
	return steps.Verdict{}
}

// troubled reports an error of this program to the person. It refuses nothing.
func (h *stepHook) troubled(trouble string) event.Answer {
	if trouble == "" {
		return event.Answer{}
	}
	return event.Tell(h.event.Name, "", "fsmtx: "+trouble)
}

// log adds a decision that is not on record as evidence, such as that a file may not be
// edited, or what the person has to know.
func (h *stepHook) log(v steps.Verdict) {
	if h.decided.on() && (v.Decision != "" || v.Trouble != "") {
		h.decided.verdict(v, h.Frame)
	}
}
