//go:build disks && linux

package disks_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// syncs are the system calls that make something durable, changes the others that
// change files. An overseer decides on each.
var (
	syncs   = []int32{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_SYNCFS}
	changes = []int32{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FCHMOD, unix.SYS_MKDIRAT, unix.SYS_LINKAT,
		unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2}
)

func isSync(number int32) bool { return slices.Contains(syncs, number) }

// verdict is what happens to a system call.
type verdict int

const (
	proceed verdict = iota
	pretend         // it returns 0 and nothing is done
	die             // the process is killed before it
)

// overseer decides on a process's calls, one at a time, while the process waits.
type overseer func(number int32) verdict

// result is the end of a process.
type result struct {
	code   int // -1 if it was killed
	output string
}

// roleVariable names the environment variable with the role of this program in a child
// process: fsmtx, or the process that sets up the filter and then becomes fsmtx.
const roleVariable = "FSMTX_TEST_ROLE"

// runProgram runs fsmtx, which is this program, in a home directory. Its working
// directory is not on the drive: a fork waits for it, and this process cannot serve
// the drive while it forks.
func runProgram(home string, decide overseer, stdin string, args ...string) (result, error) {
	c := exec.Command("/proc/self/exe", args...)
	c.Env = []string{"HOME=" + home, roleVariable + "=fsmtx", "PATH=" + os.Getenv("PATH")}
	var out bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &out
	c.Args[0] = "fsmtx"
	var err error
	if decide == nil {
		err = c.Run()
	} else {
		err = runOverseen(c, decide)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return result{}, err
	}
	return result{c.ProcessState.ExitCode(), out.String()}, nil
}

func runOverseen(c *exec.Cmd, decide overseer) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	mine, its := os.NewFile(uintptr(pair[0]), "overseer"), os.NewFile(uintptr(pair[1]), "program")
	defer mine.Close()
	c.ExtraFiles = []*os.File{its}
	c.Env = append(c.Env, roleVariable+"=overseen")
	err = c.Start()
	its.Close()
	if err != nil {
		return err
	}
	seen := decide.watch(int(mine.Fd()), c.Process)
	if seen != nil {
		_ = c.Process.Kill()
	}
	ended := c.Wait()
	return errors.Join(seen, ended)
}

// notice is the kernel's struct seccomp_notif, answer its seccomp_notif_resp.
type (
	notice struct {
		id         uint64
		pid, flags uint32
		number     int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	answer struct {
		id    uint64
		value int64
		errno int32
		flags uint32
	}
)

// watch decides until the process has ended.
func (decide overseer) watch(socket int, p *os.Process) error {
	listener, err := receiveFile(socket)
	if err != nil {
		return fmt.Errorf("the program sent no listener: %w", err)
	}
	defer unix.Close(listener)
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			if poll[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
				return nil // no process has the filter any more
			}
			continue
		}
		var n notice
		if err := ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
			if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
				continue // the caller was killed, or has got a signal
			}
			return err
		}
		a := answer{id: n.id}
		switch decide(n.number) {
		case proceed:
			a.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		case die:
			if err := p.Kill(); err != nil {
				return err
			}
			return nil
		}
		if err := ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

func receiveFile(socket int) (int, error) {
	data, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, data, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(err, errors.New("it ended before it had one"))
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return files[0], nil
}

// beOverseen sets up the filter, sends its listener through descriptor 3, and executes
// this program again as fsmtx, to which the filter applies from its first instruction.
func beOverseen() error {
	runtime.LockOSThread() // the filter is a thread's
	watched := slices.Concat(syncs, changes)
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the call's number
	for i, number := range watched {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jt: uint8(len(watched) - i)})
	}
	filter = append(filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return err
	}
	_ = unix.Close(int(listener))
	unix.CloseOnExec(3)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, roleVariable+"=") })
	return syscall.Exec("/proc/self/exe", os.Args, append(env, roleVariable+"=fsmtx"))
}
