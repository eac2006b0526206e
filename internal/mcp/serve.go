package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the limit on one message in bytes: notes and reasons are texts.
const maxLine = 1 << 20

// Serve serves one client on in and out until in ends or ctx is cancelled. The checks that
// calls are running end with it: when Serve returns, no process of theirs is left, and
// every call that was read has its answer.
func Serve(ctx context.Context, s *mcp.Server, in io.ReadCloser, out io.WriteCloser) error {
	serving, end := context.WithCancel(ctx)
	defer end()
	var calls sync.WaitGroup
	s.AddReceivingMiddleware(cancelling(serving, &calls))
	err := s.Run(ctx, &transport{
		IOTransport: mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxLine},
		ended:       end,
	})
	end()
	calls.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// cancelling cancels calls of tools with ctx, and counts them: the library does not wait
// for them when the client goes away.
func cancelling(ctx context.Context, calls *sync.WaitGroup) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(call context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method != callTool {
				return next(call, method, r)
			}
			calls.Add(1)
			defer calls.Done()
			call, cancel := context.WithCancel(call)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return next(call, method, r)
		}
	}
}

const (
	callTool  = "tools/call"
	subscribe = "subscriptions/listen" // its answer comes when the client ends it
)

// transport is the library's, but for the end of the input: the library drops the answers
// that are not written by then. Here the end is heard of when every answer is written.
type transport struct {
	mcp.IOTransport
	ended func() // called when the input has ended
}

func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	return &connection{Connection: c, ended: t.ended, open: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1), closed: make(chan struct{})}, err
}

type connection struct {
	mcp.Connection
	ended func()

	mu      sync.Mutex
	open    map[jsonrpc.ID]bool // calls without an answer
	changed chan struct{}
	closed  chan struct{} // nothing can be written any more
	once    sync.Once
}

func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.ended()
		c.drain(ctx)
		return m, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != subscribe {
		c.mu.Lock()
		c.open[r.ID] = true
		c.mu.Unlock()
	}
	return m, nil
}

func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	// An answer that could not be written will not be written later.
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, r.ID)
		c.mu.Unlock()
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return err
}

// patience is the limit on the wait for the last answers: a check gets five seconds
// between SIGTERM and SIGKILL.
const patience = 10 * time.Second

// drain waits until every call has its answer.
func (c *connection) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		c.mu.Lock()
		left := len(c.open)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.changed:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}
