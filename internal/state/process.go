package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// WritePending writes the records of updates that are being decided. They name processes
// and do not outlive them, so they are not synced.
func WritePending(dir *txn.Dir, all []Pending) error {
	if len(all) == 0 {
		return dir.OverwriteState(PendingFile, nil)
	}
	text, err := json.Marshal(all, jsonx.Tolerant)
	if err != nil {
		return err
	}
	return dir.OverwriteState(PendingFile, text)
}

// EndOrphans kills the checks of calls that were killed themselves, at an event that decides about no step: the agent may
// not complete a step for long, and a check changes files meanwhile. If none is on record, as nearly always, that costs one
// look. What cannot be read is left to the next call.
func (st *Store) EndOrphans() {
	if st.lacks(PendingFile) {
		return
	}
	data, err := txn.ReadState(st.List.Dir, PendingFile, txn.WithFS(st.List.Files()))
	if err != nil {
		return
	}
	_, dead, _ := ParsePending(data)
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
		if p.Group > 1 && p.GroupStart != "" && p.GroupStart == caller.StartOf(p.Group) {
			process.KillGroup(p.Group)
		}
	}
}

// alive reports whether the process is running. The start time distinguishes it from a
// later process with the same id.
func (p Pending) alive() bool {
	return process.Exists(p.PID) && p.Start == caller.StartOf(p.PID)
}
