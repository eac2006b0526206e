package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// recovered finishes an interrupted change of the list when a session starts.
func (h *hook) recovered(ctx context.Context) client.Answer {
	if h.call.Moment != agent.Start || h.flags.Hydrates {
		return client.Answer{}
	}
	ctx, stop := signals.Interruptible(ctx)
	defer stop()
	var report tasklist.Report
	if h.noList == nil {
		report = tasklist.Recover(ctx, h.List.Dir, tasklist.Wait, tasklist.RecoverOptions{Known: h.Known, Lookup: h.streams.Getenv})
	}
	a := tasklist.Answer(report, h.noList)
	if text := programs.Mismatch(h.streams.Env("CLAUDE_PLUGIN_ROOT"), ownPath(), programs.GetBuild().Version); text != "" {
		a = client.Join(h.call.Name, a, client.Notice(message.ForPerson(text)))
	}
	return a
}

// start tells a session that goes on what is open, and the person that nothing is refused.
func (h *hook) start(ctx context.Context) client.Answer {
	if h.flags.Steps != hydrate.Observe {
		return h.goesOn(ctx)
	}
	return client.Join(h.call.Name, h.goesOn(ctx), h.troubled(message.ForPerson(Observes(Registered(h.streams.Getenv, h.directory())))))
}

func (h *hook) goesOn(ctx context.Context) client.Answer {
	text, err := "", error(nil)
	switch {
	case h.agent.Session && h.call.Resumed:
		text, err = h.Resume(ctx, h.call.TranscriptPath)
	case h.agent.Session && h.call.Source != "fork" && h.call.Source != "clear":
		return h.unfinished(ctx)
	case !h.agent.Session:
		heard, unread := h.Heard(h.call.SessionID)
		if err = unread; err == nil && (h.call.Resumed || heard.Works) {
			text, err = h.Report(ctx, h.call.SessionID)
		}
	}
	switch {
	case err != nil:
		return h.failed("the agent could not be given the state of its workflow", err)
	case text == "":
		return cmp.Or(h.separated(ctx), h.unfinished(ctx))
	}
	way, spoken := h.way(h.call.TranscriptPath, ""), ""
	for line := range strings.Lines(text) { // each step has its own
		spoken += way.Spoken(line)
	}
	return client.Tell(h.call.Name, message.ForAgent(spoken+way.Manual()), "")
}

// unfinished tells a session that begins that the project has unfinished workflows of sessions that have ended, or are older than a
// day; and one that goes on, that the tasks of its own are gone.
func (h *hook) unfinished(ctx context.Context) client.Answer {
	s, err := h.Now(ctx)
	cleaned := err == nil && len(s.Missing()) > 0
	isOpen := func(skill string) bool { // it cannot go on beside itself
		return err == nil && slices.ContainsFunc(s.Workflows(), func(w *workflow.Workflow) bool {
			return w.Command == skill && len(s.OpenIn(w)) > 0
		})
	}
	if h.call.Resumed && !cleaned || h.call.Cwd == "" {
		return client.Answer{}
	}
	q := continuation.Query{Lookup: h.streams.Getenv, Here: h.call.Cwd, Own: h.List.Dir}
	if h.found.IsOfSession() {
		q.List = h.List.Dir
	}
	all, unread := continuation.Find(ctx, q)
	if len(all) > 0 && h.found.IsOfSession() { // one of them can go on here, and the client is on record as at work then
		presence.Enter(ctx, h.List.Dir)
	}
	all = slices.DeleteFunc(all, func(u continuation.Unfinished) bool {
		return u.List != q.List && (h.call.Resumed || u.IsHeld() && time.Since(u.Time) < 24*time.Hour ||
			u.List != h.List.Dir && isOpen(u.Workflow.Command))
	})
	if unread != nil || len(all) == 0 || !h.call.Resumed && h.AlreadyTold(ctx, h.Session+"/unfinished") { // the hook may be registered twice
		return client.Answer{}
	}
	if i := slices.IndexFunc(all, func(u continuation.Unfinished) bool { return u.List == q.List }); i >= 0 {
		all[0], all[i] = all[i], all[0]
	}
	agents, persons := h.continues(ctx, all[0].List, all[0].Workflow.Command)
	name := shell.Join(tasklist.ShortName(h.streams.Getenv, all[0].List))
	text := message.Sprintf("this project has an unfinished workflow of another session (%s)", all[0])
	how, person, rest := agents+" goes on with it here", persons+" goes on with it here; ", ""
	switch {
	case all[0].List == q.List:
		all[0].Cleaned = false // that is said
		text = message.Sprintf("the task files of this session's workflow are gone (%s), so nothing of it is enforced", all[0])
		how, person = agents+" brings them back", persons+" brings them back; "
	case all[0].List == h.List.Dir:
		how, person = "calling its skill again goes on with it here", ""
	case !h.agent.Asks && q.Needs(all[0]) != "":
		how = "only the person can decide it: in a terminal outside " + h.agent.Title + ", " + persons + " goes on with it here"
	}
	if len(all) > 1 {
		rest = fmt.Sprintf("; and %d more: fsmtx status --all", len(all)-1)
	}
	person = message.Sprintf("fsmtx: %s. In a terminal, not with !: %sfsmtx step end %d --because \"...\" --list %s closes it%s",
		text, person, all[0].Root, name, rest)
	return client.Tell(client.SessionStart, message.ForAgent("Note: "+text+"; "+how+rest+". Ask the person whether to go on with it."),
		message.ForPerson(person))
}

// continues returns what the agent says so that the workflows of another list go on in this session, and what the person says in a
// terminal. The list of this session is there from now on, because names are short only as long as they are the beginning of no other.
func (h *hook) continues(ctx context.Context, list string, skills ...string) (agents, persons string) {
	presence.Enter(ctx, h.List.Dir)
	_ = h.KeepDirectory(ctx, h.directory()) // without it the gates look in the directory of the terminal
	lines := func(to string) (text string) {
		for _, skill := range skills {
			text += "; " + continuation.Line(h.streams.Getenv, skill, list, to)
		}
		return text[len("; "):]
	}
	return lines(""), lines(h.List.Dir)
}

// way returns how the agent works on the steps, as the transcript shows. prompt is the id of a prompt; see progress.Offered.
func (h *hook) way(transcript, prompt string) progress.Way {
	if !h.agent.Session {
		return progress.Way{Program: ownPath(), Unasked: h.ListFlag(), PowerShell: h.agent.PowerShell}
	}
	w := progress.Offered(h.streams.Getenv, transcript, prompt, h.call.AgentID != "", ownPath()).In(h.call.Cwd)
	_, err := process.Sh()
	w.PowerShell = err != nil // else the client has the Bash of Git
	return w
}

// separated tells the agent and the person, once, that a session has an empty list of its own, and that the workflow is in
// that of the session it came from. That is a fork's, of which the client's command line may name the other session; one
// that goes on under another id than the command line resumes, or under one that has no transcript yet; or one that follows
// after /clear, where the command line names
// the session with which the client once began: there it is another one of this client's process. The client has not written the new
// transcript yet (fact 26), so otherwise it is probably the one whose transcript was written last.
func (h *hook) separated(ctx context.Context) client.Answer {
	if !h.agent.Session {
		return client.Answer{}
	}
	dir, how := h.cameFrom(ctx)
	if dir == "" {
		return client.Answer{}
	}
	open, skills := h.Left(ctx, dir)
	if open == "" {
		return client.Answer{}
	}
	agents, persons := h.continues(ctx, dir, skills...)
	name := tasklist.ShortName(h.streams.Getenv, dir)
	text := message.Sprintf("%s, in the list of session %s, %s. In this session the steps are not enforced. To go on with them here",
		open, name, how)
	h.noted(gates.Verdict{Trouble: message.ForPerson(text)})
	return client.Tell(client.SessionStart, message.ForAgent("Note: "+text+": "+agents+". To begin anew: call the skill again. "+
		"Ask the person which, or whether to go on in the other session."),
		message.ForPerson("fsmtx: "+text+", in a terminal, not with !: "+persons+". To begin anew: call the skill again"))
}

// cameFrom returns the list of the session that this one came from, and how; empty if there is none, or if another client works on it.
func (h *hook) cameFrom(ctx context.Context) (dir, how string) {
	cleared, named := h.call.Source == "clear", ""
	if cleared { // the client's process is the same
		how = "which was worked on last before /clear"
		all, _ := continuation.Find(ctx, continuation.Query{Lookup: h.streams.Getenv, Here: h.call.Cwd, List: h.List.Dir})
		if i := slices.IndexFunc(all, func(u continuation.Unfinished) bool { return u.Same && !u.AtWork }); i >= 0 {
			return all[i].List, how
		}
	} else {
		client, _ := client.ReadSwitches(h.streams.Getenv)
		named = client.Resume
	}
	_, none := h.List.LastChange() // a session that has had a workflow has its id since then
	origin, isNew := client.Origin(h.call.TranscriptPath, h.Session)
	// The command line does not say that the session has another id now.
	isNew = isNew && named == "" && errors.Is(none, fs.ErrNotExist)
	goesOn := h.call.Resumed
	dir, before := h.sessionBefore(cmp.Or(named, origin), isNew && goesOn)
	if dir == "" || goesOn && !isNew && (before != named || named == h.Session) {
		return "", ""
	}
	if _, others := presence.AtWork(h.streams.Getenv, dir); others {
		return "", ""
	}
	switch {
	case cleared:
	case isNew && goesOn:
		how = "from which this one seems to go on"
	case goesOn:
		how = "from which this one goes on"
	case before == named:
		how = "from which this one was forked"
	default:
		how = "from which this one seems to have been forked"
	}
	return dir, how
}

// sessionBefore returns the session with this id, or else the one whose transcript was written last, and its list. One that goes on may
// come after others that have gone on without a workflow, too: these are passed over.
func (h *hook) sessionBefore(named string, through bool) (dir, id string) {
	path := h.call.TranscriptPath
	for _, id := range append(client.Neighbours(path, named), client.Neighbours(path, "")...) {
		dir, err := tasklist.OfSession(h.streams.Getenv, id)
		if err != nil {
			return "", ""
		}
		list := h.List
		list.Dir = dir
		if _, none := list.LastChange(); !through || !errors.Is(none, fs.ErrNotExist) {
			return dir, id
		}
	}
	return "", ""
}

// left tells of the session's own list if the client was given another one while a workflow was under way: settings can
// set the variable at any time.
func (h *hook) left(ctx context.Context) string {
	if h.streams.Env(tasklist.Variable) == "" {
		return ""
	}
	own, err := tasklist.OfSession(tasklist.OwnOnly(h.streams.Getenv), h.Session)
	if err != nil {
		return ""
	}
	open, _ := h.Left(ctx, own)
	if open == "" {
		return ""
	}
	return fmt.Sprintf(`%s, and the client now has another task list, so these steps are not enforced. To go on with them, remove %s `+
		`from "env" in the settings, or from the environment, and start the session again`, open, tasklist.Variable)
}
