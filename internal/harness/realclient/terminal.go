//go:build unix

package realclient

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// Terminal is a program in a pseudo-terminal, at which a test plays the person.
type Terminal struct {
	model *fakemodel.Server // nil unless the program is the client

	s      *Sandbox
	c      *exec.Cmd
	master *os.File

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when there is more output
	out     bytes.Buffer
	ended   bool
}

// Attend starts the client in a pseudo-terminal, as a person does, with the answers of the
// script for its model. The project is trusted already. The client ends with the test.
func (s *Sandbox) Attend(script fakemodel.Script, args ...string) *Terminal {
	s.t.Helper()
	m, err := fakemodel.Start(script)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { m.Close() })
	s.trust()
	args = append([]string{"--model", s.Model, "--session-id", s.Session}, args...)
	t := s.terminal(m.URL(), s.program, args)
	t.model = m
	return t
}

// trust answers the questions that the client asks at its first start.
func (s *Sandbox) trust() {
	type object = map[string]any
	text, err := json.Marshal(object{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 10, "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": object{"approved": []string{"no-key"}, "rejected": []string{}},
		"projects":              object{s.Project: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	require.NoError(s.t, err)
	s.Write("home/.claude.json", string(text))
}

// Sit starts a program in a pseudo-terminal of its own, without the client, as a person does.
func (s *Sandbox) Sit(program string, args ...string) *Terminal {
	s.t.Helper()
	return s.terminal("http://127.0.0.1:9", program, args, callers.Environ(caller.Person))
}

func (s *Sandbox) terminal(url, program string, args []string, more ...string) *Terminal {
	s.t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Env = s.Project, append(append(s.environ(url), "TERM=xterm-256color"), more...)
	master, err := pty.StartWithSize(c, &pty.Winsize{Rows: 50, Cols: 200})
	require.NoError(s.t, err)
	t := &Terminal{s: s, c: c, master: master, changed: make(chan struct{})}
	read := make(chan struct{})
	go func() { defer close(read); t.read() }()
	s.t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // pty makes it a session, and so a group
		_ = master.Close()
		<-read
		_ = c.Wait()
		if s.t.Failed() {
			s.t.Logf("the terminal:\n%s", t.Text())
		}
	})
	return t
}

func (t *Terminal) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buffer)
		t.mu.Lock()
		t.out.Write(buffer[:n])
		t.ended = err != nil
		close(t.changed)
		t.changed = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Type sends keys to the program.
func (t *Terminal) Type(keys string) {
	t.s.t.Helper()
	_, err := t.master.WriteString(keys)
	require.NoError(t.s.t, err)
}

// Enter types a line as a person does: the client takes what arrives at once for pasted
// text, in which a line feed does not send the line. So it waits until the line is shown.
func (t *Terminal) Enter(line string) {
	t.s.t.Helper()
	from := t.Here()
	t.Type(line)
	t.See(from, line)
	t.Type("\r")
}

// Here returns the present end of the output, for See.
func (t *Terminal) Here() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Len()
}

// See waits until the program has shown the text since from, and returns what it has shown.
// White space is ignored, because the client draws it by moving the cursor.
func (t *Terminal) See(from int, text string) string {
	t.s.t.Helper()
	return t.see(from, text, "")
}

// Answer types keys until the program has shown the text since from, and returns what it has
// shown. The client ignores keys for a moment after it has drawn a dialog, and draws nothing
// when that is over. A slow client reads some of them later: see Clear.
func (t *Terminal) Answer(from int, keys, text string) string {
	t.s.t.Helper()
	return t.see(from, text, keys)
}

// Clear waits until the client has read what Answer typed once too often, and empties its prompt. An escape that it has not
// read would be one key with the next letter.
func (t *Terminal) Clear() {
	t.s.t.Helper()
	t.Answer(t.Here(), "§", "§")
	from := t.Here()
	t.Type("\x15") // control and u
	t.See(from, "for shortcuts")
}

// again is the time after which Answer types its keys once more, and doubles: a client that is slow reads them all, and two
// escapes mean something else than one.
const again = time.Second

func (t *Terminal) see(from int, text, keys string) (shown string) {
	t.s.t.Helper()
	t.until(fmt.Sprintf("show %q", text), keys, func(ended bool) bool {
		shown = plain(t.out.Bytes()[from:])
		seen := strings.Contains(dense(shown), dense(text))
		if ended && !seen {
			require.Failf(t.s.t, "the program has ended", "without showing %q", text)
		}
		return seen
	})
	return shown
}

// until waits until the output is as it has to be, and types keys again and again unless they are empty.
func (t *Terminal) until(what, keys string, is func(ended bool) bool) {
	t.s.t.Helper()
	pause := again
	retype := time.NewTimer(pause)
	defer retype.Stop()
	deadline := time.NewTimer(t.s.limit)
	defer deadline.Stop()
	t.Type(keys)
	for {
		reached, changed := t.look(is)
		if reached {
			return
		}
		select {
		case <-changed:
		case <-retype.C:
			t.Type(keys)
			pause *= 2
			retype.Reset(pause)
		case <-deadline.C:
			require.Failf(t.s.t, "the terminal", "did not %s in %v", what, t.s.limit)
		}
	}
}

func (t *Terminal) look(is func(ended bool) bool) (reached bool, changed chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock() // also if is ends the test
	return is(t.ended), t.changed
}

// Text returns everything that was shown.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return plain(t.out.Bytes())
}

// controls are the sequences with which programs move the cursor and choose colours.
var controls = regexp.MustCompile("\x1b(?:\\[[0-9;?<>=]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|" +
	"[P_^X][^\x1b]*\x1b\\\\|[()][A-Za-z0-9]|[=>78cDEHMNOZ])")

func plain(out []byte) string { return controls.ReplaceAllString(string(out), " ") }

func dense(text string) string { return strings.Join(strings.Fields(text), "") }

// Wait waits until the program has ended and everything is read, and returns its exit code.
func (t *Terminal) Wait() int {
	t.s.t.Helper()
	t.until("end", "", func(ended bool) bool { return ended })
	_ = t.c.Wait()
	return t.c.ProcessState.ExitCode()
}

// Run returns what the model was asked so far and what it answered, as a run of the client
// without the client's own output.
func (t *Terminal) Run() *Run { return &Run{Record: t.model.Record(), t: t.s.t} }
