package command

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

const statuslineLong = `Statusline prints the state of the workflow in one short line, for the status line of Claude
Code, a shell's prompt or a terminal multiplexer: how many steps are done, whether the work
waits for you, the current step and its round, and what was refused. It prints nothing if
the list has no workflow.

  ◐ 2/8 | #3 Review the plan | round 2/4 | refused #3: gates

"fsmtx install --statusline" registers it in the client, which then passes a JSON object on
standard input: session_id names the list, and workspace.project_dir the project. Without
standard input, or with a terminal, the list is found as by "fsmtx status".

--also runs, too, the command of the status line that the client would show without this
one: that of a settings file of lower precedence. Its output follows on the same line. If
that command fails, its output is left out.

The line is coloured unless NO_COLOR is set. COLUMNS, which the client sets, limits its
length.`

func newStatusline(s terminal.Streams) *cobra.Command {
	var also bool
	c := &cobra.Command{
		Use:   "statusline",
		Short: "Print the state of the workflow in one short line",
		Long:  statuslineLong,
		Example: Example("fsmtx statusline", `echo '{"session_id": "0b54e1c2-7c1e-4a53-9d1a-2f0f4a1d5f10"}' | fsmtx statusline`,
			"fsmtx install --statusline"),
		Args: NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return runStatusline(c.Context(), s, also)
		},
	}
	c.Flags().BoolVar(&also, "also", false, "also show the status line that the client's settings have besides this one")
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}

func runStatusline(ctx context.Context, s terminal.Streams, also bool) error {
	s.SurviveBrokenPipe()
	var input jsontext.Value
	if !s.InputIsTerminal() {
		data, err := client.ReadAll(s.In)
		if err != nil {
			return err
		}
		input = data
	}
	ctx, stop := signals.Interruptible(ctx) // now: while it reads, a signal ends it at once
	defer stop()
	wait := func() string { return "" }
	if also && s.Env(nested) == "" {
		if line := otherLine(s, input); line != "" {
			wait = begin(ctx, line, input)
		}
	}
	own, err := ownLine(ctx, s, input)
	if err != nil && !also {
		return err
	}
	if err != nil {
		own = terminal.Cut("fsmtx: "+message.Line(err.Error()), maxTrouble)
	}
	text := wait()
	if own != "" && text != "" {
		text = " | " + text
	}
	if text = own + text; text == "" {
		return nil
	}
	_, err = s.Out.Write([]byte(text + "\n"))
	return err
}

// maxTrouble limits an error in the line, in columns.
const maxTrouble = 60

// nested is set in the environment of the other status line, in which this program may run too.
const nested = "FSMTX_STATUSLINE"

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
	now, err := (&state.Store{List: tasks.List{Dir: found.Dir}, Known: found.Known}).Now(ctx)
	if err != nil {
		return "", err
	}
	parts := progress.Line(now)
	if err := tasklist.Interrupted(ctx, s.Getenv, found.Dir); err != nil {
		parts = []progress.Part{{Text: "interrupted: " + message.Hint(err), Mood: progress.Bad}}
	}
	if len(parts) > 0 && hook.Observing(s.Getenv, found, s.Who().Kind != caller.Agent)() {
		parts = append([]progress.Part{{Text: "observing", Mood: progress.Bad}}, parts...)
	}
	return lineOf(parts, s.Limit(s.Out), s.Env("NO_COLOR") == ""), nil
}

// lineOf joins the parts. Those that do not fit into the columns are left out.
func lineOf(parts []progress.Part, columns int, colour bool) string {
	const separator = " | "
	var line strings.Builder
	used := 0
	for n, p := range parts {
		width := terminal.Width(p.Text)
		if n > 0 {
			width += len(separator)
		}
		if used += width; n > 0 && used > columns {
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

// otherLine returns the line of the shell that the client would run for its status line if this
// program were not registered, empty if there is none: that of a file with less precedence than the file that
// registers this program. A file above that one is left alone: the client was perhaps told not to read it.
func otherLine(s terminal.Streams, input jsontext.Value) string {
	dir := jsonx.StringMember(jsonx.Member(input, "workspace"), "project_dir")
	if dir == "" {
		dir = s.Env("CLAUDE_PROJECT_DIR")
	}
	if dir == "" {
		dir, _ = os.Getwd()
	}
	config, _ := client.ConfigDir(s.Getenv)
	registered := false
	for _, path := range client.SettingsFiles(locator.OS{}, config, filepath.Clean(dir)) {
		data, err := safefile.ReadFile(path, settings.MaxBytes, 0)
		if err != nil {
			continue // the client ignores it too
		}
		l := settings.ReadStatusLine(data)
		registered = registered || l.Program != ""
		if registered && l.Line != "" {
			return l.Line
		}
	}
	return ""
}

// begin starts a line of the shell as the client does (fact 152, client 2.1.329), and returns a
// function that waits for its output: what it prints if it succeeds, without the last line feed.
func begin(ctx context.Context, line string, input []byte) func() string {
	sh := process.Shell(line)
	c := exec.CommandContext(ctx, sh[0], sh[1:]...)
	c.Stdin = bytes.NewReader(input)
	c.Env = append(slices.Clip(os.Environ()), nested+"=1")
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Second
	var out bytes.Buffer
	c.Stdout = &out
	err := c.Start()
	return func() string {
		if err != nil || c.Wait() != nil {
			return ""
		}
		return strings.TrimRight(out.String(), "\n")
	}
}
