package overseer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrUnavailable is returned by Run when this system has no seccomp filters that notify.
var ErrUnavailable = errors.New("this system allows no seccomp filter that notifies another process")

// Syncs are the calls that make something durable, Changes the others that change files.
var (
	Syncs   = []int32{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_SYNCFS}
	Changes = []int32{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FCHMOD, unix.SYS_MKDIRAT, unix.SYS_LINKAT,
		unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2}
)

// Call is a system call ahead of which the process waits.
type Call struct {
	Number int32
	Args   [6]uint64
}

// Verdict is what happens to a call.
type Verdict struct {
	act   int
	errno unix.Errno
}

const (
	proceed = iota
	answer
	die
)

var (
	Proceed = Verdict{act: proceed} // it is made
	Pretend = Verdict{act: answer}  // it returns 0, and nothing is done
	Die     = Verdict{act: die}     // the process is killed before it
)

// Fail is the verdict with which a call returns an error, and nothing is done.
func Fail(errno unix.Errno) Verdict { return Verdict{act: answer, errno: errno} }

// Decide decides on the watched calls of a process, one at a time.
type Decide func(Call) Verdict

// variable has the numbers of the watched calls, for Become.
const variable = "FSMTX_TEST_OVERSEEN"

// Run runs a command, which must be this program and call Become, and decides on those of its
// calls that are watched. Its other errors are those of exec.Cmd.Run.
func Run(c *exec.Cmd, watched []int32, decide Decide) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	mine, its := os.NewFile(uintptr(pair[0]), "overseer"), os.NewFile(uintptr(pair[1]), "program")
	defer mine.Close()
	c.ExtraFiles = []*os.File{its}
	c.Env = append(c.Env, variable+"="+encode(watched))
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

func encode(numbers []int32) string {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, strconv.Itoa(int(n)))
	}
	return strings.Join(texts, ",")
}

func decode(text string) (numbers []int32, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, int32(n))
	}
	return numbers, nil
}

// notice is the kernel's struct seccomp_notif, response its seccomp_notif_resp.
type (
	notice struct {
		id         uint64
		pid, flags uint32
		number     int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	response struct {
		id    uint64
		value int64
		errno int32 // negative
		flags uint32
	}
)

// watch decides until the process has ended.
func (decide Decide) watch(socket int, p *os.Process) error {
	listener, err := receiveFile(socket)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer unix.Close(listener)
	return decide.Serve(listener, p.Kill)
}

// Serve decides on the calls of whoever has the filter of a listener, until nobody has it. Die calls
// kill and ends it.
func (decide Decide) Serve(listener int, kill func() error) error {
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
		r := response{id: n.id}
		switch v := decide(Call{n.number, n.args}); v.act {
		case proceed:
			r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		case answer:
			r.errno = -int32(v.errno)
		case die:
			return kill()
		}
		if err := ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)); err != nil && !errors.Is(err, unix.ENOENT) {
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
		return 0, errors.Join(err, errors.New("the program ended before it had one"))
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return files[0], nil
}

// Become does nothing in a process that Run has not started. In one that it has, it sets up the
// filter, sends its listener through descriptor 3, and executes this program again, to which
// the filter applies from its first instruction.
func Become() {
	watched, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	fmt.Fprintln(os.Stderr, become(watched))
	os.Exit(1)
}

func become(text string) error {
	watched, err := decode(text)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the filter is a thread's
	listener, err := Listen(watched)
	if err != nil {
		return err
	}
	// With sendmsg, for the listener's own calls must not be among the watched ones.
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
		return err
	}
	_ = unix.Close(listener)
	unix.CloseOnExec(3)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, variable+"=") })
	return syscall.Exec("/proc/self/exe", os.Args, env)
}

// Listen makes the calling thread, and what it starts, wait at each watched call until Serve has decided
// about it. It returns the listener.
func Listen(watched []int32) (listener int, err error) {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the call's number
	for i, number := range watched {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jt: uint8(len(watched) - i)})
	}
	filter = append(filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}
