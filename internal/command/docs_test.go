package command

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

What each command prints for ` + "`--help`" + `. This page is generated from the commands; after a change of a help text run
` + "`go test ./internal/command -run TestCommandsDocument -update`" + `.

On SIGHUP, SIGINT or SIGTERM a command rolls back what it has not finished, and ends. If a disk or a pipe keeps it, it ends
after two seconds, or seven if it has hooks to end, with 128 and the number of the signal; ` + "`fsmtx recover`" + ` then finishes what
was begun. A signal that was ignored when it was started, as under nohup, stays ignored.
`

// TestCommandsDocument: docs/commands.md says what the commands say.
func TestCommandsDocument(t *testing.T) {
	const file = "../../docs/commands.md"
	text := commandsHead
	eachCommand(func(path string, help func(string) string) {
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
			t.Fatalf("docs/commands.md:%d: want %q; run go test ./internal/command -run TestCommandsDocument -update", i+1, line)
		}
	}
	require.Len(t, got, len(want), "docs/commands.md has more than the commands say; run with -update")
}

// TestWorkflowsDocument: the drawing in docs/workflows.md is what graph draws, and its
// examples are valid.
func TestWorkflowsDocument(t *testing.T) {
	data, err := os.ReadFile("../../docs/workflows.md")
	require.NoError(t, err)
	document := string(data)

	const command = "    $ fsmtx graph testdata/workflows/incident\n"
	_, drawing, found := strings.Cut(document, command)
	require.True(t, found)
	var out bytes.Buffer
	require.Zero(t, Main([]string{"graph", "../../testdata/workflows/incident"}, terminal.Streams{Out: &out, Err: &out, Getenv: func(string) (string, bool) { return "", false }}))
	for line := range strings.Lines(out.String()) {
		if line != "\n" {
			line = "    " + line
		}
		require.True(t, strings.HasPrefix(drawing, line), "the program draws %q, the document has\n%s", line, drawing[:200])
		drawing = drawing[len(line):]
	}

	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(document, -1)
	require.NotEmpty(t, examples)
	for _, example := range examples {
		task := regexp.MustCompile(`"blockedBy": \[(\d+)\]`).FindStringSubmatch(example[1])
		_, err := fsmspec.Parse([]byte("[" + example[1] + `, {"id": ` + task[1] + `, "subject": "the one before"}]`))
		require.NoError(t, err, example[1])
	}
}
