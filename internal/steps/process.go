package steps

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/fsmtx/fsmtx/txn"
)

// pending returns the record of a step that this call is about to complete.
func (c *call) pending(step int64) Pending {
	pid := os.Getpid()
	return Pending{Step: step, Call: c.id, Use: c.update.Use, PID: pid, Start: startOf(pid)}
}

// endOrphans kills the checks of calls that were killed themselves: the process that
// would have ended them at their limit is gone. Only a check whose leader still runs can be
// told from another process with its id.
func endOrphans(dead []Pending) {
	for _, p := range dead {
		if p.Group > 1 && p.GroupStart != "" && p.GroupStart == startOf(p.Group) {
			_ = syscall.Kill(-p.Group, syscall.SIGKILL)
		}
	}
}

// running puts the check's process group on record. Without it a check outlives a call
// that is killed.
func (c *call) running(ctx context.Context, group int) {
	_ = c.locked(context.WithoutCancel(ctx), func(dir *txn.Dir) error {
		data, err := dir.ReadState(pendingFile)
		if err != nil {
			return err
		}
		alive, _ := parsePending(data)
		for i, p := range alive {
			if p.Call == c.id {
				alive[i].Group, alive[i].GroupStart = group, startOf(group)
			}
		}
		return writePending(dir, alive)
	})
}

// alive reports whether the process runs. Its id may have been given to another one since,
// which was started at another time.
func (p Pending) alive() bool {
	if p.PID <= 0 || errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
		return false
	}
	return p.Start == startOf(p.PID)
}
