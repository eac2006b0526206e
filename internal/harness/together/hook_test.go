//go:build unix

package together_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// call is one call of the hook.
type call struct {
	skill   string
	scope   string // flags; empty for the default
	active  string
	agent   bool          // the event comes from a subagent
	use     string        // tool_use_id
	timeout time.Duration // of locks; 0 for testTimeout
	script  *script       // of its file system; nil for the program as it is installed
	clock   time.Duration // its clock, as the time since the start of 2000; 0 for the real time
	history int           // --history; 0 for the default
}

// atAnotherTime is the role of a hook whose clock is that in the environment variable clockVariable.
const (
	atAnotherTime = "hook at another time"
	clockVariable = "FSMTX_TEST_CLOCK"
)

// testTimeout is a lock timeout that only a hydration that hangs exceeds.
const testTimeout = 2 * time.Minute

func (c call) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", c.skill, c.scope, c.active))
}

// outcome is the result of a call.
type outcome struct {
	call
	code           int // -1 if a signal killed the process
	signal         syscall.Signal
	stdout, stderr string
	created        []string // names
	deleted        []string
	committed      bool
	steps          int      // of a scripted hook
	names          []string // in the list when the call had returned
}

// refused reports whether the hook refused to replace active tasks, as --active=refuse asks.
func (o outcome) refused() bool {
	return o.code == 2 && o.active == "refuse" && strings.Contains(o.stderr, "are under way")
}

// interrupted reports whether the script ended the hook by its signal.
func (o outcome) interrupted() bool {
	if o.script == nil || o.script.Signal == 0 {
		return false
	}
	return o.signal == o.script.Signal || o.code == 2 && strings.Contains(o.stderr, "signal received")
}

func (o outcome) String() string {
	return fmt.Sprintf("[%s: code %d signal %d committed %v created %v deleted %v: %s]", o.call, o.code, o.signal, o.committed, o.created,
		o.deleted, strings.TrimSpace(o.stderr))
}

// hook is the process of a call. It waits until send gives it its event.
type hook struct {
	call
	world          *world
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr output
	log            string
	resume         *os.File // closing it lets a scripted hook continue after its hold
}

// output keeps what a process prints and closes paused when the process reports that
// it holds.
type output struct {
	text   bytes.Buffer
	paused chan struct{}
	once   sync.Once
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.text.Write(p)
	if bytes.Contains(o.text.Bytes(), []byte(holdingLine)) {
		o.once.Do(func() { close(o.paused) })
	}
	return n, err
}

func (o *output) String() string { return o.text.String() }

// start starts a process, which waits for its event.
func (w *world) start(t *testing.T, c call) *hook {
	t.Helper()
	h := &hook{call: c, world: w, log: w.Path(fmt.Sprintf("log-%d", w.hooks.Add(1)))}
	h.stdout.paused, h.stderr.paused = make(chan struct{}), make(chan struct{})
	h.cmd = exec.Command(program.Path(t), h.args()...)
	h.cmd.Env = []string{"HOME=" + w.Dir, raceOptions}
	h.cmd.Stdout, h.cmd.Stderr = &h.stdout, &h.stderr
	if c.script != nil {
		h.setScript(t, *c.script)
	}
	if c.clock != 0 {
		h.cmd.Path = os.Args[0]
		h.cmd.Env = append(h.cmd.Env, roleVariable+"="+atAnotherTime, clockVariable+"="+c.clock.String())
	}
	var err error
	h.stdin, err = h.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, h.cmd.Start())
	return h
}

func (h *hook) setScript(t *testing.T, s script) {
	text, err := json.Marshal(s)
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	h.cmd.ExtraFiles, h.resume = []*os.File{r}, w
	h.cmd.Path = os.Args[0]
	h.cmd.Env = []string{"HOME=" + h.world.Dir, roleVariable + "=scripted hook", scriptVariable + "=" + string(text), raceOptions}
}

func (h *hook) args() []string {
	timeout := testTimeout
	if h.timeout != 0 {
		timeout = h.timeout
	}
	// Hydrations that replace: what comes under a step of another workflow is held to an order in
	// internal/hydrate.
	args := []string{"hydrate", "--nest", "off", "--log", h.log, "--lock-timeout", timeout.String()}
	if h.history != 0 {
		args = append(args, "--history", strconv.Itoa(h.history))
	}
	if h.scope != "" {
		args = append(args, "--scope", h.scope)
	}
	if h.active != "" {
		args = append(args, "--active", h.active)
	}
	return args
}

// send gives the hook its event, so that it starts to work.
func (h *hook) send() {
	e := map[string]any{
		"session_id": worlds.ListID, "cwd": h.world.Dir, "hook_event_name": "PostToolUse", "tool_name": "Skill",
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

// awaitHold waits until the scripted hook holds.
func (h *hook) awaitHold(t *testing.T) {
	t.Helper()
	select {
	case <-h.stdout.paused:
	case <-time.After(testTimeout):
		t.Fatalf("%s does not reach its hold: %s", h.call, h.stderr.String())
	}
}

// awaitLockAttempt waits until the hook has prepared one of the client's locks.
func (h *hook) awaitLockAttempt(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, err := os.ReadDir(h.world.StateDir() + "/locks")
		return err == nil && len(found) > 0
	}, testTimeout, time.Millisecond)
}

// wait waits for the process and returns its outcome.
func (h *hook) wait(t *testing.T) outcome {
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
	if h.script != nil {
		o.readReport(t)
		return o
	}
	o.readLog(t, h.log)
	return o
}

func (o *outcome) readLog(t *testing.T, path string) {
	var r decisions.Record
	data, err := os.ReadFile(path)
	if err != nil || o.signal != 0 && len(data) == 0 {
		return // the process ended before it wrote one
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Errorf("the log of %s: %v", o.call, err)
	}
	for numbers, names := range map[*[]int64]*[]string{&r.Created: &o.created, &r.Deleted: &o.deleted} {
		for _, n := range *numbers {
			*names = append(*names, strconv.FormatInt(n, 10)+".json")
		}
	}
	o.committed = r.Decision == "hydrated" || r.Decision == "nothing to do"
}

// run calls the hook and returns its outcome.
func (w *world) run(t *testing.T, c call) outcome {
	t.Helper()
	h := w.start(t, c)
	h.send()
	return h.wait(t)
}

// runAtOnce starts one hook for each call, sends all their events, and returns their
// outcomes.
func (w *world) runAtOnce(t *testing.T, calls []call) []outcome {
	t.Helper()
	hooks := make([]*hook, len(calls))
	for i, c := range calls {
		hooks[i] = w.start(t, c)
	}
	for _, h := range hooks {
		h.send()
	}
	outcomes := make([]outcome, len(calls))
	for i, h := range hooks {
		outcomes[i] = h.wait(t)
	}
	return outcomes
}
