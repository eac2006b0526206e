// Package orphans finds and ends what a command has started, also what has left its group.
//
// A process can leave its group by a session of its own (setsid, detached). Its parents still lead to the command while they live;
// then, where the system has that, it becomes a child of this program, which asks for the orphans of its commands as long as one
// runs. That is a property of the whole program, so the commands that run are a variable of this package.
package orphans

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/message"
)

// member is a process of the system.
type member struct {
	pid, parent, group int
	began              uint64 // in a unit of the system
	name               string
	ended              bool // and nobody has asked for its status
}

// commands are the processes that this program runs and that have to end whole.
var commands struct {
	sync.Mutex
	running map[int]bool // whether another one ran at the same time, by their ids
}

// Adopt asks for the orphans of a command that is about to be started.
func Adopt() { _ = adoptOrphans(true) } // without it what leaves the group and whose parents end outlives the command

// Command is a command that runs.
type Command struct {
	leader int
	began  uint64
	known  []member
}

// Of returns the command whose group a process leads. Release must be called when it has ended.
func Of(pid int) *Command {
	m, _ := memberOf(pid)
	adopts(pid)
	return &Command{leader: pid, began: m.began}
}

// Look notes what has left the group so far: before the group is ended, which takes the parents away.
func (c *Command) Look() { c.known = outside(c.leader, c.began) }

// adopts notes that a command runs.
func adopts(pid int) {
	commands.Lock()
	defer commands.Unlock()
	if commands.running == nil {
		commands.running = map[int]bool{}
	}
	beside := len(commands.running) > 0
	for other := range commands.running {
		commands.running[other] = true
	}
	commands.running[pid] = beside
}

// Release notes that the command has ended. What it has left running stays.
func (c *Command) Release() {
	pid := c.leader
	commands.Lock()
	defer commands.Unlock()
	if delete(commands.running, pid); len(commands.running) == 0 {
		_ = adoptOrphans(false)
	}
	for _, m := range members() { // a long-lived program is the parent of what it adopted
		if m.ended && m.parent == syscall.Getpid() && m.group != syscall.Getpgrp() && m.pid != pid {
			if _, ok := commands.running[m.pid]; !ok {
				_, _ = unix.Wait4(m.pid, nil, unix.WNOHANG, nil)
			}
		}
	}
}

// outside returns the processes that a command has started and that have left its group.
func outside(leader int, began uint64) (all []member) {
	commands.Lock()
	beside := commands.running[leader]
	commands.Unlock()
	everyone := members()
	family := map[int]bool{leader: true}
	orphan := func(m member) bool { // one that the command has left behind
		return m.parent == syscall.Getpid() && m.group != syscall.Getpgrp() && m.pid != leader && began > 0 && m.began >= began && !beside
	}
	for grown := true; grown; {
		grown = false
		for _, m := range everyone {
			if !family[m.pid] && (family[m.parent] || orphan(m)) {
				family[m.pid], grown = true, true
			}
		}
	}
	for _, m := range everyone {
		if family[m.pid] && m.group != leader && !m.ended {
			all = append(all, m)
		}
	}
	return all
}

// End ends what has left the group, after a deadline by force, and returns what could not be ended, for people.
func (c *Command) End(deadline time.Time) (left []string) {
	known := c.known
	for signal := syscall.SIGTERM; ; time.Sleep(poll) {
		all := outside(c.leader, c.began)
		for _, m := range known { // whose parents have ended, where orphans are nobody's
			if i := slices.IndexFunc(members(), func(now member) bool { return now.pid == m.pid && now.began == m.began && !now.ended }); i >= 0 &&
				!slices.ContainsFunc(all, func(o member) bool { return o.pid == m.pid }) {
				all = append(all, m)
			}
		}
		if known = all; len(all) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			if signal == syscall.SIGKILL {
				for _, m := range all {
					left = append(left, message.Sprintf("%d (%s)", m.pid, m.name))
				}
				return left
			}
			signal, deadline = syscall.SIGKILL, time.Now().Add(killTime)
		}
		for _, m := range all {
			_ = syscall.Kill(m.pid, signal)
		}
	}
}

// killTime is how long a process that was killed may take to be gone.
const killTime = 200 * time.Millisecond

// poll is how often it is looked whether a process is gone.
const poll = 10 * time.Millisecond
