package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Become runs a program in the place of this process, which waits for it and ends as it does. It returns only with an error.
func Become(path string, args []string) error {
	signal.Ignore(os.Interrupt) // the console tells both
	cmd := exec.Command(path, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if _, err := start(cmd, &syscall.SysProcAttr{}); err != nil {
		return err
	}
	_ = cmd.Wait() // the exit code says it
	os.Exit(cmd.ProcessState.ExitCode())
	return nil
}

// alone keeps ^C from a command, and a window from opening for it.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// group is a command with all that it has started: a job, which nothing in it can leave. It ends with this program, however that ends.
type group struct{ job windows.Handle }

func begin(cmd *exec.Cmd, _ bool) (*group, error) { return start(cmd, alone()) }

// start starts a command, suspended until it is in its job.
func start(cmd *exec.Cmd, as *syscall.SysProcAttr) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a job: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)),
		uint32(unsafe.Sizeof(limits)))
	if err == nil {
		cmd.SysProcAttr = as
		cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED
		err = cmd.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	g := &group{job}
	if err := g.take(uint32(cmd.Process.Pid)); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("putting it into a job: %w", err)
	}
	return g, nil
}

// take puts a suspended process into the job and lets it run.
func (g *group) take(pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(g.job, h); err != nil {
		return err
	}
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(threads)
	entry := windows.ThreadEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Thread32First(threads, &entry); err == nil; err = windows.Thread32Next(threads, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		t, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(t)
		return errors.Join(err, windows.CloseHandle(t))
	}
	return err
}

// ask tells the group to end: here there is no asking for what has no window.
func (g *group) ask() { g.kill() }

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, killed) }

// killed is the exit code of what kill ends.
const killed = 137

func (g *group) runs() bool {
	var now struct {
		times, periods                    [2]int64
		faults, total, active, terminated uint32
	}
	err := windows.QueryInformationJobObject(g.job, 1, uintptr(unsafe.Pointer(&now)), uint32(unsafe.Sizeof(now)), nil)
	return err == nil && now.active > 0
}

func (g *group) look() {}

// end returns nothing: all ends with the job.
func (g *group) end(time.Time) []string { return nil }

// release lets what the command has left running go on, and gives up the job.
func (g *group) release() {
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	_, _ = windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)),
		uint32(unsafe.Sizeof(limits)))
	_ = windows.CloseHandle(g.job)
}

// KillGroup does nothing: a command ends with its caller, see group.
func KillGroup(int) {}

// Exists reports whether there is a process.
func Exists(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(max(pid, 0)))
	if err != nil {
		return pid > 0 && errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h)
	state, err := windows.WaitForSingleObject(h, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// signalOf returns nothing: here processes exit.
func signalOf(*os.ProcessState) string { return "" }

// newPipe returns a pipe to or from a command. This program's end takes deadlines, which those of os.Pipe do not.
func newPipe(toCommand bool) (r, w *os.File, err error) {
	name := fmt.Sprintf(`\\.\pipe\fsmtx-%d-%x`, os.Getpid(), rand.Uint64())
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, nil, err
	}
	mine, others := uint32(windows.PIPE_ACCESS_INBOUND), uint32(windows.GENERIC_WRITE)
	if toCommand {
		mine, others = windows.PIPE_ACCESS_OUTBOUND, windows.GENERIC_READ
	}
	server, err := windows.CreateNamedPipe(path, mine|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, 1, 1<<16, 1<<16, 0, nil)
	if err != nil {
		return nil, nil, os.NewSyscallError("CreateNamedPipe", err)
	}
	client, err := windows.CreateFile(path, others, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return nil, nil, errors.Join(os.NewSyscallError("CreateFile", err), windows.CloseHandle(server))
	}
	r, w = os.NewFile(uintptr(server), name), os.NewFile(uintptr(client), name)
	if toCommand {
		r, w = w, r
	}
	return r, w, nil
}

// unnamedFile returns an open file with the content, at its beginning, that is removed with its last handle.
func unnamedFile(content []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "hook-input-*")
	if err != nil {
		return nil, err
	}
	name, err := windows.UTF16PtrFromString(f.Name())
	if err == nil {
		_, err = f.Write(content)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.DELETE, windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("CreateFile", err), os.Remove(f.Name()))
	}
	return os.NewFile(uintptr(h), f.Name()), nil
}

// drain does nothing: a read that the deadline ends has taken what was there.
func (s *stream) drain() {}
