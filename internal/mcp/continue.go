package mcp

import (
	"cmp"
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

type continueInput struct {
	Skill   string `json:"skill,omitempty" jsonschema:"name of the skill, if the project has several unfinished workflows"`
	List    string `json:"list,omitempty" jsonschema:"the list or session in which it is, if the skill does not tell"`
	Session string `json:"session,omitempty" jsonschema:"leave it out: the client's hook fills it in"`
}

// goOn makes a workflow of another list go on in this one.
func (t *tools) goOn(ctx context.Context, r *mcp.CallToolRequest, in continueInput) (result, *progress.Status, error) {
	found, project, err := t.list(ctx, in.Session, true)
	if err != nil {
		return nil, nil, err
	}
	own, _, err := t.list(ctx, "", true)
	if err != nil {
		return nil, nil, err
	}
	dir, chosen := t.directory(ctx, found)
	ai, _ := t.lookup("AI_AGENT")
	q := continuation.Query{Lookup: t.lookup, Here: cmp.Or(dir, project), List: found.Dir, Own: own.Dir, Chosen: chosen,
		Client: cmp.Or(ai, t.who.Program), By: t.agent(found.Dir)}
	u, err := continuation.Choose(ctx, q, in.List, strings.TrimSpace(in.Skill))
	if err != nil {
		return nil, nil, err
	}
	if what := q.Needs(u); what != "" {
		q.By = state.By{Who: state.ThePerson, How: state.ByElicitation}
		about := question{list: found.Dir, to: "continue: " + u.Workflow.Command + " " + u.List}
		alone := "only a person can " + what + ", in a terminal outside the client: " +
			continuation.Line(t.lookup, u.Workflow.Command, u.List, found.Dir)
		switch said, _ := t.answer(r, about); {
		case said == notAsked && t.canAsk(r, found.Dir):
			return t.ask(ctx, about, "The agent wants to "+what+". Let it?", alone), nil, nil
		case said != saidYes:
			presence.Enter(ctx, found.Dir)
			return nil, nil, message.Lines(alone)
		}
	}
	st := &state.Store{List: tasks.List{Dir: found.Dir, Wait: tasklist.Wait}, Session: found.Session}
	text, err := continuation.Take(ctx, q, st, u)
	if err != nil {
		return nil, nil, err
	}
	s, err := state.LoadNow(context.WithoutCancel(ctx), found.Dir)
	if err != nil {
		return nil, nil, err
	}
	status := byTools.Of(s, text)
	return nil, &status, nil
}
