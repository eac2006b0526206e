package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const long = `Serves the steps of the current workflow to an agent, as tools of an MCP server on standard
input and output: workflow_status, workflow_begin, workflow_continue, step_start, step_complete and step_skip.
They change the same task files as the client's TaskUpdate, and the same gates hold:
order, files, checks, approval. They are for models and agents without task tools.
workflow_begin does what "fsmtx begin" does, and workflow_continue what "fsmtx continue" does.
The resource fsmtx://current is what "fsmtx next" prints; who subscribes to it hears of every change within a second. The prompt "work" is for
people, in clients that show prompts as commands: it begins with a skill's workflow, or goes on.

The list is that of the call, of --list, or of the session in CLAUDE_CODE_SESSION_ID, or
that Codex and Copilot CLI name. Without these it is the list of the project (CLAUDE_PROJECT_DIR, else the working
directory), which is in fsmtx/tasks in XDG_STATE_HOME or ~/.local/state. If that has no
workflow, and the server was not started by another agent than Claude Code, it is the
only list of the project with open steps; of several the call has to name one.

fsmtx plugin --mcp and fsmtx install --mcp register it.`

// flags are those of the server.
type flags struct {
	Session string // id of the session whose list is served; empty means that of the environment
}

// Command returns the command of the server. It ends when the client has disconnected; its errors are those of an
// invalid command line and of the transport.
func Command(s terminal.Streams) *cobra.Command {
	var f flags
	c := &cobra.Command{
		DisableFlagsInUseLine: true,
		Use:                   "mcp [--list NAME]",
		Short:                 "Serve a workflow's steps as tools of an MCP server",
		Long:                  long,
		Example:               "  fsmtx mcp\n  fsmtx mcp --list 0b54\n  claude mcp add fsmtx -- fsmtx mcp",
		RunE: func(c *cobra.Command, _ []string) error {
			// The client closes the server's input, and sends SIGTERM if the server does not exit.
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			return run(ctx, s, f)
		},
	}
	c.Flags().StringVar(&f.Session, "list", "", "serve the list of this `NAME`: a session's id, a name, or the beginning of one")
	return c
}

func run(ctx context.Context, s terminal.Streams, f flags) error {
	if s.InputIsTerminal() {
		return errors.New("standard input is a terminal; an MCP client starts this program")
	}
	in := inputOf(s)
	first, isEvent := readFirst(ctx, in)
	if isEvent {
		return nil
	}
	in = joined{io.MultiReader(bytes.NewReader(first), in), in}
	if err := serve(ctx, newServer(programs.GetBuild().Version, f, s.Getenv, os.Environ(), s.Who()), in, outputOf(s)); err != nil {
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
	e, err := client.Parse(line)
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

func (w escaping) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(message.JSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
