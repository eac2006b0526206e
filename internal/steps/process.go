package steps

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// pending returns the record of a step that this call is about to complete.
func (c *call) pending(step int64, waiting bool) Pending {
	pid := os.Getpid()
	return Pending{Step: step, Call: c.id, Use: c.update.Use, Waiting: waiting, PID: pid, Start: startOf(pid)}
}

// writePending writes the records of updates that are being decided. They name processes
// and do not outlive them, so they are not synced.
func writePending(dir *txn.Dir, all []Pending) error {
	if len(all) == 0 {
		return dir.OverwriteState(pendingFile, nil)
	}
	text, err := json.Marshal(all, jsonx.Tolerant)
	if err != nil {
		return err
	}
	return dir.OverwriteState(pendingFile, text)
}

// EndOrphans kills the checks of calls that were killed themselves, at an event that decides about no step: the agent may
// not complete a step for long, and a check changes files meanwhile. If none is on record, as nearly always, that costs one
// look. What cannot be read is left to the next call.
func (st *Store) EndOrphans() {
	if st.lacks(pendingFile) {
		return
	}
	data, err := txn.ReadState(st.List.Dir, pendingFile, txn.WithFS(st.List.Files()))
	if err != nil {
		return
	}
	_, dead, _ := parsePending(data)
	endOrphans(dead)
}

// lacks reports whether a state file is certainly not there.
func (st *Store) lacks(name string) bool {
	s, err := txn.StateDir(st.List.Dir)
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(s, name))
	return errors.Is(err, fs.ErrNotExist)
}

// endOrphans kills the checks of calls that were killed themselves, because nobody else
// stops them at their time limit. A check whose leader has ended is left alone: its process
// id may belong to another program by now.
func endOrphans(dead []Pending) {
	for _, p := range dead {
		if p.Group > 1 && p.GroupStart != "" && p.GroupStart == startOf(p.Group) {
			_ = syscall.Kill(-p.Group, syscall.SIGKILL)
		}
	}
}

// recordGroup records the check's process group, so that a later call can kill the check if
// this one is killed. An error is ignored.
func (c *call) recordGroup(ctx context.Context, group int) {
	if c.lockless {
		return
	}
	_ = c.locked(context.WithoutCancel(ctx), func(dir *txn.Dir) error {
		data, err := dir.ReadState(pendingFile)
		if err != nil {
			return err
		}
		alive, _, _ := parsePending(data) // what cannot be read names nobody
		for i, p := range alive {
			if p.Call == c.id {
				alive[i].Group, alive[i].GroupStart = group, startOf(group)
			}
		}
		return writePending(dir, alive)
	})
}

// alive reports whether the process is running. The start time distinguishes it from a
// later process with the same id.
func (p Pending) alive() bool {
	if p.PID <= 0 || errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
		return false
	}
	return p.Start == startOf(p.PID)
}
