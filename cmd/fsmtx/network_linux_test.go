package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// role is a variable that makes this test program act as another one: "isolated" installs a
// filter that kills the process if it opens a socket, and then runs its arguments; "caller" opens a
// socket.
const role = "FSMTX_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "isolated":
		fmt.Fprintln(os.Stderr, runIsolated(os.Args[1:]))
		os.Exit(99)
	case "caller":
		_, err := net.Dial("udp", "127.0.0.1:9")
		fmt.Fprintln(os.Stderr, err)
		os.Exit(0)
	}
	callers.Forget()
	os.Exit(program.Run(m))
}

// runIsolated installs the filter and executes a program, in the role "caller" if it is this one. It
// returns only with an error. The filter applies to this thread and to every program that it executes
// or starts.
func runIsolated(args []string) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: unix.SYS_SOCKET},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return err
	}
	// Set and not appended: of two values of a variable a Go program sees the first.
	if err := os.Setenv(role, "caller"); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}

// TestNoCommandOpensASocket runs the commands for installation and inspection in a process
// that is killed if it opens a socket of any family.
func TestNoCommandOpensASocket(t *testing.T) {
	worlds.Long(t)
	home, project := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	run := func(args ...string) (string, *os.ProcessState) {
		c := exec.Command(self, args...)
		c.Dir = project
		c.Env = []string{role + "=isolated", "HOME=" + home, "PATH=" + program.Dir(t) + ":" + os.Getenv("PATH")}
		out, err := c.CombinedOutput()
		if err != nil {
			require.IsType(t, &exec.ExitError{}, err)
		}
		return string(out), c.ProcessState
	}
	out, state := run(self)
	if state.ExitCode() == 99 {
		t.Skipf("the kernel cannot filter system calls: %s", out)
	}
	status := state.Sys().(syscall.WaitStatus)
	require.True(t, status.Signaled() && status.Signal() == syscall.SIGSYS,
		"the filter must kill a process that opens a socket: %v %s", state, out)

	skill := filepath.Join(project, ".claude/skills/s")
	require.NoError(t, os.MkdirAll(skill, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: s\n---\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "fsm.json"), []byte(`[{"id": 1, "subject": "One"}]`), 0o644))
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, []string{"version"}}, {0, []string{"version", "--json"}}, {0, []string{"--version"}},
		{0, []string{"--help"}},
		{0, []string{"validate"}}, {0, []string{"locate"}},
		{0, []string{"install", "--print"}}, {0, []string{"install"}}, {0, []string{"install", "--check"}},
		{0, []string{"doctor"}}, {0, []string{"doctor", "--fix"}}, {0, []string{"recover"}}, {0, []string{"install", "--remove"}},
	} {
		out, state := run(append([]string{program.Path(t)}, c.args...)...)
		assert.Equal(t, c.code, state.ExitCode(), "fsmtx %v: %v %s", c.args, state, out)
	}
}
