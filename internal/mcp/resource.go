package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/message"
)

// currentURI is the resource with the steps to work on.
const currentURI = "fsmtx://current"

// current returns the steps to work on, in full, and what the others wait for, as text. No
// call names the session, so in Claude Code it is the one in which the server was started.
func (t *tools) current(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text, err := t.next(ctx)
	if err != nil {
		return nil, message.Lines(message.Error(err))
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: currentURI, MIMEType: "text/plain",
		Text: message.Text(text) + "\n"}}}, nil
}

func (t *tools) next(ctx context.Context) (string, error) {
	f, err := t.choose(ctx, "")
	if errors.Is(err, errNoList) {
		return byTools.NoWorkflow(), nil
	}
	if err != nil {
		return "", err
	}
	s, err := f.Now(ctx)
	if err != nil {
		return "", err
	}
	return byTools.Next(s), nil
}

// watch tells the subscribers of the resource that it has changed: at once when a tool of this
// server has changed it, and within watchEvery when a command, a hook or another session has. It
// looks only while there is a subscriber.
type watch struct {
	text func(context.Context) (string, error) // of the resource
	tell func(context.Context)

	mu   sync.Mutex
	last string
	stop context.CancelFunc // nil without a subscriber
}

// watchEvery is the time between two looks at the list.
const watchEvery = time.Second

// subscribe accepts a subscription of the resource. It ends with the session, too.
func (w *watch) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	if r.Params.URI != currentURI {
		return mcp.ResourceNotFoundError(r.Params.URI)
	}
	last, _ := w.text(ctx) // what cannot be read changes as soon as it can
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		return nil
	}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	w.last = last
	go func() {
		_ = r.Session.Wait()
		w.unsubscribe()
	}()
	go w.look(ctx)
	return nil
}

func (w *watch) unsubscribe() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

func (w *watch) look(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.changed(ctx)
		}
	}
}

// changed tells the subscribers if the resource has changed since they were told.
func (w *watch) changed(ctx context.Context) {
	text, err := w.text(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || w.stop == nil || text == w.last {
		return
	}
	w.last = text
	w.tell(ctx)
}

// telling looks at the list after a tool that may have changed it.
func telling[In, Out any](w *watch, handle mcp.ToolHandlerFor[In, Out]) mcp.ToolHandlerFor[In, Out] {
	return func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		result, out, err := handle(ctx, r, in)
		if err == nil && w.watched() {
			w.changed(context.WithoutCancel(ctx))
		}
		return result, out, err
	}
}

func (w *watch) watched() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stop != nil
}
