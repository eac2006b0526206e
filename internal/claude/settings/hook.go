package settings

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// Program is the base name by which an entry is recognised as this program's,
// whatever directory it was installed in, and the command of hooks that run it
// wherever PATH has it.
const Program = "fsmtx"

// Hook is one command that the client runs, without a shell, on one event.
type Hook struct {
	Event   string   // as the client spells it
	Matcher string   // tool or agent names, a regular expression; empty matches all
	Command string   // path of the program, or its name on PATH
	Args    []string // the subcommand and the flags that identify the hook
	Flags   []string // the user's choice, after Args
	Timeout int      // seconds
	If      string   // permission rule of the calls that it is for, such as "Bash(git *)"; empty for all

	// Several hooks of one event may have the same Args. Their Tools are equal, and
	// tell them apart: an entry whose matcher names Tools[i] is that with Tool i. Any
	// other entry is that with Tool 0, so that it is updated and removed too.
	Tools []string
	Tool  int
}

// taskTools are the tools before which hydrate checks that the tasks are those of the
// skill that runs.
const taskTools = "TaskCreate|TaskGet|TaskList|TaskUpdate"

// Hooks returns the hooks of "fsmtx install": hydrate when the agent or the user
// invokes a skill, and later to check which folder the client ran; recover when a
// session starts. flags are flags of hydrate.
func Hooks(binary string, flags []string) []Hook {
	timeout := TimeLimit(defaultWait)
	hydrate, recover := []string{"hydrate"}, []string{"recover", "--hook"}
	return []Hook{
		{Event: event.PostToolUse, Matcher: "Skill", Command: binary, Args: hydrate, Flags: flags, Timeout: timeout},
		{Event: event.UserPromptExpansion, Command: binary, Args: hydrate, Flags: flags, Timeout: timeout},
		{Event: event.PreToolUse, Matcher: taskTools, Command: binary, Args: hydrate, Flags: flags, Timeout: timeout},
		{Event: event.Stop, Command: binary, Args: hydrate, Flags: flags, Timeout: timeout},
		{Event: event.SessionStart, Command: binary, Args: recover, Timeout: timeout},
	}
}

// Steps returns the hooks that hold the agent to the steps of a workflow: one subcommand,
// which reads the event. flags are its flags.
//
// The client offers TaskUpdate, Stop and the others to the agent and to its subagents. A
// task that is completed without PreToolUse having been heard is seen at TaskCompleted
// (fact 38). "if" keeps the hook on Bash from running for every command (fact 41).
func Steps(binary string, flags []string) []Hook {
	short := TimeLimit(defaultWait)
	step := Hook{Command: binary, Args: []string{"step"}, Flags: flags, Timeout: short}
	on := func(event, matcher string, timeout int) Hook {
		h := step
		h.Event, h.Matcher, h.Timeout = event, matcher, timeout
		return h
	}
	update := on(event.PreToolUse, "TaskUpdate", StepTimeout)
	edit := on(event.PreToolUse, "Write|Edit|NotebookEdit", short)
	shell := on(event.PreToolUse, "Bash", short)
	shell.If = "Bash(" + Program + " *)"
	served := on(event.PreToolUse, servedTools, short)
	calls := []Hook{update, edit, shell, served}
	for i := range calls {
		calls[i].Tools, calls[i].Tool = []string{"TaskUpdate", "Write", "Bash", "mcp"}, i
	}
	return append(calls,
		on(event.TaskCompleted, "", StepTimeout),
		on(event.Stop, "", short),
		on(event.SubagentStop, "", short),
		on(event.SessionStart, "compact|resume", short),
	)
}

// servedTools matches the tools of "fsmtx mcp", under whatever name the server runs. The
// hook tells them which session calls: a server that outlives /clear does not know it
// (fact 92, client 2.1.329).
const servedTools = "mcp__.*__(workflow_status|step_start|step_complete|step_skip)"

// StepTimeout is the timeout in seconds of a hook that may run checks. It is above
// fsmspec.MaxCheckTimeout, so above the longest check of any workflow: the model hears
// nothing of a hook that the client kills (fact 46).
const StepTimeout = 1860

const (
	// defaultWait is how long hydrate and recover wait for locks without flags.
	defaultWait = 5 * time.Second
	// margin is what a hook may take beyond its wait for locks. It reads and commits
	// in milliseconds; seconds are for a machine under load and a disk that is slow to
	// sync. A hook that waits in vain must have time left to roll back and say why: the
	// model hears nothing of one that the client kills (fact 46).
	margin = 5 * time.Second
)

// TimeLimit returns the timeout of a hook, in seconds, that waits so long for locks:
// 5 s more, rounded up.
func TimeLimit(wait time.Duration) int {
	return int((wait + margin + time.Second - 1) / time.Second)
}

// DefaultFlags returns hydrate's flags for users who choose none. They tell the
// agent which tasks it has, because newer models have no task tools (fact 32).
func DefaultFlags() []string { return []string{"--announce"} }

func (h Hook) subcommand() string { return strings.Join(h.Args, " ") }

// owns reports whether a call, in a group with that matcher, is this hook, whatever its
// path and flags.
func (h Hook) owns(c call, matcher string) bool {
	if len(c.args) == 0 || c.args[0] != h.Args[0] {
		return false
	}
	for _, arg := range h.Args {
		if !slices.Contains(c.args, arg) {
			return false
		}
	}
	return h.isProgram(c.program) && h.isTool(matcher)
}

func (h Hook) isTool(matcher string) bool {
	names := strings.FieldsFunc(matcher, func(r rune) bool { return !unicode.IsLetter(r) })
	named := slices.IndexFunc(h.Tools, func(tool string) bool { return slices.Contains(names, tool) })
	return max(named, 0) == h.Tool
}

// isProgram reports whether the path is this program: by its usual name, by the
// path that the hook has now, or through a link.
func (h Hook) isProgram(path string) bool {
	if filepath.Base(path) == Program || path == h.Command {
		return true
	}
	own, err := exec.LookPath(h.Command) // it may be a name
	return err == nil && filepath.IsAbs(path) && sameFile(path, own)
}

// flagsOf returns the arguments of a call that h owns, without those that identify
// the hook. It never returns nil.
func (h Hook) flagsOf(c call) []string {
	flags := slices.Clone(c.args)
	for _, arg := range h.Args {
		i := slices.Index(flags, arg)
		flags = slices.Delete(flags, i, i+1)
	}
	return append([]string{}, flags...)
}
