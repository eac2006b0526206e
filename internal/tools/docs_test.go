package tools

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

var update = flag.Bool("update", false, "write docs/commands.md")

const commandsHead = `# Commands

The help of each command. This page is generated; after a change of a help text run
` + "`go test ./internal/tools -run TestCommandsDocument -update`" + `.

On SIGHUP, SIGINT or SIGTERM a command rolls back an unfinished change and ends. If a disk or a pipe blocks it, it is ended
after two seconds, or seven if it runs hooks, and exits with 128 plus the number of the signal; ` + "`fsmtx recover`" + ` then finishes the
change. SIGHUP and SIGINT stay ignored if they were when the command was started, as under nohup.
`

// TestCommandsDocument: docs/commands.md has the help of every command.
func TestCommandsDocument(t *testing.T) {
	const file = "../../docs/commands.md"
	text := commandsHead
	eachHelp(func(path string, help func(string) string) {
		text += "\n## " + path + "\n\n```text\n" + strings.TrimSpace(help("")) + "\n```\n"
	})
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	got, want := strings.Split(string(data), "\n"), strings.Split(text, "\n")
	for i, line := range want {
		if i >= len(got) || got[i] != line {
			t.Fatalf("docs/commands.md:%d: want %q; run go test ./internal/tools -run TestCommandsDocument -update", i+1, line)
		}
	}
	require.Len(t, got, len(want), "docs/commands.md has lines that no command prints; run with -update")
}

// TestWorkflowsDocument: the drawing in docs/write.md is the output of graph, and the
// examples there are valid.
func TestWorkflowsDocument(t *testing.T) {
	data, err := os.ReadFile("../../docs/write.md")
	require.NoError(t, err)
	document := string(data)

	const command = "    $ fsmtx graph testdata/workflows/incident\n"
	_, drawing, found := strings.Cut(document, command)
	require.True(t, found)
	var out bytes.Buffer
	require.Zero(t, Main([]string{"graph", "../../testdata/workflows/incident"},
		terminal.Streams{Out: &out, Err: &out, Getenv: func(string) (string, bool) { return "", false }}))
	for line := range strings.Lines(out.String()) {
		if line != "\n" {
			line = "    " + line
		}
		require.True(t, strings.HasPrefix(drawing, line), "the program draws %q, the document has\n%s", line, drawing[:200])
		drawing = drawing[len(line):]
	}

	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(document, -1)
	require.NotEmpty(t, examples)
	drawn := 0
	for _, example := range examples {
		if spec, err := fsmspec.Parse([]byte(example[1])); err == nil && spec.Version() == fsmspec.WithOutcomes {
			require.Contains(t, document, drawingOf(t, example[1]))
			require.Empty(t, spec.Warnings())
			drawn++
			continue
		}
		task := regexp.MustCompile(`"blockedBy": \[(\d+)\]`).FindStringSubmatch(example[1])
		_, err := fsmspec.Parse([]byte(`{"fsm": 2, "steps": [` + example[1] + `, {"id": ` + task[1] + `, "subject": "the one before"}]}`))
		require.NoError(t, err, example[1])
	}
	require.Equal(t, 6, drawn, "the three pictures, the one of values, steps for each line, and a step that demands a skill")
}

// drawingOf returns the lines of the drawing of a workflow, as the document has them.
func drawingOf(t *testing.T, file string) string {
	t.Helper()
	var out bytes.Buffer
	require.Zero(t, Main([]string{"graph", "-"}, terminal.Streams{In: strings.NewReader(file), Out: &out, Err: &out,
		Getenv: func(string) (string, bool) { return "", false }}))
	drawing := strings.Split(out.String(), "\n\n")[1]
	return "    " + strings.ReplaceAll(drawing, "\n", "\n    ") + "\n"
}
