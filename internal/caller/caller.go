// Package caller finds out who runs this process: an agent, a person at a terminal, or
// neither. It looks at the processes above this one and not only at the environment, which
// a command line can change.
//
// It does not stop a determined program. A program of the same user can imitate a terminal, type into one that is
// open, or use a name space in which the agent's processes are not visible.
package caller

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what is known about the caller.
type Kind string

const (
	Agent   Kind = "agent"   // a process above this one is an agent, or the environment is an agent's
	Person  Kind = "person"  // this process is in the foreground of a terminal outside any agent
	Script  Kind = "script"  // outside any agent, without a terminal: a person's script, CI
	Unknown Kind = "unknown" // no process above this one shows where it comes from: an orphan, a scheduler
)

// Caller is who runs this process.
type Caller struct {
	Kind     Kind
	Program  string // the nearest agent, as Programs names it; empty if only the environment shows Claude Code or several
	Shell    bool   // of an Agent: this process runs in the agent's shell, not as a hook or server of the client
	Why      string // what shows the kind, as the end of a sentence with "because"
	Terminal string // path of the controlling terminal of a Person
	Suspect  bool   // of an Unknown: an agent of this user is running, which may have started it
}

// FromClient reports whether a hook or server that is this process was started by a client,
// and not by the agent itself, which could then play the person: its shell is not above it,
// and it has not been orphaned by one. It is decided by the same processes as Kind.
func (c Caller) FromClient() bool { return c.Kind != Unknown && !(c.Kind == Agent && c.Shell) }

// Imitates reports whether a hook that is this process was started in the agent's shell, and not by the client.
// Only Claude Code's variables show that. Elsewhere a wrapper of the person's may have started it, and the answer is no.
func (c Caller) Imitates() bool { return c.Program == Claude && c.Shell }

// process is one process. Fields that could not be read are zero.
type process struct {
	pid, parent    int
	group, session int
	foreground     int // process group in the foreground of its terminal; at most 0 without a terminal
	uid            int
	comm           string   // of the program, as the kernel has it
	args           []string // command line
	env            []string // NAME=value, as the program was started
	terminal       string   // path of the controlling terminal; empty if there is none
	hidden         bool     // it exists, but this user must not look at it
}

// Of returns who runs this process. lookup is os.LookupEnv or a stand-in for it.
func Of(lookup func(string) (string, bool)) Caller {
	chain, err := above(os.Getpid())
	if err != nil {
		return judgeUnread(lookup, err)
	}
	through, err := throughTmux(chain)
	c := judgeAll(chain, through, err, lookup, os.Getuid())
	c.Suspect = c.Kind == Unknown && anyAgent(os.Getuid())
	return c
}

// judgeAll judges a process by its ancestors and, in tmux, by those through each terminal that shows it. err is why
// tmux did not list all of these terminals: a person may then be looking at one of them.
func judgeAll(chain []process, through [][]process, err error, lookup func(string) (string, bool), uid int) Caller {
	for _, whole := range through {
		if c := judge(whole, lookup, uid); c.Kind == Person {
			return c
		}
	}
	c := judge(chain, lookup, uid)
	if c.Kind == Unknown && err != nil {
		c.Why = fmt.Sprintf("it could not be found out who looks at this window (%v)", err)
	}
	return c
}

// anyAgent reports whether an agent of the user is running.
func anyAgent(uid int) bool {
	all, err := processes()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(all, func(pid int) bool {
		p, err := read(pid)
		return err == nil && p.uid == uid && agentOf(p) != ""
	})
}

// judgeUnread judges by the environment alone.
func judgeUnread(lookup func(string) (string, bool), err error) Caller {
	if name, ok := variable(lookup); ok {
		return Caller{Kind: Agent, Program: only(lookup), Shell: true, Why: name + " is set"}
	}
	return Caller{Kind: Unknown, Suspect: true, Why: fmt.Sprintf("the processes above this one cannot be read (%v)", err)}
}

// judge judges a process by itself and its ancestors, nearest first. uid is this user.
func judge(chain []process, lookup func(string) (string, bool), uid int) Caller {
	if c, ok := agentAbove(chain, lookup); ok {
		return c
	}
	self, top := chain[0], chain[len(chain)-1]
	for _, p := range chain[1:] {
		if slices.Contains(schedulers(), p.name()) {
			return Caller{Kind: Unknown, Why: fmt.Sprintf("%s started it, for whom is not known", p)}
		}
	}
	if !grounded(chain, uid) {
		t := topmost(chain)
		return Caller{Kind: Unknown, Why: fmt.Sprintf("%s is a child of %s and neither a terminal nor a login known to fsmtx, "+
			"so what started it may have been an agent", t, top)}
	}
	leads := slices.ContainsFunc(chain, func(p process) bool { return p.pid == self.session })
	if self.terminal != "" && leads && self.group == self.foreground {
		return Caller{Kind: Person, Why: "it is in the foreground of " + self.terminal, Terminal: self.terminal}
	}
	return Caller{Kind: Script, Why: "it has no terminal of its own, and no agent is above it"}
}

// agentAbove returns the caller if it is an agent.
func agentAbove(chain []process, lookup func(string) (string, bool)) (c Caller, ok bool) {
	set, isSet := variable(lookup)
	own, _ := lookup(aiAgent)
	shell, environs := isShell(own), []func(string) (string, bool){lookup}
	for i, p := range chain {
		environ := environOf(p)
		environs = append(environs, environ)
		if i > 0 {
			if program := agentOf(p); program != "" {
				// Other agents than Claude Code start their hooks and servers themselves: what has a process in
				// between, such as a shell, was started by a command.
				shell = shell || program != Claude && i > 1
				return Caller{Kind: Agent, Program: program, Shell: shell, Why: fmt.Sprintf("%s is above it", p)}, true
			}
			if name, found := variable(environ); found && !isSet {
				set, isSet = name+" in the environment of "+p.String(), true
			}
		}
		value, _ := environ(aiAgent)
		shell = shell || isShell(value)
	}
	if isSet {
		return Caller{Kind: Agent, Program: only(environs...), Shell: true, Why: set + " is set"}, true
	}
	return Caller{}, false
}

// only returns the agent to which every variable of an agent in the environments belongs. In a sandbox
// with processes of its own this is the only sign of the agent. It is empty if there are several agents,
// and for Claude Code, whose person is asked only where its process is seen.
func only(environs ...func(string) (string, bool)) (program string) {
	for _, a := range identities() {
		for _, environ := range environs {
			if !slices.ContainsFunc(a.variables, func(name string) bool { value, _ := environ(name); return value != "" }) {
				continue
			}
			if a.name == Claude || program != "" && program != a.name {
				return ""
			}
			program = a.name
		}
	}
	return program
}

// aiAgent is the variable in which Claude Code tells its hooks and servers (…_harness) from
// the shell of its agent (…_agent; fact 41, client 2.1.329).
const aiAgent = "AI_AGENT"

func isShell(value string) bool { return strings.HasSuffix(value, "_agent") }

func environOf(p process) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, v := range p.env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// variable returns the first of Variables that is set.
func variable(lookup func(string) (string, bool)) (name string, ok bool) {
	for _, name := range Variables() {
		if value, _ := lookup(name); value != "" {
			return name, true
		}
	}
	return "", false
}

// grounded reports whether something above the process shows where it comes from: a
// terminal or login that is known, a process of another user, or a complete chain up to the
// first process. An orphan is adopted by the first process, but stays
// in the session in which it was started or is in one of its own.
func grounded(chain []process, uid int) bool {
	for _, p := range chain {
		if p.hidden || slices.Contains(terminals(), p.name()) {
			return true
		}
		if p.pid > 1 && p.uid != uid && !isInit(p) && !slices.Contains(changers(), p.name()) {
			return true
		}
	}
	t := topmost(chain)
	if t.pid == 1 || t.parent == 0 {
		return true // a container's first process, or one that was put into the container
	}
	top := chain[len(chain)-1]
	return isInit(top) && t.pid != chain[0].pid && t.session == top.session
}

// topmost returns the last process below the one that adopts orphans.
func topmost(chain []process) process {
	for i, p := range chain {
		if i+1 == len(chain) || isInit(chain[i+1]) && !holdsTerminal(chain[i+1]) {
			return p
		}
	}
	return process{}
}

// isInit reports whether orphans become children of the process.
func isInit(p process) bool {
	return p.pid == 1 || p.name() == "systemd" || p.name() == "launchd"
}

// holdsTerminal reports whether the process leads the session of a terminal, as the shell
// that is the first process of a container does.
func holdsTerminal(p process) bool { return p.terminal != "" && p.session == p.pid }

// name returns the program's name as lists have it.
func (p process) name() string {
	name := p.comm
	if len(p.args) > 0 {
		if full := strings.TrimPrefix(filepath.Base(p.args[0]), "-"); strings.HasPrefix(full, name) {
			name = full // the kernel keeps 15 characters
		}
	}
	if before, _, ok := strings.Cut(name, ":"); ok { // sshd: user@pts/0
		name = before
	}
	return strings.ToLower(name)
}

func (p process) String() string { return fmt.Sprintf("%s (process %d)", p.comm, p.pid) }
