package show

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const statuslineLong = `Statusline prints the state of the workflow in one short line, for the status line of Claude
Code, a shell's prompt or a terminal multiplexer: how many steps are done, whether the work
waits for you, the current step and its round, and what was refused. It prints nothing if
the list has no workflow.

  ◐ 2/8 | #3 Review the plan | round 2/4 | refused #3: gates

Claude Code runs it with "statusLine": {"type": "command", "command": "fsmtx statusline",
"refreshInterval": 5} in its settings, and passes a JSON object on standard input, in which
session_id names the list. Without standard input, or with a terminal, the list is found as by
"fsmtx status".

The line is coloured unless NO_COLOR is set. COLUMNS, which the client sets, limits its
length.`

func NewStatusline(s terminal.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "statusline",
		Short:   "Print the state of the workflow in one short line",
		Long:    statuslineLong,
		Example: command.Example("fsmtx statusline", `echo '{"session_id": "0b54e1c2-7c1e-4a53-9d1a-2f0f4a1d5f10"}' | fsmtx statusline`),
		Args:    command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return runStatusline(c.Context(), s)
		},
	}
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}

func runStatusline(ctx context.Context, s terminal.Streams) error {
	s.SurviveBrokenPipe()
	var input jsontext.Value
	if !s.InputIsTerminal() {
		data, err := client.ReadAll(s.In)
		if err != nil {
			return err
		}
		input = data
	}
	ctx, stop := command.Interruptible(ctx) // now: while it reads, a signal ends it at once
	defer stop()
	line, err := ownLine(ctx, s, input)
	if err != nil || line == "" {
		return err
	}
	_, err = s.Out.Write([]byte(line + "\n"))
	return err
}

// ownLine returns the state of the list of a session. Input is what the client passes, or blank.
func ownLine(ctx context.Context, s terminal.Streams, input jsontext.Value) (string, error) {
	var session string
	if len(bytes.TrimSpace(input)) > 0 {
		e, err := client.Parse(input)
		if err != nil {
			return "", err
		}
		session = e.SessionID
	}
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Session: session, Who: s.Who})
	if err != nil {
		return "", nil // there is no list
	}
	now, err := state.Load(ctx, found.Dir)
	if err != nil {
		return "", err
	}
	columns := 0 // as long as it is
	if s.Env("COLUMNS") != "" {
		columns = s.Columns(s.Out)
	}
	return lineOf(progress.Line(now), columns, s.Env("NO_COLOR") == ""), nil
}

// lineOf joins the parts. Those that do not fit into the columns are left out; 0 is no limit.
func lineOf(parts []progress.Part, columns int, colour bool) string {
	const separator = " | "
	var line strings.Builder
	used := 0
	for n, p := range parts {
		width := terminal.Width(p.Text)
		if n > 0 {
			width += len(separator)
		}
		if used += width; n > 0 && columns > 0 && used > columns {
			break
		}
		if n > 0 {
			line.WriteString(separator)
		}
		line.WriteString(coloured(p, colour))
	}
	return line.String()
}

func coloured(p progress.Part, colour bool) string {
	code := map[progress.Mood]string{progress.Done: "32", progress.Busy: "33", progress.Bad: "31", progress.Person: "1;35"}[p.Mood]
	if code == "" || !colour {
		return p.Text
	}
	return "\x1b[" + code + "m" + p.Text + "\x1b[0m"
}
