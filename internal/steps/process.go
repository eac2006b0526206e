package steps

import (
	"errors"
	"os"
	"syscall"
)

// thisProcess returns a record of an update under way in this process.
func thisProcess(step int64, to string) Pending {
	pid := os.Getpid()
	return Pending{Step: step, To: to, PID: pid, Start: startOf(pid)}
}

func (p Pending) mine() bool { return p.PID == os.Getpid() && p.Start == startOf(p.PID) }

// alive reports whether the process runs. Its id may have been given to another one since,
// which was started at another time.
func (p Pending) alive() bool {
	if p.PID <= 0 || errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
		return false
	}
	return p.Start == startOf(p.PID)
}
