package state

import (
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// EndOrphans kills the checks of calls that were killed themselves, at an event that decides about no step: the agent may
// not complete a step for long, and a check changes files meanwhile. What cannot be read is left to the next call.
func (st *Store) EndOrphans() {
	m, _ := st.Memory()
	_, dead := byProcess(m.Pending)
	endOrphans(dead)
}

// byProcess returns the records of updates whose processes are alive, and of those whose processes have died.
func byProcess(all []Pending) (alive, dead []Pending) {
	for _, p := range all {
		if p.alive() {
			alive = append(alive, p)
		} else {
			dead = append(dead, p)
		}
	}
	return alive, dead
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
