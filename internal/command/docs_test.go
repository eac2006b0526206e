package command

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

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
