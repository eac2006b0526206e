package mcp

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

type beginInput struct {
	Skill   string `json:"skill" jsonschema:"name of the skill, or the absolute path of its folder, which has an fsm.json"`
	Args    string `json:"args,omitempty" jsonschema:"the arguments of the skill's call, as one text"`
	Session string `json:"session,omitempty" jsonschema:"leave it out: the client's hook fills it in"`
}

// begun is the answer of workflow_begin.
type begun struct {
	hydrate.Begun
	progress.Status
}

// directory returns the directory of the session whose agent has started the server itself; chosen reports that the agent chooses it,
// because no hook has told it. Otherwise the server's is taken.
func (t *tools) directory(ctx context.Context, found tasklist.Found) (dir string, chosen bool) {
	if t.fromClient(found.Dir) || found.Project != "" {
		return "", false
	}
	frame := gates.Frame{Store: state.Store{List: tasks.List{Dir: found.Dir}, Session: found.Session}}
	dir = frame.Directory(ctx)
	return dir, dir == ""
}

// begin puts the workflow of a skill into the list.
func (t *tools) begin(ctx context.Context, r *mcp.CallToolRequest, in beginInput) (result, *begun, error) {
	skill := strings.TrimSpace(in.Skill)
	if skill == "" {
		return nil, nil, errors.New("skill is empty: give the name of a skill, or the absolute path of a folder with an fsm.json")
	}
	found, project, err := t.list(ctx, in.Session, true)
	if err != nil {
		return nil, nil, err
	}
	dir, chosen := t.directory(ctx, found)
	q := question{list: found.Dir, to: "begin: " + skill}
	said, _ := t.answer(r, q)
	yes := said == saidYes
	by := t.agent(found.Dir)
	if yes {
		by = state.By{Who: state.ThePerson, How: state.ByElicitation}
	}
	done, did, err := hydrate.Begin(ctx, hydrate.Beginning{
		Skill: skill, Program: t.who.Program, Args: in.Args, Here: project, List: found, Way: t.way(r, found.Dir), Absolute: true,
		Unseen: by.How == state.ByShell, Project: cmp.Or(dir, project), Dir: dir, Chosen: chosen, By: by, Client: clientOf(r)},
		t.lookup, hydrate.Options{LockTimeout: tasklist.Wait, Program: t.who.Program, Log: decisions.Adder(t.log()),
			FromClient: func() bool { return yes }, Answerers: func() []string { return hook.AllAnswerers(t.lookup, project) }})
	if away := errors.Is(err, hydrate.ErrElsewhere); away || errors.Is(err, hydrate.ErrReplaces) {
		var why []string
		if away {
			why = append(why, "is outside of "+cmp.Or(dir, project))
		}
		if len(did.Lost) > 0 {
			why = append(why, "would replace "+strings.Join(did.Lost, ", "))
		}
		alone := message.Sprintf("%s is not begun, because it %s: only a person can decide that, and nobody has answered here. "+
			"They can run, in a terminal outside the client: fsmtx begin %s --list %s", skill, strings.Join(why, " and "),
			shell.Join(skill), found.Name())
		switch {
		case said == saidNo:
			return nil, nil, message.Lines(skill + " is not begun: the person said no or did not answer")
		case said == notAsked && t.canAsk(r, found.Dir):
			begins := hook.Beginning(skill, did.Lost, project, did.Outside, cmp.Or(dir, project))
			return t.ask(ctx, q, beginQuestion(begins, away), alone), nil, nil
		}
		return nil, nil, message.Lines(alone)
	}
	if e, ok := errors.AsType[*hydrate.NotBegun](err); ok {
		return nil, nil, message.Lines(strings.TrimSpace(e.Message + "\n" + e.Hint))
	}
	if err != nil {
		return nil, nil, err
	}
	for _, note := range hydrate.Notes(did) {
		done.Text += "Tell the person: " + note + ".\n"
	}
	server := terminal.Streams{Getenv: t.lookup, Caller: func() caller.Caller { return t.who }}
	presence.Join(ctx, presence.At(found.Dir), server, "", project, false)
	done.Text = message.Text(done.Text)
	out := &begun{Begun: done, Status: progress.Status{Steps: []progress.Step{}}}
	if s, err := state.LoadNow(context.WithoutCancel(ctx), found.Dir); err == nil {
		out.Status = byTools.Of(s, "")
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: done.Text}}}, out, nil
}

// beginQuestion returns the question whether the agent may do what it wants to.
func beginQuestion(what string, away bool) string {
	if away {
		return "The agent wants to " + what + ". The checks in its fsm.json are commands, which then run without a question. Begin it?"
	}
	return "The agent wants to " + what + ". Begin it?"
}

// clientOf returns the name and version that the client has given itself, as AI_AGENT spells them; empty if it has none.
func clientOf(r *mcp.CallToolRequest) string {
	p := r.Session.InitializeParams()
	if p == nil || p.ClientInfo == nil || p.ClientInfo.Name == "" {
		return ""
	}
	return strings.ReplaceAll(p.ClientInfo.Name, "_", "-") + "_" + strings.NewReplacer(".", "-", "_", "-").Replace(p.ClientInfo.Version) +
		"_mcp"
}
