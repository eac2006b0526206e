//go:build linux || darwin

package caller

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTmuxThatDoesNotAnswer: a person may be looking at the window, and the reason names tmux.
func TestTmuxThatDoesNotAnswer(t *testing.T) {
	_, err := attached("/bin/sh", "/nowhere", "/dev/pts/1", 0)
	require.EqualError(t, err, "tmux has not answered within 0s")
	_, failed := attached("/nowhere/tmux", "/nowhere", "/dev/pts/1", tmuxLimit)
	require.ErrorContains(t, failed, "tmux list-panes: ")

	unset := func(string) (string, bool) { return "", false }
	shell := process{pid: 300, parent: 200, uid: 1000, session: 300, group: 300, foreground: 300, comm: "sh", terminal: "/dev/pts/1"}
	server := process{pid: 200, parent: 1, uid: 1000, session: 200, comm: "tmux: server"}
	first := process{pid: 1, comm: "systemd"}
	chain := []process{shell, server, first}
	assert.Equal(t, Caller{Kind: Unknown, Why: "it could not be found out who looks at this window (tmux has not answered within 0s)"},
		judgeAll(chain, nil, err, unset, 1000))
	assert.NotContains(t, judgeAll(chain, nil, nil, unset, 1000).Why, "found out", "tmux has answered")
	looks := []process{shell, {pid: 400, parent: 1, uid: 1000, session: 400, comm: "sshd", terminal: "/dev/pts/1"}, first}
	assert.Equal(t, Person, judgeAll(chain, [][]process{looks}, err, unset, 1000).Kind, "one is known to look")
}

// In tmux it is a person if one looks at the window, and unknown otherwise.
func TestAWindowOfTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("skipped: tmux is not installed")
	}
	if own := Of(func(string) (string, bool) { return "", false }); own.Kind == Agent || own.Kind == Unknown {
		t.Skipf("skipped: these tests run where nobody is a person: %s", own.Why)
	}
	dir, err := os.MkdirTemp("", "tmux") // the path of a socket is short
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	socket, script, out := filepath.Join(dir, "s"), filepath.Join(dir, "run.sh"), filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nFSMTX_TEST_SAY=1 '"+self(t)+"' > '"+out+"' 2>&1\nsleep 600\n"), 0o755))
	require.NoError(t, syscall.Mkfifo(out, 0o600))
	env := []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm", "HOME=" + dir, "LANG=C.UTF-8"}
	run := func(args ...string) {
		c := exec.Command(tmux, append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		c.Env = env
		text, err := c.CombinedOutput()
		require.NoError(t, err, "%s", text)
	}
	said := func() []string {
		text, err := os.ReadFile(out) // waits for the script
		require.NoError(t, err)
		return parsed(t, string(text))
	}
	run("new-session", "-d", "-s", "one", script)
	defer run("kill-server")
	assert.Equal(t, "unknown", said()[0], "nobody looks")

	c := exec.Command(tmux, "-S", socket, "attach", "-t", "one")
	c.Env = env
	master, err := pty.StartWithSize(c, &pty.Winsize{Rows: 25, Cols: 80})
	require.NoError(t, err)
	defer func() { _ = c.Process.Kill(); _ = c.Wait(); master.Close() }()
	first := make([]byte, 1)
	_, err = io.ReadFull(master, first) // it is attached
	require.NoError(t, err)
	go io.Copy(io.Discard, master)
	run("respawn-pane", "-k", "-t", "one", script)
	got := said()
	assert.Equal(t, "person", got[0], got)
	run("new-window", "-d", "-t", "one", script)
	assert.Equal(t, "unknown", said()[0], "another window is shown")
}
