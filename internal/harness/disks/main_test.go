//go:build disks && linux

package disks_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// states limits how many states are tried of each operation on each file system.
var states = flag.Int("states", 40, "try so many states of each operation, 0 for all")

// TestMain runs the tests in a process with mounts of its own, which end with it
// whatever happens, and is fsmtx in the processes that the tests start.
func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "fsmtx":
		os.Exit(command.Main(os.Args[1:], terminal.Process()))
	case "overseen":
		fmt.Fprintln(os.Stderr, beOverseen())
		os.Exit(1)
	case "tests":
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	os.Exit(runTests())
}

// runTests returns the exit code of the tests.
func runTests() int {
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Env = append(os.Environ(), roleVariable+"=tests")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err := c.Run()
	switch failed, exited := errors.AsType[*exec.ExitError](err); {
	case exited:
		return failed.ExitCode()
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		fmt.Println("disks: skipped: only root can have mounts of its own:", err)
	case err != nil:
		fmt.Println(err)
		return 1
	}
	return 0
}
