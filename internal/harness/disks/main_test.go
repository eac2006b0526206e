//go:build disks && linux

package disks_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/medium"
	"github.com/fsmtx/fsmtx/internal/harness/overseer"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// states limits how many states of each operation are tried on each file system.
var states = flag.Int("states", 40, "try this many states of each operation, 0 for all")

// TestMain runs the tests in a process with its own mount namespace, which the kernel
// removes when the process ends. In the processes that the tests start it runs fsmtx.
func TestMain(m *testing.M) {
	overseer.Become()
	switch os.Getenv(roleVariable) {
	case "fsmtx":
		os.Exit(tools.Main(os.Args[1:], callers.Played()))
	case "tests":
		callers.Forget()
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go endWithParent()
		os.Exit(m.Run())
	}
	os.Exit(runTests())
}

// runTests returns the exit code of the tests.
func runTests() int {
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Env = append(os.Environ(), roleVariable+"=tests")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	alive, err := c.StdinPipe() // is closed when this process ends, however it ends
	if err == nil {
		err = c.Run()
		_ = alive.Close()
	}
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

// endWithParent ends the process when its parent has ended, or on a signal. The process
// must not simply be killed: it serves the mounted file system, so that a thread that waits
// for that file system would hang in the kernel, and then every program that syncs all file
// systems of the machine.
func endWithParent() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	gone := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		gone <- err
	}()
	select {
	case <-signals:
	case <-gone:
	}
	medium.Abort()
	os.Exit(1)
}
