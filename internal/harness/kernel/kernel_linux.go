// Package kernel lets a test see the system calls of a function, and answer them with an error
// that a healthy disk does not give.
package kernel

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/overseer"
)

// Call is a system call that is about to be made.
type Call struct{ overseer.Call }

// Path returns the path of the descriptor in the first argument, which a directory that was removed
// has too.
func (c Call) Path() string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", int32(c.Args[0])))
	return strings.TrimSuffix(path, " (deleted)")
}

// Answering calls do on a thread of its own, and answer before each of its system calls of these
// numbers: the call fails with the error that answer returns, and is made if that is 0. Calls that do
// makes in other goroutines are not seen. It skips the test where the system does not allow that.
func Answering(t testing.TB, do func(), answer func(Call) unix.Errno, numbers ...int32) {
	t.Helper()
	ready, done := make(chan int), make(chan error, 1)
	go onThread(func() {
		fd, err := overseer.Listen(numbers)
		if err != nil {
			done <- err
			return
		}
		defer close(done) // also if do ends the test
		ready <- fd
		do()
	})
	select {
	case err := <-done:
		t.Skipf("skipped: system calls cannot be watched here: %v", err)
	case fd := <-ready:
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = overseer.Decide(func(c overseer.Call) overseer.Verdict {
				if errno := answer(Call{c}); errno != 0 {
					return overseer.Fail(errno)
				}
				return overseer.Proceed
			}).Serve(fd, nil)
		}()
		<-done
		<-ended
		unix.Close(fd)
	}
}

// onThread calls do on a thread that ends with it, and with its filter. The first one of a program would not.
func onThread(do func()) {
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() {
		do()
		return
	}
	defer runtime.UnlockOSThread()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		onThread(do)
	}()
	<-ended
}
