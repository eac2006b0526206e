package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// currentURI is the resource with the steps to work on.
const currentURI = "fsmtx://current"

// current returns the steps to work on, in full, and what the others wait for, as text. No
// call names the session, so in Claude Code it is the one in which the server was started.
func (t *tools) current(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text, err := t.next(ctx)
	if err != nil {
		return nil, visible.Lines(visible.Error(err))
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: currentURI, MIMEType: "text/plain", Text: visible.Text(text) + "\n"}}}, nil
}

func (t *tools) next(ctx context.Context) (string, error) {
	f, note, err := t.choose(ctx, "")
	if errors.Is(err, errNoList) {
		return byTools.NoWorkflow(), nil
	}
	if err != nil {
		return "", err
	}
	s, err := steps.LoadNow(ctx, f.List.Dir)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(note + " " + byTools.Next(s)), nil
}

// subscribed accepts subscriptions of the resource. Its subscribers hear of the changes that
// this server makes. For those of others it would have to watch the list for as long as it
// runs.
func subscribed(_ context.Context, r *mcp.SubscribeRequest) error {
	if r.Params.URI != currentURI {
		return mcp.ResourceNotFoundError(r.Params.URI)
	}
	return nil
}

// telling tells the subscribers of the resource when a tool has changed the list.
func telling[In, Out any](s *mcp.Server, handle mcp.ToolHandlerFor[In, Out]) mcp.ToolHandlerFor[In, Out] {
	return func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		result, out, err := handle(ctx, r, in)
		if err == nil && (result == nil || !result.NeedsInput()) {
			_ = s.ResourceUpdated(context.WithoutCancel(ctx), &mcp.ResourceUpdatedNotificationParams{URI: currentURI})
		}
		return result, out, err
	}
}
