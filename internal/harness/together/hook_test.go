package together_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hydrate"
)

// call is one call of the hook.
type call struct {
	skill   string
	scope   string // of the command line; empty for the default
	active  string
	agent   bool          // by a subagent
	use     string        // the tool_use_id
	timeout time.Duration // of locks; 0 for one that no test waits for
	told    *turn         // what the disk is told to do; nil for the program as it is
}

// patient is a lock timeout that only a hydration that hangs comes to.
const patient = 2 * time.Minute

func (c call) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", c.skill, c.scope, c.active))
}

// outcome is what came of a call.
type outcome struct {
	call
	code           int // -1 if a signal ended it
	signal         syscall.Signal
	stdout, stderr string
	created        []string // names
	deleted        []string
	committed      bool
	steps          int      // of a told hook
	names          []string // in the list once the call had returned
}

// refused tells a hydration that did what it was asked to: refuse.
func (o outcome) refused() bool {
	return o.code == 2 && o.active == "refuse" && strings.Contains(o.stderr, "are under way")
}

// ended tells a hook that was told to end early, and did.
func (o outcome) ended() bool {
	if o.told == nil || o.told.Signal == 0 {
		return false
	}
	return o.signal == o.told.Signal || o.code == 2 && strings.Contains(o.stderr, "signal received")
}

func (o outcome) String() string {
	return fmt.Sprintf("[%s: code %d signal %d committed %v created %v deleted %v: %s]", o.call, o.code, o.signal, o.committed, o.created, o.deleted, strings.TrimSpace(o.stderr))
}

// hook is a call on its way. It begins to work once it is given its event.
type hook struct {
	call
	world          *world
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr output
	log            string
	resume         *os.File // closing it lets a told hook go on that holds
}

// output keeps what a process prints, and tells when it says that it holds.
type output struct {
	text    bytes.Buffer
	holding chan struct{}
	once    sync.Once
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.text.Write(p)
	if bytes.Contains(o.text.Bytes(), []byte("holding\":true")) {
		o.once.Do(func() { close(o.holding) })
	}
	return n, err
}

func (o *output) String() string { return o.text.String() }

// prepare starts a process that waits for its event.
func (w *world) prepare(t *testing.T, c call) *hook {
	t.Helper()
	h := &hook{call: c, world: w, log: filepath.Join(w.home, fmt.Sprintf("log-%d", w.calls.Add(1)))}
	h.stdout.holding, h.stderr.holding = make(chan struct{}), make(chan struct{})
	h.cmd = exec.Command(os.Args[0], h.args()...)
	h.cmd.Env = []string{"HOME=" + w.home, play + "=hook", raceOptions}
	h.cmd.Stdout, h.cmd.Stderr = &h.stdout, &h.stderr
	if c.told != nil {
		h.tell(t, *c.told)
	}
	var err error
	h.stdin, err = h.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, h.cmd.Start())
	return h
}

func (h *hook) tell(t *testing.T, what turn) {
	text, err := json.Marshal(what)
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	h.cmd.ExtraFiles, h.resume = []*os.File{r}, w
	h.cmd.Env = []string{"HOME=" + h.world.home, play + "=told hook", told + "=" + string(text), raceOptions}
}

func (h *hook) args() []string {
	args := []string{"hydrate", "--log", h.log, "--lock-timeout", patient.String()}
	if h.timeout != 0 {
		args[4] = h.timeout.String()
	}
	if h.scope != "" {
		args = append(args, "--scope", h.scope)
	}
	if h.active != "" {
		args = append(args, "--active", h.active)
	}
	return args
}

// begin gives the hook its event.
func (h *hook) begin() {
	e := map[string]any{
		"session_id": "list", "cwd": h.world.home, "hook_event_name": "PostToolUse", "tool_name": "Skill",
		"tool_response": map[string]any{"success": true, "commandName": h.skill},
	}
	if h.agent {
		e["agent_id"], e["agent_type"] = "a1", "helper"
	}
	if h.use != "" {
		e["tool_use_id"] = h.use
	}
	text, _ := json.Marshal(e)
	_, _ = h.stdin.Write(text)
	_ = h.stdin.Close()
}

// awaitHold waits until the told hook holds.
func (h *hook) awaitHold(t *testing.T) {
	t.Helper()
	select {
	case <-h.stdout.holding:
	case <-time.After(patient):
		t.Fatalf("%s does not come to hold: %s", h.call, h.stderr.String())
	}
}

// end waits for the process.
func (h *hook) end(t *testing.T) outcome {
	t.Helper()
	err := h.cmd.Wait()
	names := h.world.names()
	o := outcome{call: h.call, stdout: h.stdout.String(), stderr: h.stderr.String(), names: names}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		o.code = failed.ExitCode()
		if s := failed.Sys().(syscall.WaitStatus); s.Signaled() {
			o.signal = s.Signal()
		}
	} else if err != nil {
		t.Errorf("%s: %v", h.call, err)
	}
	if h.told != nil {
		o.readReport(t)
		return o
	}
	o.readLog(t, h.log)
	return o
}

func (o *outcome) readLog(t *testing.T, path string) {
	var r hydrate.Record
	data, err := os.ReadFile(path)
	if err != nil {
		return // it was ended before it wrote one
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Errorf("the log of %s: %v", o.call, err)
	}
	o.created, o.deleted = r.Created, r.Deleted
	o.committed = r.Outcome == "hydrated" || r.Outcome == "nothing to do"
}

// run calls the hook and waits for it.
func (w *world) run(t *testing.T, c call) outcome {
	t.Helper()
	h := w.prepare(t, c)
	h.begin()
	return h.end(t)
}

// atOnce calls the hook many times at once.
func (w *world) atOnce(t *testing.T, calls []call) []outcome {
	t.Helper()
	hooks := make([]*hook, len(calls))
	for i, c := range calls {
		hooks[i] = w.prepare(t, c)
	}
	for _, h := range hooks {
		h.begin()
	}
	outcomes := make([]outcome, len(calls))
	for i, h := range hooks {
		outcomes[i] = h.end(t)
	}
	return outcomes
}
