package caller

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Marks identify the processes of an agent.
type Marks struct {
	Program   string
	Paths     []string // one of them is in the path of its program if that has another name
	Variables []string // that only its processes have
	Session   string   // the one of them in which its shell shows its session, as its hooks name it; empty if there is none
}

// Others returns the marks of the agents other than Claude Code for which fsmtx does something. Package agent sets it.
var Others func() []Marks

// known has what marks returns, which is asked for at each process.
var known struct {
	sync.Once
	all []Marks
}

// marks returns those of every agent that is known.
func marks() []Marks {
	known.Do(func() { known.all = everyMark() })
	return known.all
}

func everyMark() []Marks {
	all := []Marks{
		// The file of an installed version is named as the version; the client starts others of its team by it.
		{Claude, []string{"@anthropic-ai/claude-code", "@anthropic-ai/claude-agent-sdk", "claude/versions"},
			[]string{"CLAUDECODE", aiAgent, "CLAUDE_PID"}, ""},
		{"cline", nil, []string{"CLINE_CONNECTOR_CLI_LAUNCH"}, ""},
	}
	if Others != nil {
		all = append(all, Others()...)
	}
	return all
}

// Programs returns the names of the agents that are known.
func Programs() (names []string) {
	for _, a := range marks() {
		names = append(names, a.Program)
	}
	return names
}

// Variables returns the names of the variables that only the processes of an agent have.
func Variables() (names []string) {
	for _, a := range marks() {
		names = append(names, a.Variables...)
	}
	return names
}

// SessionVariable returns the variable in which the shell of an agent other than Claude Code shows its session, empty if there is none.
func SessionVariable(program string) string {
	for _, a := range marks() {
		if a.Program == program {
			return a.Session
		}
	}
	return ""
}

// Claude is Claude Code, which can ask its person before a command runs.
const Claude = "claude"

// agentOf returns the agent that the process is, empty if it is none. The program may be
// the agent itself, or an interpreter that runs it.
func agentOf(p process) string {
	texts := []string{p.comm}
	if len(p.args) > 0 {
		texts = append(texts, p.args[0], scriptOf(p.args))
	}
	for _, text := range texts {
		for _, a := range marks() {
			if slices.ContainsFunc(a.Paths, func(path string) bool { return strings.Contains(filepath.ToSlash(text), "/"+path+"/") }) {
				return a.Program
			}
		}
		name := programOf(text)
		if slices.ContainsFunc(marks(), func(a Marks) bool { return a.Program == name }) {
			return name
		}
	}
	return ""
}

// programOf returns the name of a program without its suffix, from its path.
func programOf(path string) string {
	name := strings.ToLower(filepath.Base(path))
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// scriptOf returns the file that an interpreter runs, empty if the program is none or runs
// a text of its command line.
func scriptOf(args []string) string {
	name := strings.TrimRight(strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(filepath.Base(args[0])), ".exe"), "-"), "0123456789.")
	if !slices.Contains([]string{"node", "nodejs", "bun", "deno", "sh", "bash", "dash", "zsh", "ksh", "python", "ruby", "perl", "env"}, name) {
		return ""
	}
	for _, arg := range args[1:] {
		switch {
		case !strings.HasPrefix(arg, "-"):
			return arg
		case strings.HasPrefix(arg, "--"):
		case strings.ContainsAny(arg, "cep"):
			return ""
		}
	}
	return ""
}
