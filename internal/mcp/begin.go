package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/visible"
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

// begin puts the workflow of a skill into the list.
func (t *tools) begin(ctx context.Context, _ *mcp.CallToolRequest, in beginInput) (result, *begun, error) {
	skill := strings.TrimSpace(in.Skill)
	if skill == "" {
		return nil, nil, errors.New("skill is empty: give the name of a skill, or the absolute path of a folder with an fsm.json")
	}
	found, project, err := t.list(ctx, in.Session, true)
	if err != nil {
		return nil, nil, err
	}
	done, r, err := hydrate.Begin(ctx, hydrate.Beginning{
		Skill: skill, Program: t.who.Program, Args: in.Args, Here: project, List: found, Way: byTools, Absolute: true},
		t.lookup, hydrate.Options{LockTimeout: t.flags.LockTimeout, Log: t.log()})
	if e, ok := errors.AsType[*hydrate.NotBegun](err); ok {
		return nil, nil, visible.Lines(strings.TrimSpace(e.Message + "\n" + e.Hint))
	}
	for _, note := range hydrate.Notes(r) {
		done.Text += "Tell the person: " + note + ".\n"
	}
	done.Text = visible.Text(done.Text)
	out := &begun{Begun: done, Status: progress.Status{Steps: []progress.Step{}}}
	if s, err := steps.LoadNow(context.WithoutCancel(ctx), found.Dir); err == nil {
		out.Status = byTools.Of(s, "")
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: done.Text}}}, out, nil
}
