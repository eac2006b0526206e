package steps

import (
	"errors"
	"os"
	"syscall"
)

// pending returns the record of a step that this call is about to complete.
func (c *call) pending(step int64) Pending {
	pid := os.Getpid()
	return Pending{Step: step, Call: c.id, Use: c.update.Use, PID: pid, Start: startOf(pid)}
}

// alive reports whether the process runs. Its id may have been given to another one since,
// which was started at another time.
func (p Pending) alive() bool {
	if p.PID <= 0 || errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
		return false
	}
	return p.Start == startOf(p.PID)
}
