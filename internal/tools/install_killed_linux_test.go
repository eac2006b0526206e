package tools_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// An install that is killed before any of its system calls that change something leaves a
// complete file, and a later install --remove removes everything else that it left, but for empty
// directories that it had created and a temporary file.
func TestAKilledInstallCanBeRemoved(t *testing.T) {
	worlds.Long(t)
	install, remove := []string{"install", "--user", "--mcp"}, []string{"install", "--user", "--remove"}
	for name, c := range map[string]struct {
		config string
		file   string // settings.json before, if there is one
		killed []string
		before [][]string // commands that are run first
	}{
		"install into no directory": {"a/b/c", "", install, nil},
		"install into a file":       {"c", "{\n  \"model\": \"x\"\n}\n", install, nil},
		"update":                    {"a/c", "", []string{"install", "--user", "--no-steps"}, [][]string{install}},
		"remove with directories":   {"a/b/c", "", remove, [][]string{install}},
		"remove from a file":        {"c", "\ufeff{\n  \"model\": \"x\"\n}\n", remove, [][]string{install}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := map[string]bool{"": true, c.file: true}
			for n := 1; ; n++ {
				root, err := os.MkdirTemp(inMemory(), "killed")
				require.NoError(t, err)
				defer os.RemoveAll(root)
				config := filepath.Join(root, c.config)
				if c.file != "" {
					require.NoError(t, os.MkdirAll(config, 0o755))
					require.NoError(t, os.WriteFile(filepath.Join(config, "settings.json"), []byte(c.file), 0o640))
				}
				original := filesBelow(t, root)
				run := func(args ...string) *exec.Cmd {
					p := exec.Command("fsmtx", args...)
					p.Env = []string{"CLAUDE_CONFIG_DIR=" + config, "HOME=" + filepath.Dir(config), "PATH=" + os.Getenv("PATH"),
						"GORACE=" + os.Getenv("GORACE")}
					return p
				}
				for _, args := range c.before {
					out, err := run(args...).CombinedOutput()
					require.NoError(t, err, "%s", out)
				}
				whole[settingsIn(config)] = true
				ended, err := killBefore(run(c.killed...), n, unix.SIGKILL)
				if errors.Is(err, errNoTrace) {
					t.Skipf("skipped: %v", err)
				}
				require.NoError(t, err)
				if left := settingsIn(config); ended {
					require.Greater(t, n, 5, "it ended before it did anything")
					t.Logf("killed before %d calls", n-1)
					return
				} else if !whole[left] {
					require.True(t, jsonEnds(left), "before call %d the file is %q", n, left)
				}
				if n%2 == 0 {
					inConfig(t, config, install...)
				}
				inConfig(t, config, remove...)
				require.Equal(t, original, filesBelow(t, root), "killed before call %d", n)
			}
		})
	}
}

// filesBelow is below without the directories and temporary files.
func filesBelow(t *testing.T, root string) []string {
	return slices.DeleteFunc(below(t, root), func(line string) bool {
		_, mode, _ := strings.Cut(line, " ")
		return strings.HasPrefix(mode, "d") || strings.Contains(line, ".fsmtx-write-")
	})
}

// settingsIn returns the settings, empty if there are none.
func settingsIn(config string) string {
	data, _ := os.ReadFile(filepath.Join(config, "settings.json"))
	return string(data)
}

// jsonEnds reports whether the text ends like a complete settings file.
func jsonEnds(text string) bool {
	n := len(text)
	return n > 1 && (text[n-1] == '}' || text[n-2:] == "}\n")
}

var errNoTrace = errors.New("a process cannot be traced here")

// changing are the calls that change a file or a directory, or wait for the disk.
var changing = []uint64{unix.SYS_OPENAT, unix.SYS_WRITE, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_UNLINKAT,
	unix.SYS_MKDIRAT, unix.SYS_FTRUNCATE, unix.SYS_FCHMOD, unix.SYS_FCHOWN, unix.SYS_FSETXATTR, unix.SYS_FSYNC, unix.SYS_FLOCK}

// killBefore runs the program and sends it the signal before its nth call that changes something. It
// reports whether the program ended before that call.
func killBefore(c *exec.Cmd, n int, sent unix.Signal) (ended bool, err error) {
	runtime.LockOSThread() // the tracer is a thread, not a process
	defer runtime.UnlockOSThread()
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		return false, fmt.Errorf("%w: %w", errNoTrace, err)
	}
	defer c.Process.Release()
	pid := c.Process.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		return false, err
	}
	if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL); err != nil {
		return false, fmt.Errorf("%w: %w", errNoTrace, err)
	}
	for thread, signal := pid, 0; ; {
		if err := unix.PtraceSyscall(thread, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return false, err
		}
		for {
			thread, err = unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
			if err != nil && !errors.Is(err, unix.EINTR) {
				return false, err
			}
			if err == nil && (thread == pid || !status.Exited() && !status.Signaled()) {
				break
			}
		}
		if status.Exited() || status.Signaled() {
			if n <= 0 {
				return false, nil
			}
			if status.ExitStatus() != 0 {
				return true, fmt.Errorf("it ended with status %#x", int(status))
			}
			return true, nil
		}
		signal = 0
		switch s := status.StopSignal(); s {
		case unix.SIGTRAP | 0x80:
			changes, err := entersChanging(thread)
			if err != nil {
				return false, err
			}
			if changes {
				if n--; n == 0 {
					_ = unix.Kill(pid, sent)
				}
			}
		case unix.SIGTRAP, unix.SIGSTOP:
		default:
			signal = int(s)
		}
	}
}

// entersChanging reports whether a stopped thread is about to make one of the calls.
func entersChanging(thread int) (bool, error) {
	// The kernel's struct ptrace_syscall_info, which is the same on every architecture.
	var info struct {
		op     uint8
		_      [7]byte
		_      [2]uint64
		number uint64
		args   [6]uint64
	}
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(thread), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno == unix.ESRCH {
		return false, nil // the process is ending; the next wait says so
	}
	if errno != 0 {
		return false, fmt.Errorf("%w: PTRACE_GET_SYSCALL_INFO: %w", errNoTrace, errno)
	}
	if info.op != unix.PTRACE_SYSCALL_INFO_ENTRY || !slices.Contains(changing, info.number) {
		return false, nil
	}
	if info.number == unix.SYS_OPENAT {
		return info.args[2]&unix.O_CREAT != 0, nil
	}
	return info.number != unix.SYS_WRITE || info.args[0] > 2, nil
}
