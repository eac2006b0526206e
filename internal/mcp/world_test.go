//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// world is a home directory with task lists, and a project.
type world struct {
	who     caller.Caller // who started the server
	t       testing.TB
	home    string
	project string
	env     map[string]string
	flags   flags

	protocol string // version that clients ask for; empty means the latest
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{
		t: t, home: filepath.Join(root, "home"), project: filepath.Join(root, "project"),
		who: caller.Caller{Kind: caller.Agent, Program: caller.Claude},
	}
	require.NoError(t, os.Mkdir(w.project, 0o755))
	w.env = map[string]string{"HOME": w.home, "CLAUDE_CODE_SESSION_ID": "s1"}
	return w
}

func (w *world) lookup(name string) (string, bool) {
	value, ok := w.env[name]
	return value, ok
}

func (w *world) list(session string) string { return filepath.Join(w.home, ".claude/tasks", session) }

// hydrate puts a workflow into a session's list as a hydration does. Each step is an entry of an fsm.json, which needs no id, no subject
// and no description here.
func (w *world) hydrate(session string, entries ...string) {
	w.t.Helper()
	var steps []map[string]jsontext.Value
	for i, text := range entries {
		step := map[string]jsontext.Value{"id": jsontext.Value(strconv.Itoa(i + 1))}
		require.NoError(w.t, json.Unmarshal([]byte(text), &step))
		for name, text := range map[string]string{"subject": `"Step %s"`, "description": `"How to do %s."`} {
			if step[name] == nil {
				step[name] = jsontext.Value(fmt.Sprintf(text, step["id"]))
			}
		}
		steps = append(steps, step)
	}
	file, err := json.Marshal(map[string]any{"fsm": 2, "steps": steps})
	require.NoError(w.t, err)
	spec, err := fsmspec.Parse(file)
	require.NoError(w.t, err)
	plan, err := spec.Plan("release", fsmspec.Snapshot{}, fsmspec.Policy{})
	require.NoError(w.t, err)
	flow := workflow.Planned(spec, plan)
	flow.Command, flow.Spec, flow.Session, flow.Dir = "release", "/skills/release/fsm.json", session, w.project
	change := txn.Change{Label: `{"command": "release"}`}
	for _, c := range plan.Creations() {
		change.Creates = append(change.Creates, tasks.Form.File(c))
	}
	change.Record, err = flow.Encode()
	require.NoError(w.t, err)
	dir, err := tasks.List{Dir: w.list(session)}.Open(w.t.Context())
	require.NoError(w.t, err)
	defer dir.Close()
	require.NoError(w.t, dir.Commit(w.t.Context(), change))
}

// status returns the status in a task's file.
func (w *world) status(session string, step int) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.list(session), strconv.Itoa(step)+".json"))
	require.NoError(w.t, err)
	var task struct {
		Status string `json:"status"`
	}
	require.NoError(w.t, json.Unmarshal(data, &task))
	return task.Status
}

// evidence returns the decisions, oldest first.
func (w *world) evidence(session string) []state.Evidence {
	w.t.Helper()
	s, err := state.Load(w.t.Context(), w.list(session))
	require.NoError(w.t, err)
	return s.Evidence
}

// write writes a file of the project.
func (w *world) write(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.project, name), []byte(text), 0o644))
}

// officialClient is a client of the official library that is connected to a server by pipes.
type officialClient struct {
	*mcp.ClientSession
	t      testing.TB
	hangUp func() error // closes the server's input without ending the session
}

// connect starts a server in this process. options may be nil.
func (w *world) connect(options *mcp.ClientOptions) *officialClient {
	w.t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := serve(context.Background(), newServer("v1.2.3", w.flags, w.lookup, os.Environ(), w.who), serverIn, serverOut)
		serverOut.Close()
		served <- err
	}()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := c.Connect(w.t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut},
		&mcp.ClientSessionOptions{ProtocolVersion: w.protocol})
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		session.Close()
		require.NoError(w.t, <-served)
	})
	return &officialClient{session, w.t, clientOut.Close}
}

type args = map[string]any

// call calls a tool and returns its text.
func (c *officialClient) call(tool string, a any) (text string, isError bool) {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
	require.NoError(c.t, err)
	require.Len(c.t, r.Content, 1)
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// does calls a tool, which must succeed, and returns its text.
func (c *officialClient) does(tool string, a any) string {
	c.t.Helper()
	text, isError := c.call(tool, a)
	require.False(c.t, isError, text)
	return text
}

// refuses calls a tool, which must fail, and returns its text.
func (c *officialClient) refuses(tool string, a any) string {
	c.t.Helper()
	text, isError := c.call(tool, a)
	require.True(c.t, isError, text)
	return text
}

// workflow returns the structured answer of workflow_status.
func (c *officialClient) workflow() (s progress.Status) {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: "workflow_status"})
	require.NoError(c.t, err)
	require.False(c.t, r.IsError)
	text, err := json.Marshal(r.StructuredContent)
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(text, &s))
	return s
}

// answering returns the options of a client whose person answers each question with the
// action. The questions are appended to asked, which may be nil.
func answering(action string, asked *[]string) *mcp.ClientOptions {
	return filling(func(p *mcp.ElicitParams) mcp.ElicitResult {
		if asked != nil {
			*asked = append(*asked, p.Message)
		}
		return mcp.ElicitResult{Action: action}
	})
}

// read returns a file of the project.
func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.project, name))
	require.NoError(w.t, err)
	return string(data)
}

// hydrated is a new world whose session s1 has these steps.
func hydrated(t testing.TB, all ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.hydrate("s1", all...)
	return w
}

// shipping is a new world with the skill ship.
func shipping(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	w.skill("fsm.json", shipped)
	return w
}

// filling returns the options of a client whose person fills in each form so.
func filling(form func(*mcp.ElicitParams) mcp.ElicitResult) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		result := form(r.Params)
		return &result, nil
	}}
}

// serves gives a server these lines, and returns its answers.
func (w *world) serves(lines string) string {
	w.t.Helper()
	var out strings.Builder
	in := io.NopCloser(strings.NewReader(lines))
	require.NoError(w.t, serve(w.t.Context(), newServer("", w.flags, w.lookup, nil, w.who), in, nopCloser{&out}))
	return out.String()
}

// last returns the newest line of evidence of the session s1.
func (w *world) last() state.Evidence {
	w.t.Helper()
	all := w.evidence("s1")
	return all[len(all)-1]
}
