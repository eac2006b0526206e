package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/recovery"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// maxHolds is how often in a row --stop hold sends an agent back that makes no progress: as
// often as Claude Code lets a hook do that (fact 40). Codex and Gemini would never end the
// turn.
const maxHolds = 8

// agentHook is one call of the hook of another agent than Claude Code. Its list is the
// project's: nothing names the session to hook, shell and server alike in these agents.
type agentHook struct {
	*steps.Frame
	streams terminal.Streams
	flags   eventFlags
	policy  fsmspec.Policy
	agent   *agent.Agent
	call    agent.Call
	decided *decisionLog
}

func newAgentHook(ctx context.Context, s terminal.Streams, f eventFlags, policy fsmspec.Policy, a *agent.Agent,
	c agent.Call) (*agentHook, error) {
	if c.Cwd == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		c.Cwd = dir
	}
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Dir: c.Cwd, Agent: a.Name, Begins: true})
	if err != nil {
		return nil, err
	}
	h := &agentHook{newFrame(s, found), s, f, policy, a, c, newDecisionLog(s, f.Hydrate.Log)}
	h.Log = h.decided.adder()
	return h, nil
}

// reply does what is due at the event: recover, hydrate, judge, tell.
func (h *agentHook) reply(ctx context.Context) agent.Reply {
	switch h.call.Moment {
	case agent.Start:
		return h.start(ctx)
	case agent.Prompt:
		return h.prompt(ctx)
	case agent.Before:
		return h.before(ctx)
	case agent.After:
		return h.takeUp(ctx, false)
	case agent.Stop:
		return h.stop(ctx)
	}
	return agent.Reply{}
}

// start finishes an interrupted change, and tells a session that goes on what is open.
func (h *agentHook) start(ctx context.Context) (r agent.Reply) {
	if state, err := txn.StateDir(h.List.Dir); err != nil || !isDir(state) {
		return r // no list: recovering would create it
	}
	report := recovery.List(ctx, h.List.Dir, recovery.Wait, recovery.Options{})
	if report.State != recovery.Clean && report.State != recovery.Committed {
		r.Person = "fsmtx: " + strings.TrimSpace(report.String()+"\n"+report.Hint)
	}
	heard, err := h.Heard(h.call.Session)
	if err == nil && (h.call.Resumed || heard.Works) {
		r.Context, err = h.state(ctx)
	}
	return h.troubled(r, "the agent could not be given the state of its workflow", err)
}

// state returns the state of the session's workflows and how to work them, empty if nothing is
// open.
func (h *agentHook) state(ctx context.Context) (string, error) {
	text, err := h.Report(ctx, h.call.Session)
	if text == "" || err != nil {
		return "", err
	}
	return text + progress.Way{Program: ownPath()}.Manual() + "\n", nil
}

// prompt hears the person and takes up the skill that they name.
func (h *agentHook) prompt(ctx context.Context) agent.Reply {
	r := h.takeUp(ctx, true)
	// Qwen Code sends an event before each request; Gemini and Qwen Code also with the text that
	// sends the agent back as the prompt.
	if h.call.Prompt == "" || strings.Contains(h.call.Prompt, steps.GoOn) {
		return r
	}
	return h.troubled(r, "what the person said could not be kept", h.hear(ctx))
}

func (h *agentHook) hear(ctx context.Context) error {
	s, err := steps.LoadNow(ctx, h.List.Dir)
	if err != nil || len(s.Steps) == 0 {
		return err
	}
	if err := h.BeginTurn(ctx, steps.Stopping{Caller: h.call.Session}); err != nil {
		return err
	}
	return h.Hear(ctx, h.call.Session, func(before steps.Heard) steps.Heard { return before.Hears(s, h.call.Prompt, h.words()) })
}

func (h *agentHook) words() client.Words {
	return rules.StopWords(h.streams.Env, h.call.Cwd)
}

// takeUp puts the workflow of a skill that the event takes up into the project's list. A
// workflow of the skill that is open goes on: the same skill is taken up more than once in a
// session where reading its SKILL.md does that. typed reports whether a person named it.
func (h *agentHook) takeUp(ctx context.Context, typed bool) agent.Reply {
	skill := h.agent.Search(h.streams.Getenv).TakenUp(h.call)
	if skill == nil {
		return agent.Reply{}
	}
	if open, under, err := h.isOpen(ctx, skill); open || err != nil {
		r := agent.Reply{}
		if err == nil {
			err = h.joins(ctx, skill.Name)
		}
		if err == nil { // a step may demand it that was not in progress at the first call
			err = h.Calls(ctx, steps.SkillCall{Skill: skill.Name, Under: under})
		}
		if err == nil {
			r.Context, err = h.state(ctx)
		}
		return h.troubled(r, "the state of the workflow of "+skill.Name+" is not known", err)
	}
	return h.hydrate(ctx, skill, typed)
}

// isOpen reports whether the list has an unfinished workflow of the skill, and under which step;
// that is 0 if it is under none.
func (h *agentHook) isOpen(ctx context.Context, skill *agent.Skill) (open bool, under int64, err error) {
	s, err := steps.LoadNow(ctx, h.List.Dir)
	if err != nil {
		return false, 0, err
	}
	for _, c := range s.Steps {
		if c.Workflow.Command != skill.Name || c.Done() {
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

// joins records that the session works the workflows of a skill; an empty name stands for one that is
// not known.
func (h *agentHook) joins(ctx context.Context, skill string) error {
	return h.Hear(ctx, h.call.Session, func(before steps.Heard) steps.Heard { return before.Calls(skill) })
}

func (h *agentHook) hydrate(ctx context.Context, skill *agent.Skill, typed bool) agent.Reply {
	request := hydrate.Request{
		Session: h.Session, List: h.List.Dir, Command: skill.Name, Folder: skill.Dir, Cwd: h.call.Cwd,
		Way: progress.Way{Program: ownPath()}, Typed: typed && h.streams.Who().FromClient(), // an agent can write the event
	}
	f, start := hydrateFlags{h.flags.Hydrate}, time.Now()
	heard, err := h.Heard(h.call.Session)
	if err != nil {
		return h.troubled(agent.Reply{}, "the workflow of "+skill.Name+" was not put into the list of steps", err)
	}
	result, err := inTime(ctx, f, func(ctx context.Context) (hydrate.Result, error) {
		return carryOut(ctx, h.streams, request, hydrate.Options{Policy: h.policy, LockTimeout: f.LockTimeout, History: f.History,
			Flat: f.Nest == "off", Mine: heard.Called, FromClient: func() bool { return h.streams.Who().FromClient() }})
	})
	hydrated{call: hydrate.Call{Request: request, Result: result, Err: err}}.log(start, h.decided)
	if err != nil {
		text, hint := hydrate.Explain(err, result, h.streams.Getenv)
		return agent.Reply{
			Context: strings.TrimSpace("The skill " + skill.Name +
				" has a workflow, but fsmtx could not put it into the list of steps, so nothing of it is checked. Tell the user.\n" +
				text + "\n" + hint),
			Person: "fsmtx: " + message.Words(text),
		}
	}
	if result.Spec != "" && len(result.Created) > 0 {
		err = h.joins(ctx, skill.Name)
	}
	r := agent.Reply{Context: hydrate.Announcement(request, result), Person: hydrate.Notice(request, result)}
	return h.troubled(r, "the session could not be recorded, so it is not reminded of the steps", err)
}

// before judges a tool that is about to run.
func (h *agentHook) before(ctx context.Context) agent.Reply {
	for _, path := range h.call.Paths {
		if v := h.Edit(path, h.call.Cwd); v.Decision == steps.Deny {
			return agent.Reply{Deny: v.Reason}
		}
	}
	v := h.called(ctx)
	if !v.Allowed() {
		return agent.Reply{Deny: v.Reason}
	}
	r := h.ruled(ctx)
	if v.Trouble != "" { // it concerns the calls of steps alone
		r.Person = strings.TrimSpace("fsmtx: " + v.Trouble + "\n" + r.Person)
	}
	return r
}

// ruled judges a tool by the rules about itself.
func (h *agentHook) ruled(ctx context.Context) agent.Reply {
	switch {
	case strings.HasSuffix(h.call.Tool, "workflow_begin"): // of the MCP server; its name comes first
		return h.troubled(agent.Reply{}, "the session could not be recorded", h.joins(ctx, ""))
	case strings.Contains(h.call.Command, "fsmtx"):
		return h.shell(ctx)
	}
	return agent.Reply{}
}

// called decides whether the call belongs to a step that is not in progress. Every tool that
// changes a file counts as Write, whatever the agent calls it. A question counts as a refusal: its
// text says what the person can do.
func (h *agentHook) called(ctx context.Context) (v steps.Verdict) {
	if settings.IsServed(h.call.Tool) {
		return v
	}
	calls := []steps.ToolCall{{Tool: h.call.Tool}}
	if h.call.Command != "" {
		calls = []steps.ToolCall{{Tool: "Bash", Line: h.call.Command}}
	}
	for _, path := range h.call.Paths {
		calls = append(calls, steps.ToolCall{Tool: "Write", Path: path})
	}
	for _, x := range calls {
		x.Cwd, x.Use = h.call.Cwd, h.call.Use
		if v = h.Call(ctx, x); !v.Allowed() {
			break
		}
	}
	return v
}

// shell refuses commands of fsmtx that take something away. The command would refuse by
// itself; here the model reads at once what the person can do. Nobody is asked, because Codex
// does not know such an answer and runs the tool. A command that begins a workflow makes it the
// session's.
func (h *agentHook) shell(ctx context.Context) agent.Reply {
	script, err := shell.Parse(h.call.Command)
	if err != nil {
		return agent.Reply{}
	}
	begins := false
	for _, words := range script.Calls() {
		if one, ok := findHeld(words, ""); ok {
			return agent.Reply{Deny: message.Sprintf("an agent cannot %s by itself, and %s cannot ask its person about a command. "+
				"Only the person can decide this. They can run it in a terminal outside %[2]s: %[3]s",
				one.rule.What, h.agent.Title, inTerminal(h.call.Cwd, one.person))}
		}
		begins = begins || isBegin(words)
	}
	if begins {
		return h.troubled(agent.Reply{}, "the session could not be recorded", h.joins(ctx, ""))
	}
	return agent.Reply{}
}

// isBegin reports whether a command is "fsmtx begin".
func isBegin(words []shell.Word) bool {
	var texts []string
	for _, w := range words {
		text, _ := w.Literal()
		texts = append(texts, text)
	}
	i := slices.Index(texts, "begin")
	return i > 0 && filepath.Base(texts[i-1]) == "fsmtx"
}

// stop sends the agent back to a step that is ready.
func (h *agentHook) stop(ctx context.Context) agent.Reply {
	heard, err := h.Heard(h.call.Session)
	if err != nil {
		return h.troubled(agent.Reply{}, "the workflow is not enforced at this stop", err)
	}
	model, person, err := h.Stop(ctx, steps.Stopping{
		Mode: steps.StopMode(h.flags.Step.Stop), Message: h.call.Message, Heard: &heard, Caller: h.call.Session, Turns: maxHolds,
	})
	r := agent.Reply{Hold: model}
	if person != "" {
		r.Person = "fsmtx: " + person
	}
	return h.troubled(r, "the workflow is not enforced at this stop", err)
}

// troubled adds an error of this program to a reply, for the person. It refuses nothing.
func (h *agentHook) troubled(r agent.Reply, what string, err error) agent.Reply {
	if err != nil {
		r.Person = strings.TrimSpace(r.Person + "\n" + message.Sprintf("fsmtx: %s: %v", what, err))
	}
	return r
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
