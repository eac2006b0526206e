//go:build unix

// Package orphans finds and ends what a command has started, also what has left its group.
//
// A process can leave its group by a session of its own (setsid, detached). Its parents still lead to the command while they live;
// then, where the system has that, it becomes a child of this program, which asks for the orphans of its commands as long as one
// runs. That is a property of the whole program, so the commands that run are a variable of this package.
package orphans

import (
	"maps"
	"os/exec"
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

// commands are the processes that this program runs and that have to end whole. One is started under the lock, so that nothing else takes
// it for an orphan.
var commands struct {
	sync.Mutex
	always  bool           // see Adopt
	running map[int]bool   // whether another one ran at the same time, by their ids
	adopted map[int]member // what earlier ones have left to this program
}

// Command is a command that runs.
type Command struct {
	leader int
	began  uint64
	known  []member
}

// Start starts a command that leads a group of its own, and asks for its orphans: without that, what leaves the group and whose parents
// end outlives it. Release must be called when it has ended.
//
// Errors: those of exec.Cmd.Start.
func Start(cmd *exec.Cmd) (*Command, error) {
	commands.Lock()
	defer commands.Unlock()
	_ = adoptOrphans(true)
	if err := cmd.Start(); err != nil {
		adoptNoMore()
		return nil, err
	}
	pid := cmd.Process.Pid
	if commands.running == nil {
		commands.running, commands.adopted = map[int]bool{}, map[int]member{}
	}
	beside := len(commands.running) > 0
	for other := range commands.running {
		commands.running[other] = true
	}
	commands.running[pid] = beside
	m, _ := memberOf(pid)
	return &Command{leader: pid, began: m.began}, nil
}

func adoptNoMore() {
	if len(commands.running) == 0 && !commands.always {
		_ = adoptOrphans(false)
	}
}

// Adopt asks for the orphans of all that this program starts, until it ends.
func Adopt() {
	commands.Lock()
	defer commands.Unlock()
	commands.always = true
	_ = adoptOrphans(true)
}

// EndAll ends by force what this program has started, and what that has: of what has left its parents only what Adopt asked for.
func EndAll() {
	for begun := time.Now(); time.Since(begun) < killTime; time.Sleep(poll) {
		everyone, family := members(), map[int]bool{syscall.Getpid(): true}
		for grown := true; grown; {
			grown = false
			for _, m := range everyone {
				if !family[m.pid] && family[m.parent] {
					family[m.pid], grown = true, true
				}
			}
		}
		left := false
		for _, m := range everyone {
			if family[m.pid] && m.pid != syscall.Getpid() && !m.ended {
				left = true
				_ = syscall.Kill(m.pid, syscall.SIGKILL)
			}
		}
		if !left {
			return
		}
	}
}

// Look notes what has left the group so far: before the group is ended, which takes the parents away.
func (c *Command) Look() { c.known = outside(c.leader, c.began) }

// Release notes that the command has ended. What it has left running stays. Of what it and earlier ones have left, this program, which
// may live long, takes the status of what has ended.
func (c *Command) Release() {
	left := outside(c.leader, c.began)
	commands.Lock()
	defer commands.Unlock()
	for _, m := range append(left, c.known...) {
		commands.adopted[m.pid] = m
	}
	delete(commands.running, c.leader)
	adoptNoMore()
	adopted := map[int]member{}
	for _, m := range members() {
		switch {
		case m.pid == c.leader, m.parent != syscall.Getpid(), m.group != c.leader && commands.adopted[m.pid].began != m.began:
		case m.ended:
			_, _ = unix.Wait4(m.pid, nil, unix.WNOHANG, nil)
		default:
			adopted[m.pid] = m
		}
	}
	commands.adopted = adopted
}

// outside returns the processes that a command has started and that have left its group.
func outside(leader int, began uint64) (all []member) {
	commands.Lock()
	beside, everyone := commands.running[leader], members()
	earlier := maps.Clone(commands.adopted)
	commands.Unlock()
	family := map[int]bool{leader: true}
	orphan := func(m member) bool { // one that the command has left behind
		return m.parent == syscall.Getpid() && m.group != syscall.Getpgrp() && m.pid != leader && began > 0 && m.began >= began && !beside &&
			earlier[m.pid].began != m.began // the system's clock is coarse
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
			c.awaitGroup(time.Now().Add(killTime))
			return nil
		}
		c.known = append(c.known, all...)
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

// awaitGroup waits until the group, which was killed, has ended.
func (c *Command) awaitGroup(deadline time.Time) {
	for time.Now().Before(deadline) && slices.ContainsFunc(members(), func(m member) bool { return m.group == c.leader && !m.ended }) {
		time.Sleep(poll)
	}
}

// killTime is how long a process that was killed may take to be gone.
const killTime = 200 * time.Millisecond

// poll is how often it is looked whether a process is gone.
const poll = 10 * time.Millisecond
