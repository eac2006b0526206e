// Package kernel lets a test see the system calls of a function, and answer them with an error
// that a healthy disk does not give.
package kernel

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Call is a system call that is about to be made.
type Call struct {
	Number uint64 // unix.SYS_FSYNC, say
	Args   [6]uint64
}

// Path returns the path of the descriptor in the first argument, which a directory that was removed
// has too.
func (c Call) Path() string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", int32(c.Args[0])))
	return strings.TrimSuffix(path, " (deleted)")
}

// Answering calls do on a thread of its own, and answer before each of its system calls of these
// numbers: the call fails with the error that answer returns, and is made if that is 0. Calls that do
// makes in other goroutines are not seen. It skips the test where the system does not allow that.
func Answering(t testing.TB, do func(), answer func(Call) unix.Errno, numbers ...uint32) {
	t.Helper()
	ready, done := make(chan int), make(chan error, 1)
	go onThread(func() {
		fd, err := listen(numbers)
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
			serve(fd, answer)
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

// listen makes the calling thread wait at each of these calls until it is answered on the descriptor.
func listen(numbers []uint32) (fd int, err error) {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}}
	for _, number := range numbers {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return 0, errno
	}
	return int(r), nil
}

// notification and response are the kernel's struct seccomp_notif and seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	nr, arch   uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// serve answers until the thread has ended.
func serve(fd int, answer func(Call) unix.Errno) {
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			return // nobody is left who could ask
		}
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue
		}
		r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := answer(Call{Number: uint64(n.nr), Args: n.args}); errno != 0 {
			r.flags, r.errno = 0, -int32(errno)
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	}
}
