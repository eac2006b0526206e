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
	"time"

	"github.com/fsmtx/fsmtx/internal/shell"
)

// Kind is what is known about the caller.
type Kind string

const (
	Agent   Kind = "agent"   // a process above this one is an agent, or the environment is an agent's
	Person  Kind = "person"  // this process is in the foreground of a terminal outside any agent
	Script  Kind = "script"  // outside any agent, without a terminal or where CI is set: a person's script, a job
	Unknown Kind = "unknown" // the processes above it cannot be read, or see Beside
)

// Caller is who runs this process.
type Caller struct {
	Kind     Kind
	Program  string    // the nearest agent, as Programs names it; empty if only the environment shows Claude Code or several
	PID      int       // of the process of that agent; 0 if only the environment shows it
	Started  []string  // of an Agent: the command line of the process that it has started, this one or one above it; nil if not known
	Shell    bool      // of an Agent: this process runs in the agent's shell, not as a hook or server of the client
	Nested   bool      // of an Agent: another agent has started it, and could play its person
	Why      string    // what shows the kind, as the end of a sentence with "because"
	Terminal string    // path of the controlling terminal of a Person
	Leader   int       // of a Person: the process that leads the session of the terminal
	Since    time.Time // when the chain of processes above this one began; zero if it comes from outside, such as into a container
	Young    bool      // of a Person: see Beside
}

// Beside returns the caller of a command about a list at which a client works that began then. A client cannot have started what is
// older than it. What is younger it may have started, and left: a terminal is then Young, and what has none is Unknown.
func (c Caller) Beside(client time.Time) Caller {
	switch {
	case c.Since.IsZero() || client.IsZero() || c.Since.Before(client):
	case c.Kind == Person:
		c.Young = true
	case c.Kind == Script:
		c.Kind, c.Why = Unknown, "it began after an agent that works on this list, which may have started it, and "+c.Why
	}
	return c
}

// FromClient reports whether a hook or server that is this process was started by a client of a person,
// and not by an agent, which could then play the person: no agent's shell is above it or above its client,
// and it has not been orphaned by one. It is decided by the same processes as Kind.
func (c Caller) FromClient() bool {
	return c.Kind != Unknown && !(c.Kind == Agent && (c.Shell || c.Nested))
}

// Imitates reports whether a hook that is this process was started in the agent's shell, and not by the client.
// Only Claude Code's variables show that. Elsewhere a wrapper of the person's may have started it, and the answer is no.
func (c Caller) Imitates() bool { return c.Program == Claude && c.Shell }

// process is one process. Fields that could not be read are zero.
type process struct {
	pid, parent    int
	group, session int
	foreground     int      // process group in the foreground of its terminal; at most 0 without a terminal
	comm           string   // of the program, as the kernel has it
	args           []string // command line
	env            []string // NAME=value, as the program was started
	terminal       string   // path of the controlling terminal; empty if there is none
	beside         string   // the agent that is attached to the same console; on Windows
	hidden         bool     // it exists, but this user must not look at it
	began          time.Time
}

// Of returns who runs this process. lookup is os.LookupEnv or a stand-in for it.
func Of(lookup func(string) (string, bool)) Caller {
	chain, err := above(func(process) bool { return false })
	if err != nil {
		return identifyByEnvironment(lookup, err)
	}
	return identify(chain, lookup)
}

// Imitates is Of(lookup).Imitates(). It looks at no process above the nearest agent, because every decision asks it.
func Imitates(lookup func(string) (string, bool)) bool {
	chain, err := above(func(p process) bool { return agentOf(p) != "" })
	return err == nil && identify(chain, lookup).Imitates()
}

// Began returns when a process began, the zero time if there is none with this id.
func Began(pid int) time.Time {
	p, err := read(pid)
	if err != nil {
		return time.Time{}
	}
	return p.began
}

// deepest bounds the walk.
const deepest = 256

// above returns this process and its ancestors, nearest first, up to the first ancestor that is the last. One that cannot be seen is
// another user's.
func above(last func(process) bool) ([]process, error) {
	var chain []process
	pid := os.Getpid()
	for pid > 0 && len(chain) < deepest {
		p, err := read(pid)
		if err != nil && len(chain) == 0 {
			return nil, err
		}
		if err != nil {
			if again, err := read(chain[len(chain)-1].pid); err == nil && again.parent != pid { // it has ended, and another has adopted its child
				pid = again.parent
				continue
			}
			p = process{pid: pid, hidden: true}
		} else if len(chain) == 0 {
			p.args, p.env = os.Args, os.Environ()
		} else if last(p) { // its name suffices
			return append(chain, p), nil
		} else if p.args = Arguments(pid); last(p) {
			return append(chain, p), nil
		} else {
			p.env = envOf(pid)
		}
		chain = append(chain, p)
		pid = p.parent
	}
	return chain, nil
}

// identifyByEnvironment identifies by the environment alone.
func identifyByEnvironment(lookup func(string) (string, bool), err error) Caller {
	if name := isSet(lookup, Variables()); name != "" {
		return Caller{Kind: Agent, Program: only(lookup), Shell: true, Why: name + " is set"}
	}
	return Caller{Kind: Unknown, Why: fmt.Sprintf("the processes above this one cannot be read (%v)", err)}
}

// identify says who runs a process, by itself and its ancestors, nearest first.
func identify(chain []process, lookup func(string) (string, bool)) Caller {
	if c, ok := agentAbove(chain, lookup); ok {
		return c
	}
	self := chain[0]
	c := Caller{Kind: Script, Since: topmost(chain).began}
	leads := slices.ContainsFunc(chain, func(p process) bool { return p.pid == self.session })
	ci, _ := lookup("CI")
	switch {
	case ci != "":
		c.Why = "CI is set, so it is a job"
	case self.terminal == "" || !leads || self.group != self.foreground:
		c.Why = "it is not in the foreground of a terminal"
	default:
		c.Kind, c.Terminal, c.Leader, c.Why = Person, self.terminal, self.session, "it is in the foreground of "+self.terminal
		c.Young = self.beside != ""
	}
	return c
}

// agentAbove returns the caller if it is an agent.
func agentAbove(chain []process, lookup func(string) (string, bool)) (c Caller, ok bool) {
	set := isSet(lookup, Variables())
	own, _ := lookup(aiAgent)
	shell, environs := isShell(own), []func(string) (string, bool){lookup}
	for i, p := range chain {
		environ := environOf(p)
		environs = append(environs, environ)
		if i > 0 {
			if program := agentOf(p); program != "" {
				// Other agents than Claude Code start their hooks and servers themselves: what has a process in
				// between was started by a command, unless that is the shell of a registered line.
				between := program != Claude && i > 1 && !(i == 2 && runsHook(chain[1]))
				c = Caller{Kind: Agent, Program: program, PID: p.pid, Started: chain[i-1].args, Shell: shell || between,
					Why: fmt.Sprintf("%s is above it", p)}
				if by := startedBy(chain[i+1:]); by != "" {
					c.Nested, c.Why = true, fmt.Sprintf("%s was started by an agent: %s", p, by)
				}
				return c, true
			}
			if name := isSet(environ, Variables()); name != "" && set == "" {
				set = name + " in the environment of " + p.String()
			}
		}
		value, _ := environ(aiAgent)
		shell = shell || isShell(value)
	}
	if set != "" {
		return Caller{Kind: Agent, Program: only(environs...), Shell: true, Why: set + " is set"}, true
	}
	return Caller{}, false
}

// startedBy returns what shows that an agent has started the client below these processes, nearest first: the variables of
// its shell, or a shell below another agent. Empty is nothing.
func startedBy(chain []process) string {
	shell := false
	for _, p := range chain {
		if name := isSet(environOf(p), Variables()); name != "" {
			return name + " in the environment of " + p.String()
		}
		switch program := agentOf(p); {
		case program != "" && shell:
			return p.String()
		case program == "":
			shell = shell || isShellProgram(p)
		}
	}
	return ""
}

// runsHook reports whether a process is a shell that runs a line with which a hook is registered, and nothing else. It stays there until
// the hook has ended (shell.GuardWell).
func runsHook(p process) bool {
	n := len(p.args)
	if !isShellProgram(p) || n < 3 || !strings.HasSuffix(p.args[n-2], "c") || strings.Contains(p.args[n-1], "<") { // an event of its own
		return false
	}
	words, ok := shell.Guarded(p.args[n-1])
	return ok && len(words) > 1 && filepath.Base(words[0]) == "fsmtx" && words[1] == "hook"
}

func isShellProgram(p process) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "powershell", "pwsh"}, strings.TrimPrefix(p.comm, "-"))
}

// only returns the agent to which every variable of an agent in the environments belongs. In a sandbox
// with processes of its own this is the only sign of the agent. It is empty if there are several agents,
// and for Claude Code, whose person is asked only where its process is seen.
func only(environs ...func(string) (string, bool)) (program string) {
	var found []string
	for _, a := range marks() {
		if slices.ContainsFunc(environs, func(environ func(string) (string, bool)) bool { return isSet(environ, a.Variables) != "" }) {
			found = append(found, a.Program)
		}
	}
	if len(found) != 1 || found[0] == Claude {
		return ""
	}
	return found[0]
}

// isSet returns the first of the variables that is set, empty if none is.
func isSet(lookup func(string) (string, bool), variables []string) string {
	for _, name := range variables {
		if value, _ := lookup(name); value != "" {
			return name
		}
	}
	return ""
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

// topmost returns the end of the chain: the last process below the one that adopts orphans. The time of a process that was put
// into a container from outside, and of one that this user must not look at, is zero.
func topmost(chain []process) process {
	for i, p := range chain {
		if i+1 == len(chain) || isInit(chain[i+1]) && !holdsTerminal(chain[i+1]) {
			if p.hidden || p.pid != 1 && p.parent == 0 {
				p.began = time.Time{}
			}
			return p
		}
	}
	return process{}
}

// isInit reports whether orphans become children of the process.
func isInit(p process) bool { return p.pid == 1 || p.comm == "systemd" || p.comm == "launchd" }

// holdsTerminal reports whether the process leads the session of a terminal, as the shell
// that is the first process of a container does.
func holdsTerminal(p process) bool { return p.terminal != "" && p.session == p.pid }

func (p process) String() string { return fmt.Sprintf("%s (process %d)", p.comm, p.pid) }
