package caller

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// StartOf returns the start time of a process. It is empty if there is no such process.
func StartOf(pid int) string {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	start := p.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", start.Sec, start.Usec)
}
