package caller

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func read(pid int) (p process, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return p, err
	}
	p = process{
		pid: pid, parent: int(info.Eproc.Ppid), group: int(info.Eproc.Pgid), foreground: int(info.Eproc.Tpgid),
		comm: unix.ByteSliceToString(info.Proc.P_comm[:]),
	}
	p.session, _ = unix.Getsid(pid)
	p.began = time.Unix(info.Proc.P_starttime.Unix())
	if info.Eproc.Tdev != -1 {
		p.terminal = terminalOf(info.Eproc.Tdev)
	}
	return p, nil
}

// Arguments returns the command line of a process, nil if it cannot be read.
func Arguments(pid int) []string { args, _ := textsOf(pid); return args }

func envOf(pid int) []string { _, env := textsOf(pid); return env }

func textsOf(pid int) (args, env []string) {
	data, _ := unix.SysctlRaw("kern.procargs2", pid) // nil of a process that this user must not look at
	return split(data)
}

// split returns the command line and the environment from what the kernel keeps of them: the
// number of arguments, the path of the program, zero bytes, and the texts, each ended by a
// zero byte. Of a protected program it has no environment.
func split(data []byte) (args, env []string) {
	if len(data) < 4 {
		return nil, nil
	}
	n := int(binary.LittleEndian.Uint32(data))
	_, rest, _ := bytes.Cut(data[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for _, text := range bytes.Split(rest, []byte{0}) {
		if len(args) < n {
			args = append(args, string(text))
		} else if len(text) > 0 {
			env = append(env, string(text))
		}
	}
	return args, env
}

// terminalOf returns the path of the terminal with a device number.
func terminalOf(device int32) string {
	paths, _ := filepath.Glob("/dev/tty?*")
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Sys().(*syscall.Stat_t).Rdev == device {
			return path
		}
	}
	return "/dev/tty"
}
