package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the limit on one message in bytes.
const maxLine = 1 << 20

// serve serves one client on in and out until in ends or ctx is cancelled. Before it
// returns it stops the checks of its calls, and it answers every call that it has read
// unless the client no longer reads.
func serve(ctx context.Context, s *mcp.Server, in io.ReadCloser, out io.WriteCloser) error {
	serving, end := context.WithCancel(ctx)
	defer end()
	var calls sync.WaitGroup
	s.AddReceivingMiddleware(cancelling(serving, &calls))
	to := &outbox{WriteCloser: out}
	err := s.Run(ctx, &transport{
		IOTransport: mcp.IOTransport{Reader: newInbox(in, to), Writer: to, MaxLineLength: maxLine + 1},
		ended:       end,
	})
	end()
	calls.Wait()
	for _, gone := range []error{io.EOF, context.Canceled, io.ErrClosedPipe, syscall.EPIPE} { // the last two: at an answer that is late
		if errors.Is(err, gone) {
			return nil
		}
	}
	return err
}

// cancelling returns middleware that cancels tool calls with ctx and adds them to calls,
// because the library does not wait for them when the client disconnects.
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
	subscribe = "subscriptions/listen" // is answered only when the client ends the subscription
)

// transport is the library's transport, except that its Read reports the end of the input
// only after every call was answered. The library drops answers that are written later.
type transport struct {
	mcp.IOTransport
	ended func() // called at the end of the input
}

func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	return &connection{Connection: c, ended: t.ended, open: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1),
		closed: make(chan struct{})}, err
}

type connection struct {
	mcp.Connection
	ended func()

	mu      sync.Mutex
	open    map[jsonrpc.ID]bool // calls that are not answered yet
	changed chan struct{}       // receives after open has changed
	closed  chan struct{}       // closed by Close
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
	// An answer that could not be written is not written again, so the call is not open.
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

// drainTimeout limits the wait for the last answers. A check that is stopped ends well
// before that (gates.Frame kills it after less than a second).
const drainTimeout = 10 * time.Second

// drain waits until every call is answered.
func (c *connection) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
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
