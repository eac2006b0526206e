package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/mcp/program"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/version"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// signalPatience is how long the server may take to end its checks after a signal.
const signalPatience = 2 * time.Second

// Main runs the program with the arguments after its name and returns its exit code: 0
// when the client has gone, 1 if the command line is invalid or the transport fails.
func Main(args []string, s terminal.Streams) int {
	c := program.Command(func(c *cobra.Command, f program.Flags) error { return run(c.Context(), s, f) })
	c.Use = strings.Replace(c.Use, "mcp", program.Name, 1)
	c.Version = version.Get().Version
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetIn(s.In)
	c.SetOut(s.Out)
	c.SetErr(s.Err)
	// The client ends a server by closing its input, and by SIGTERM if that does not do.
	ctx, stop := signals.Context(context.Background(), signalPatience)
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
	if err := Serve(ctx, New(version.Get().Version, f, s.Getenv, os.Environ()), inputOf(s), outputOf(s)); err != nil {
		return fmt.Errorf("serving the client: %w", err)
	}
	return nil
}

// inputOf returns standard input. Closing it unblocks its reader when the server is to end.
func inputOf(s terminal.Streams) io.ReadCloser {
	if f, ok := s.In.(*os.File); ok {
		return f
	}
	return io.NopCloser(s.In)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func outputOf(s terminal.Streams) io.WriteCloser { return nopCloser{escaping{s.Out}} }

// escaping writes JSON messages, each of them whole, with escapes for what a terminal must
// not get: a message may have a part of the request in it.
type escaping struct{ io.Writer }

func (w escaping) Write(message []byte) (int, error) {
	if _, err := w.Writer.Write(visible.JSON(message)); err != nil {
		return 0, err
	}
	return len(message), nil
}
