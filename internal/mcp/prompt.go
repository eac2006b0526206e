package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/message"
)

// workPrompt is what a person sends, in a client that shows prompts as commands, to begin with a
// workflow or to go on with it. No hook is needed for that.
var workPrompt = &mcp.Prompt{
	Name: "work", Title: "Work on a workflow",
	Description: "Begin with the workflow of a skill, or without one go on with the current steps.",
	Arguments: []*mcp.PromptArgument{
		{Name: "skill", Title: "Skill", Description: "name of the skill; leave it out to go on"},
		{Name: "args", Title: "Arguments", Description: "arguments of the skill's call"},
	},
}

// prompted returns the text of workPrompt. It changes nothing: the agent begins the workflow.
func (t *tools) prompted(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text, err := t.toWork(ctx, strings.TrimSpace(r.Params.Arguments["skill"]), strings.TrimSpace(r.Params.Arguments["args"]))
	if err != nil {
		return nil, message.Lines(message.Error(err))
	}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: message.Text(text)}}}}, nil
}

func (t *tools) toWork(ctx context.Context, skill, arguments string) (string, error) {
	if skill == "" {
		text, err := t.next(ctx)
		return text + "\n\n" + byTools.Manual(), err
	}
	begin := message.Sprintf("Call workflow_begin with the skill %q", skill)
	if arguments != "" {
		begin += message.Sprintf(" and the args %q", arguments)
	}
	return begin + ", read the skill's SKILL.md, and do its work. " + byTools.Manual(), nil
}
