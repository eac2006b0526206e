//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/orphans"
)

// Become replaces this process by a program. It returns only with an error.
func Become(path string, args []string) error { return syscall.Exec(path, args, os.Environ()) }

// alone makes a command the leader of a process group of its own.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// group is a command with what it has started.
type group struct {
	leader int
	whole  *orphans.Command // nil if it need not end whole
}

func begin(cmd *exec.Cmd, whole bool) (g *group, err error) {
	cmd.SysProcAttr, g = alone(), &group{}
	if whole {
		g.whole, err = orphans.Start(cmd)
	} else {
		err = cmd.Start()
	}
	if err == nil {
		g.leader = cmd.Process.Pid
	}
	return g, err
}

// ask tells the group to end.
func (g *group) ask() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }

func (g *group) kill() { KillGroup(g.leader) }

func (g *group) runs() bool { return syscall.Kill(-g.leader, 0) == nil }

// look notes what has left the group so far.
func (g *group) look() {
	if g.whole != nil {
		g.whole.Look()
	}
}

// end ends what has left the group, after a deadline by force, and returns what could not be ended.
func (g *group) end(deadline time.Time) []string {
	if g.whole == nil {
		return nil
	}
	return g.whole.End(deadline)
}

// release notes that the command has ended. What it has left running stays.
func (g *group) release() {
	if g.whole != nil {
		g.whole.Release()
	}
}

// KillGroup ends the group of a command whose caller has died.
func KillGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// Exists reports whether there is a process.
func Exists(pid int) bool { return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// signalOf returns the signal that ended a process, empty if it exited.
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}

// newPipe returns a pipe to or from a command. This program's end takes deadlines.
func newPipe(bool) (r, w *os.File, err error) { return os.Pipe() }

// unnamedFile returns an open, unlinked file with the content, at its beginning.
func unnamedFile(content []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "hook-input-*")
	if err != nil {
		return nil, err
	}
	_, writeErr := f.Write(content)
	_, seekErr := f.Seek(0, 0)
	if err := errors.Join(os.Remove(f.Name()), writeErr, seekErr); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// drain reads what is in the pipe when the deadline passes. On a busy machine that may be the
// whole output of a hook, and the output may be a block.
func (s *stream) drain() {
	raw, err := s.pipe.SyscallConn()
	if err != nil || s.pipe.SetReadDeadline(time.Time{}) != nil {
		return
	}
	buf := make([]byte, 1<<20) // the largest pipe of an unprivileged process
	_ = raw.Read(func(fd uintptr) bool {
		for room := buf; len(room) > 0; {
			n, err := syscall.Read(int(fd), room)
			if n <= 0 || err != nil {
				break
			}
			_, _ = s.Write(room[:n])
			room = room[n:]
		}
		return true
	})
}
