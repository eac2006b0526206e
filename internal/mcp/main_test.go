package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// started runs the program with these arguments and this input. No arguments are not nil, for which the
// library would take those of the test.
func (w *world) started(in io.Reader, args ...string) (code int, out, stderr string) {
	var o, e bytes.Buffer
	c := Command(terminal.Streams{In: in, Out: &o, Err: &e, Getenv: w.lookup, Caller: func() caller.Caller { return w.who }})
	c.SetArgs(append([]string{}, args...))
	c.SetOut(&o)
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.Execute(); err != nil {
		fmt.Fprintln(&e, err)
		code = 1
	}
	return code, o.String(), e.String()
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"t","version":"1"}}}` + "\n"

// TestMainAnswersAndEnds: without an error when the client goes, with one if it was called wrongly.
func TestMainAnswersAndEnds(t *testing.T) {
	w := newWorld(t)
	code, out, stderr := w.started(strings.NewReader(initialize))
	assert.Zero(t, code)
	assert.Empty(t, stderr)
	var answer struct {
		Result struct {
			ServerInfo struct{ Version string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &answer))
	assert.Equal(t, programs.GetBuild().Version, answer.Result.ServerInfo.Version)

	code, out, stderr = w.started(strings.NewReader(initialize), "--nonsense")
	assert.Equal(t, 1, code)
	assert.Empty(t, out)
	assert.Contains(t, stderr, "unknown flag: --nonsense")

	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	code, out, stderr = w.started(terminal)
	assert.Equal(t, [2]any{1, ""}, [2]any{code, out})
	assert.Contains(t, stderr, "standard input is a terminal")

	code, out, stderr = w.started(strings.NewReader(`{"session_id":"s","hook_event_name":"Stop"}` + "\n" + initialize))
	assert.Equal(t, [3]any{0, "", ""}, [3]any{code, out, stderr}, "the event of a hook is not answered")

	code, out, stderr = w.started(strings.NewReader(""))
	assert.Equal(t, [3]any{0, "", ""}, [3]any{code, out, stderr}, "no client came")
}

// TestMainReadsAFile and closes it.
func TestMainReadsAFile(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(path, []byte(initialize), 0o600))
	in, err := os.Open(path)
	require.NoError(t, err)
	code, out, _ := w.started(in)
	assert.Zero(t, code)
	assert.Contains(t, out, `"id":1`)
	_, err = in.Read(make([]byte, 1))
	assert.ErrorIs(t, err, os.ErrClosed, "so that a signal ends a read of it")
}

// TestALineThatIsTooLongIsNotKept.
func TestALineThatIsTooLongIsNotKept(t *testing.T) {
	longest := strings.Repeat("x", maxKept-1) + "\n"
	box := newInbox(io.NopCloser(strings.NewReader(longest+"x"+longest+strings.Repeat(longest, 2)[2:]+"short\n")), io.Discard)
	line, tooLong, err := box.line()
	require.NoError(t, err)
	assert.False(t, tooLong)
	assert.Equal(t, longest, string(line))
	line, tooLong, err = box.line()
	require.NoError(t, err)
	assert.True(t, tooLong)
	assert.Empty(t, line)
	for range 2 {
		_, _, err = box.line()
		require.NoError(t, err)
	}
	line, tooLong, err = box.line()
	require.NoError(t, err)
	assert.False(t, tooLong)
	assert.Equal(t, "short\n", string(line))
}

// TestASkipIsReported with what comes next, and written to the log that the person has named.
func TestASkipIsReported(t *testing.T) {
	w := newWorld(t)
	w.env[decisions.Variable] = filepath.Join(w.home, "log")
	w.hydrate("s1", workflow.Step{Subject: "Collect"}, workflow.Step{Subject: "Publish", BlockedBy: []int64{1}})
	var asked []string
	c := w.connect(answering("accept", &asked))
	text := c.does("step_skip", args{"step": 1, "because": "there is nothing"})
	assert.Contains(t, text, `#1 "Collect" is skipped.`)
	assert.Contains(t, text, `#2 "Publish"`, "what comes next")
	assert.Equal(t, []string{"The agent wants to skip the step #1 \"Collect\" of the workflow release.\nIts reason: there is " +
		"nothing\nLet it skip the step?"}, asked)
	log, err := os.ReadFile(w.env[decisions.Variable])
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(log), "\n"))
	assert.Contains(t, string(log), `"skip: there is nothing"`)

	assert.Contains(t, c.refuses("step_skip", args{"step": 2, "because": strings.Repeat("x", 1<<19)}), "because")
	assert.Len(t, asked, 1, "about a reason that is too long nobody is asked")
}

// TestTheCallIsOnRecord: by its id, an update that is carried out is told from one that was not.
func TestTheCallIsOnRecord(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{})
	c := w.connect(nil)
	_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: mcp.Meta{"claudecode/toolUseId": "toolu_7"}, Name: "step_start",
		Arguments: n(1)})
	require.NoError(t, err)
	all := w.evidence("s1")
	require.Len(t, all, 1)
	assert.Equal(t, "toolu_7", all[0].Use)
}
