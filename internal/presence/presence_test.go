package presence_test

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/txn"
)

// world is a home with a project and the list of a session.
type world struct {
	env  map[string]string
	list string
}

func newWorld(t *testing.T) *world {
	w := &world{env: map[string]string{"HOME": t.TempDir()}}
	list, err := tasklist.OfSession(w.lookup, "abc")
	require.NoError(t, err)
	w.list = list
	dir, err := txn.StateDir(list)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	return w
}

func (w *world) lookup(name string) (string, bool) { v, ok := w.env[name]; return v, ok }

// join records a client that is an agent of a program above this process.
func (w *world) join(t *testing.T, program string, pid int, dir string) {
	s := terminal.Streams{Getenv: w.lookup, Caller: func() caller.Caller {
		return caller.Caller{Kind: caller.Agent, Program: program, PID: pid}
	}}
	named := program
	if w.env["CLAUDE_PID"] = strconv.Itoa(pid); program != caller.Claude {
		named = "" // it is looked for above
	}
	presence.Join(t.Context(), presence.At(w.list), s, named, dir, false)
}

// sleeping starts a process.
func sleeping(t *testing.T) *exec.Cmd {
	c := exec.Command("sleep", "600")
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

func young() caller.Caller {
	return caller.Caller{Kind: caller.Person, Since: time.Now().Add(time.Hour)}
}

func TestAClientCountsAsLongAsItRuns(t *testing.T) {
	for _, program := range []string{caller.Claude, "codex"} {
		w := newWorld(t)
		got, _, _ := presence.Beside(young(), w.list)
		assert.False(t, got.Young, "nobody works on the list")
		client := sleeping(t)
		w.join(t, program, client.Process.Pid, "/src")
		got, by, _ := presence.Beside(young(), w.list)
		assert.True(t, got.Young)
		assert.Equal(t, state.Client{PID: client.Process.Pid, Start: by.Start, Program: program, Dir: "/src"}, by)
		older := caller.Caller{Kind: caller.Person, Since: caller.Began(os.Getpid()).Add(-time.Hour)}
		got, _, _ = presence.Beside(older, w.list)
		assert.False(t, got.Young, "the client cannot have started it")
		got, _, _ = presence.Beside(young(), w.list+"-other")
		assert.False(t, got.Young, "of another list")

		require.NoError(t, client.Process.Kill()) // and not reaped
		require.Eventually(t, func() bool { got, _, _ := presence.Beside(young(), w.list); return !got.Young }, time.Minute, time.Millisecond)
	}
}

// TestSeveralClientsOfAList: each counts, and those that have ended are forgotten when another comes.
func TestSeveralClientsOfAList(t *testing.T) {
	w := newWorld(t)
	first := sleeping(t)
	w.join(t, "codex", first.Process.Pid, "/src")
	w.join(t, "gemini", os.Getpid(), "/src")
	w.join(t, "gemini", os.Getpid(), "/src")
	assert.Len(t, presence.Of(w.list).Clients, 2)
	_ = first.Process.Kill()
	_ = first.Wait()
	w.join(t, "qwen", os.Getppid(), "/src")
	assert.Len(t, presence.Of(w.list).Clients, 2)
	c, ok := presence.Of(w.list).Latest("gemini")
	assert.True(t, ok)
	assert.Equal(t, os.Getpid(), c.PID)
	_, ok = presence.Of(w.list).Latest("codex")
	assert.False(t, ok)
}

// TestAListWithoutAStateDirectoryGetsNone.
func TestAListWithoutAStateDirectoryGetsNone(t *testing.T) {
	w := newWorld(t)
	w.list += "-new"
	w.join(t, "codex", os.Getpid(), "/src")
	assert.Zero(t, presence.Of(w.list))
	dir, err := txn.StateDir(w.list)
	require.NoError(t, err)
	assert.NoDirExists(t, dir)
}

func TestTheWordIsTypedOnceForATerminalAndAList(t *testing.T) {
	w := newWorld(t)
	here := presence.TerminalOf(caller.Caller{Terminal: "/dev/pts/3", Leader: os.Getpid()})
	assert.False(t, presence.IsConfirmed(here, w.list))
	presence.Confirm(t.Context(), here, w.list)
	assert.True(t, presence.IsConfirmed(here, w.list))
	assert.False(t, presence.IsConfirmed(here, w.list, w.list+"-other"))
	later := presence.TerminalOf(caller.Caller{Terminal: "/dev/pts/3", Leader: os.Getppid()})
	assert.False(t, presence.IsConfirmed(later, w.list), "another session has that terminal now")
	assert.False(t, presence.IsConfirmed(state.Terminal{Path: "/dev/pts/3"}, w.list))
}

func TestADeedIsToldOnce(t *testing.T) {
	w := newWorld(t)
	d := state.Deed{Line: "fsmtx undo", Terminal: "/dev/pts/3", Time: time.Unix(1, 0).UTC()}
	presence.Did(t.Context(), d, w.list)
	assert.Equal(t, []state.Deed{d}, presence.Take(t.Context(), presence.At(w.list)))
	assert.Empty(t, presence.Take(t.Context(), presence.At(w.list)))
}

func TestListsOfAProject(t *testing.T) {
	w := newWorld(t)
	project := t.TempDir()
	assert.Empty(t, presence.Lists(w.lookup, project))
	w.join(t, "codex", os.Getpid(), project)
	assert.Equal(t, []string{w.list}, presence.Lists(w.lookup, project))
	assert.Empty(t, presence.Lists(w.lookup, t.TempDir()))
}
