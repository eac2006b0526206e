package crash_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is a system call that succeeded and that concerns the traced directory: one of
// its arguments points to a path in it, or it operates on a file that such a call has
// opened.
type call struct {
	name  string // "system call N" for one that this file does not know
	path  string // the first path, or the open file's
	to    string // the second path
	flags uint64 // of openat
	size  uint64 // what write returned
}

// known has the names of the calls that exist on every architecture.
var known = map[uint64]string{
	unix.SYS_OPENAT: "openat", unix.SYS_RENAMEAT: "rename", unix.SYS_RENAMEAT2: "rename", unix.SYS_LINKAT: "link",
	unix.SYS_UNLINKAT: "unlink", unix.SYS_MKDIRAT: "mkdir", unix.SYS_SYMLINKAT: "symlink",
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "write", unix.SYS_WRITEV: "write", unix.SYS_FTRUNCATE: "ftruncate",
	unix.SYS_FCHMOD: "fchmod", unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_SYNC_FILE_RANGE: "sync_file_range",
	unix.SYS_SYNCFS: "syncfs", unix.SYS_CLOSE: "close",
}

// onFile has the calls whose first argument is a descriptor.
const onFile = " write ftruncate fchmod fsync fdatasync sync_file_range syncfs close "

// errNoTrace is returned when the system does not allow a process to trace another in
// the necessary way.
var errNoTrace = errors.New("a process cannot be traced here")

// tracer follows all threads of a process.
type tracer struct {
	dir   string
	open  map[uint64]string // paths by descriptor
	begun map[int]started   // by thread
	calls []call
	all   int // calls of the process, but for those that the scheduler and the memory of Go make when they please
}

// ofRuntime are the calls whose number depends on how busy the machine is.
var ofRuntime = map[uint64]bool{
	unix.SYS_FUTEX: true, unix.SYS_NANOSLEEP: true, unix.SYS_SCHED_YIELD: true, unix.SYS_CLONE: true, unix.SYS_CLONE3: true,
	unix.SYS_MMAP: true, unix.SYS_MUNMAP: true, unix.SYS_MADVISE: true, unix.SYS_EPOLL_PWAIT: true, unix.SYS_SIGALTSTACK: true,
	unix.SYS_RT_SIGACTION: true, unix.SYS_RT_SIGPROCMASK: true, unix.SYS_RT_SIGRETURN: true, unix.SYS_RESTART_SYSCALL: true,
	unix.SYS_GETTID: true, unix.SYS_GETPID: true, unix.SYS_TGKILL: true, unix.SYS_EXIT: true,
}

// started is a call that has not returned.
type started struct {
	call
	file uint64 // the descriptor it works on
}

// trace runs the command and returns its calls that concern dir, in order.
func trace(c *exec.Cmd, dir string) ([]call, error) {
	t, err := traced(c, dir)
	if err != nil {
		return nil, err
	}
	return t.calls, nil
}

// countCalls runs the command and returns how many calls it makes, without ofRuntime.
func countCalls(c *exec.Cmd) (int, error) {
	t, err := traced(c, "/nowhere")
	if err != nil {
		return 0, err
	}
	return t.all, nil
}

func traced(c *exec.Cmd, dir string) (*tracer, error) {
	runtime.LockOSThread() // one thread traces, not a process
	defer runtime.UnlockOSThread()
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("%w: %w", errNoTrace, err)
	} else if err != nil {
		return nil, err
	}
	defer c.Process.Release()
	t := &tracer{dir: dir, open: map[uint64]string{}, begun: map[int]started{}}
	if err := t.follow(c.Process.Pid); err != nil {
		_ = c.Process.Kill()
		return nil, err
	}
	return t, nil
}

// follow lets the process run from call to call until it ends.
func (t *tracer) follow(pid int) error {
	if _, err := wait(pid); err != nil { // it stops when its program begins
		return err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return fmt.Errorf("%w: %w", errNoTrace, err)
	}
	for thread, signal := pid, 0; ; {
		if err := unix.PtraceSyscall(thread, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
		stop, err := waitAny()
		for ; err == nil && stop.status.Exited() && stop.pid != pid; stop, err = waitAny() {
		}
		if err != nil {
			return err
		}
		if stop.status.Exited() || stop.status.Signaled() {
			return exitError(stop.status)
		}
		thread, signal = stop.pid, 0
		switch s := stop.status.StopSignal(); s {
		case unix.SIGTRAP | 0x80: // a call begins or ends
			err = t.stopped(thread)
		case unix.SIGTRAP, unix.SIGSTOP: // a thread was made or begins
		default:
			signal = int(s)
		}
		if err != nil {
			return err
		}
	}
}

func exitError(status unix.WaitStatus) error {
	if status.Exited() && status.ExitStatus() == 0 {
		return nil
	}
	return fmt.Errorf("the traced process ended with status %#x", int(status))
}

type stop struct {
	pid    int
	status unix.WaitStatus
}

// waitAny waits for what this thread traces, and not for the children of other tests.
func waitAny() (stop, error) { return wait(-1) }

func wait(pid int) (s stop, err error) {
	for {
		s.pid, err = unix.Wait4(pid, &s.status, unix.WALL|unix.WNOTHREAD, nil)
		if !errors.Is(err, unix.EINTR) {
			return s, err
		}
	}
}

// syscallInfo is the kernel's struct ptrace_syscall_info, which is the same on
// every architecture, where registers are not.
type syscallInfo struct {
	op     uint8
	_      [7]byte
	_      [2]uint64
	number uint64    // at the end the result
	args   [6]uint64 // at the end one byte: whether it failed
}

func (t *tracer) stopped(thread int) error {
	var info syscallInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(thread), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("%w: PTRACE_GET_SYSCALL_INFO: %w", errNoTrace, errno)
	}
	switch info.op {
	case unix.PTRACE_SYSCALL_INFO_ENTRY:
		if !ofRuntime[info.number] {
			t.all++
		}
		if s, concerns := t.begin(thread, info.number, info.args); concerns {
			t.begun[thread] = s
		}
	case unix.PTRACE_SYSCALL_INFO_EXIT:
		s, ok := t.begun[thread]
		delete(t.begun, thread)
		if failed := *(*byte)(unsafe.Pointer(&info.args[0])) != 0; ok && !failed {
			t.end(s, info.number)
		}
	}
	return nil
}

func (t *tracer) begin(thread int, number uint64, args [6]uint64) (s started, concerns bool) {
	s.name = known[number]
	if number == lstat() {
		return s, false
	}
	if s.name == "" {
		s.name = fmt.Sprint("system call ", number)
	}
	if strings.Contains(onFile, " "+s.name+" ") {
		s.path, concerns = t.open[args[0]]
		s.file = args[0]
		return s, concerns
	}
	for i, arg := range args {
		path := readPath(thread, arg)
		if dir, ok := t.open[args[0]]; ok && i == 1 && s.name == "openat" && path != "" && !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		switch {
		case !strings.HasPrefix(path, t.dir):
		case s.path == "":
			s.path = path
		default:
			s.to = path
		}
	}
	s.flags = args[2]
	return s, s.path != ""
}

// lstat is the number of the call that os.Lstat makes. It changes nothing.
func lstat() uint64 {
	if runtime.GOARCH == "amd64" {
		return 262
	}
	return 79 // in the table that all newer architectures share
}

func (t *tracer) end(s started, result uint64) {
	switch s.name {
	case "openat":
		t.open[result] = s.path
	case "close":
		delete(t.open, s.file)
	case "write":
		s.size = result
	}
	t.calls = append(t.calls, s.call)
}

// readPath returns the string at an address of the traced process, or "".
func readPath(thread int, address uint64) string {
	const page = 4096
	var buf [512]byte
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	first := min(len(buf), page-int(address%page))
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: first}, {Base: uintptr(address) + uintptr(first), Len: len(buf) - first}}
	n, _ := unix.ProcessVMReadv(thread, local, remote, 0)
	text, _, ended := bytes.Cut(buf[:max(n, 0)], []byte{0})
	if !ended {
		return ""
	}
	return string(text)
}
