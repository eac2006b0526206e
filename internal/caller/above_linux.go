package caller

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

func dirOf(pid int) string { return "/proc/" + strconv.Itoa(pid) }

// Arguments returns the command line of a process, nil if it cannot be read.
func Arguments(pid int) []string { return list(dirOf(pid) + "/cmdline") }

func envOf(pid int) []string { return list(dirOf(pid) + "/environ") }

func read(pid int) (p process, err error) {
	dir := dirOf(pid)
	stat, err := safefile.KernelText(dir + "/stat")
	if err != nil {
		return p, err
	}
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return p, fmt.Errorf("%s/stat: no name in parentheses", dir)
	}
	// state, parent, group, session, terminal, foreground, …, ticks from the start of the machine to that of the process
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 20 {
		return p, fmt.Errorf("%s/stat: %d fields after the name, want at least 20", dir, len(fields))
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	p = process{pid: pid, parent: number(1), group: number(2), session: number(3), foreground: number(5), comm: string(stat[open+1 : end])}
	p.terminal, p.began = terminalOf(number(4)), timeOf(number(19))
	return p, nil
}

// ticks is USER_HZ, which is 100 on every architecture that Go supports.
const ticks = 100

// machine is when the machine was started. It is asked for once: times of processes are compared to the tick.
var machine struct {
	sync.Once
	began time.Time
}

// timeOf returns the time that is so many ticks after the machine was started.
func timeOf(n int) time.Time {
	machine.Do(func() {
		var running unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &running) // it fails for an unknown clock only
		machine.began = time.Now().Add(-time.Duration(running.Nano()))
	})
	return machine.began.Add(time.Duration(n) * time.Second / ticks)
}

// maxList bounds the arguments or the environment of a process, in bytes.
const maxList = 16 << 20

// list reads texts that end with a zero byte; nil if they cannot be read.
func list(path string) []string {
	data, err := safefile.ReadFile(path, maxList, 0)
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// terminalOf returns the path of the terminal with a device number of /proc/PID/stat.
func terminalOf(device int) string {
	if device == 0 {
		return ""
	}
	major, minor := device>>8&0xfff, device&0xff|device>>12&0xfff00
	switch {
	case major >= 136 && major <= 143:
		return fmt.Sprintf("/dev/pts/%d", (major-136)<<20|minor)
	case major == 4 && minor < 64:
		return fmt.Sprintf("/dev/tty%d", minor)
	case major == 4:
		return fmt.Sprintf("/dev/ttyS%d", minor-64)
	}
	return "/dev/tty"
}
