package mcp

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// asServer names the environment variable that turns this test program into fsmtx-tools.
const asServer = "FSMTX_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		if Command(callers.Played()).Execute() != nil { // it takes its arguments from os.Args
			os.Exit(1)
		}
		os.Exit(0)
	}
	callers.Forget()
	os.Exit(m.Run())
}

// The cases are in the order in which the rules apply.
func TestChooseSession(t *testing.T) {
	for name, c := range map[string]struct {
		named, flag string
		env         map[string]string
		want        string // subject of the first step
		note        string
	}{
		"of the call":       {named: "called", flag: "flagged", env: map[string]string{"CLAUDE_CODE_SESSION_ID": "client"}, want: "Called"},
		"of --session":      {flag: "flagged", env: map[string]string{"CLAUDE_CODE_SESSION_ID": "client"}, want: "Flagged"},
		"of the client":     {env: map[string]string{"CLAUDE_CODE_SESSION_ID": "client"}, want: "Client"},
		"the named list":    {env: map[string]string{"CLAUDE_CODE_SESSION_ID": "client", "CLAUDE_CODE_TASK_LIST_ID": "called"}, want: "Called"},
		"the list alone":    {env: map[string]string{"CLAUDE_CODE_TASK_LIST_ID": "flagged"}, want: "Flagged"},
		"newest of project": {want: "Newest", note: "(No session was named: this is the newest task list of PROJECT, that of session newest.)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			delete(w.env, "CLAUDE_CODE_SESSION_ID")
			for _, session := range []string{"called", "flagged", "client", "newest"} {
				w.hydrate(session, workflow.Step{Subject: strings.ToUpper(session[:1]) + session[1:]})
			}
			project := w.project
			w.project = t.TempDir()
			w.hydrate("elsewhere", workflow.Step{Subject: "Elsewhere"})
			w.env["CLAUDE_PROJECT_DIR"] = project
			for key, value := range c.env {
				w.env[key] = value
			}
			w.flags.Session = c.flag
			connected := w.connect(nil)
			a := args{"step": 1}
			if c.named != "" {
				a["session"] = c.named
			}
			answer := connected.does("step_start", a)
			assert.Contains(t, answer, `#1 "`+c.want+`" is in progress.`)
			if c.note != "" {
				note := strings.ReplaceAll(c.note, "PROJECT", project)
				assert.True(t, strings.HasPrefix(answer, note), answer)
				assert.Contains(t, connected.workflow().Message, note)
				for _, refused := range []string{connected.refuses("step_start", n(9)),
					connected.refuses("step_complete", args{"step": 1, "outcome": "x"}),
					connected.refuses("step_skip", args{"step": 1, "because": "x"})} {
					assert.True(t, strings.HasPrefix(refused, note+" "), refused)
				}
			} else {
				assert.NotContains(t, answer, "No session was named")
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		w := newWorld(t)
		delete(w.env, "CLAUDE_CODE_SESSION_ID")
		w.env["CLAUDE_PROJECT_DIR"] = w.project
		assert.Contains(t, w.connect(nil).refuses("step_start", n(1)), "no session was named, and no task list of this project has a workflow")
	})
}

// A client starts the program on a pipe. The program exits at the end of its input, and on
// SIGTERM, when it also stops its check.
func TestTheProgram(t *testing.T) {
	for name, end := range map[string]func(w *world, c *officialClient, server *os.Process){
		"end of input": func(w *world, c *officialClient, _ *os.Process) { require.NoError(w.t, c.Close()) },
		"SIGTERM": func(w *world, c *officialClient, server *os.Process) {
			go func() {
				_, _ = c.CallTool(context.Background(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(2)})
			}()
			group := w.running()
			require.NoError(w.t, server.Signal(syscall.SIGTERM))
			require.Eventually(w.t, func() bool { return isGone(group) }, 30*time.Second, 5*time.Millisecond)
			_ = c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hydrate("s1", workflow.Step{Subject: "Collect"}, endless)
			self, err := os.Executable()
			require.NoError(t, err)
			command := exec.Command(self, "--session", "s1")
			command.Env = []string{asServer + "=1", "HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				&mcp.CommandTransport{Command: command}, nil)
			require.NoError(t, err)
			c := &officialClient{ClientSession: session, t: t}
			assert.Contains(t, c.does("step_complete", n(1)), `#1 "Collect" is done.`)

			end(w, c, command.Process)

			require.NotNil(t, command.ProcessState, "Close waits for the program")
			assert.Zero(t, command.ProcessState.ExitCode())
		})
	}
}
