package settings

import (
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// program is the base name by which an entry is known to be ours, wherever the
// program was installed before.
const program = "fsmtx"

// Hook is one command that the client runs, without a shell, on one event.
type Hook struct {
	Event   string   // as the client spells it
	Matcher string   // what of the event it is for; empty: all of it
	Command string   // path of the program
	Args    []string // the subcommand and what makes it this hook
	Flags   []string // what follows; the user's choice
	Timeout int      // seconds
}

// Hooks returns the hooks by which tasks come with their skill: hydrate when a
// skill was called by the agent or by the user, recover when a session starts.
// flags are hydrate's.
func Hooks(binary string, flags []string) []Hook {
	const timeout = 10
	hydrate, recover := []string{"hydrate"}, []string{"recover", "--hook"}
	return []Hook{
		{event.PostToolUse, "Skill", binary, hydrate, flags, timeout},
		{event.UserPromptExpansion, "", binary, hydrate, flags, timeout},
		{event.SessionStart, "", binary, recover, nil, timeout},
	}
}

// DefaultFlags are hydrate's flags where the user gave none: tell the agent
// which tasks now exist.
func DefaultFlags() []string { return []string{"--announce"} }

// owns reports whether the call is one of this hook, of whatever path, version
// and flags.
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

// isProgram reports whether the path is this program's: by its usual name, as it
// is called now, or by a link to it.
func (h Hook) isProgram(path string) bool {
	return filepath.Base(path) == program || path == h.Command || filepath.IsAbs(path) && sameFile(path, h.Command)
}

// flagsOf returns what a call that the hook owns has beyond the hook's own
// arguments; never nil.
func (h Hook) flagsOf(c call) []string {
	flags := slices.Clone(c.args)
	for _, arg := range h.Args {
		i := slices.Index(flags, arg)
		flags = slices.Delete(flags, i, i+1)
	}
	return append([]string{}, flags...)
}
