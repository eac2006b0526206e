package settings

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
		{event.PostToolUse, "Skill", binary, hydrate, flags, timeout},
		{event.UserPromptExpansion, "", binary, hydrate, flags, timeout},
		{event.PreToolUse, taskTools, binary, hydrate, flags, timeout},
		{event.Stop, "", binary, hydrate, flags, timeout},
		{event.SessionStart, "", binary, recover, nil, timeout},
	}
}

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

// owns reports whether the call is this hook, whatever its path and flags.
func (h Hook) owns(c call) bool {
	if len(c.args) == 0 || c.args[0] != h.Args[0] {
		return false
	}
	for _, arg := range h.Args {
		if !slices.Contains(c.args, arg) {
			return false
		}
	}
	return h.isProgram(c.program)
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
