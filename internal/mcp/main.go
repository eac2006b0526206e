package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/mcp/program"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/version"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// signalGrace is how long the server may take to stop its checks after a signal.
const signalGrace = 2 * time.Second

// Main runs the program with the arguments after its name. It returns the exit code: 0 when
// the client has disconnected, 1 if the command line is invalid or the transport fails.
func Main(args []string, s terminal.Streams) int {
	c := program.Command(func(c *cobra.Command, f program.Flags) error { return run(c.Context(), s, f) })
	c.Use = strings.Replace(c.Use, "mcp", program.Name, 1)
	c.Version = version.Get().Version
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetIn(s.In)
	c.SetOut(s.Out)
	c.SetErr(s.Err)
	// The client closes the server's input, and sends SIGTERM if the server does not exit.
	ctx, stop := signals.Context(context.Background(), signalGrace)
	defer stop()
	if err := c.ExecuteContext(ctx); err != nil {
		s.Errorf("%v", err)
		s.Hintf("run %s --help", program.Name)
		return 1
	}
	return 0
}

func run(ctx context.Context, s terminal.Streams, f program.Flags) error {
	if s.InputIsTerminal() {
		return errors.New("standard input is a terminal; an MCP client starts this program")
	}
	in := inputOf(s)
	first, isEvent := readFirst(ctx, in)
	if isEvent {
		return nil
	}
	in = joined{io.MultiReader(bytes.NewReader(first), in), in}
	if err := serve(ctx, newServer(version.Get().Version, f, s.Getenv, os.Environ(), s.Who()), in, outputOf(s)); err != nil {
		return fmt.Errorf("serving the client: %w", err)
	}
	return nil
}

// readFirst reads the first line. isEvent reports whether it is the event of a hook: an agent
// that ignores "args" may run this program as one. The program then does nothing and prints
// nothing, because the agent may give that to the model. It reads no more than it returns.
func readFirst(ctx context.Context, in io.ReadCloser) (first []byte, isEvent bool) {
	defer context.AfterFunc(ctx, func() { in.Close() })() // unblocks the reader
	buffer := make([]byte, 64<<10)
	for len(first) <= maxLine && bytes.IndexByte(bytes.TrimLeft(first, " \t\r\n"), '\n') < 0 {
		n, err := in.Read(buffer)
		first = append(first, buffer[:n]...)
		if err != nil {
			break
		}
	}
	line, _, _ := bytes.Cut(bytes.TrimLeft(first, " \t\r\n"), []byte("\n"))
	e, err := event.Parse(line)
	return first, err == nil && !e.Has("jsonrpc") && (e.Name != "" || e.Foreign())
}

// joined is an input whose beginning was read already.
type joined struct {
	io.Reader
	io.Closer
}

// inputOf returns standard input. Serve closes it to unblock its reader.
func inputOf(s terminal.Streams) io.ReadCloser {
	if f, ok := s.In.(*os.File); ok {
		return f
	}
	return io.NopCloser(s.In)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func outputOf(s terminal.Streams) io.WriteCloser { return nopCloser{escaping{s.Out}} }

// escaping escapes characters that are not safe to show. Each Write must be one whole JSON
// message. A message may quote a part of the request.
type escaping struct{ io.Writer }

func (w escaping) Write(message []byte) (int, error) {
	if _, err := w.Writer.Write(visible.JSON(message)); err != nil {
		return 0, err
	}
	return len(message), nil
}
