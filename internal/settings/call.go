package settings

import (
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/shell"
)

// call is what an entry of the settings runs.
type call struct {
	program string // empty if the entry does anything other than running one program
	args    []string
	line    string // of the shell that runs the entry; empty for an entry with "args"
}

// pluginRoot is the directory of a plugin: the client replaces it in "command" and "args",
// and sets a variable of that name (facts 24 and 25, client 2.1.197).
const pluginRoot = "${CLAUDE_PLUGIN_ROOT}"

// Called returns the program that a hook with this "command" and these "args" runs, and its
// arguments. args is nil if the hook has none. program is empty if the hook is a script of
// the shell that does anything else.
func Called(command string, args []string) (program string, arguments []string) {
	c := called(command, args)
	return c.program, c.args
}

// called parses a shell command line, if there are no args. The program is empty unless the line calls one
// program and does nothing else: a user wrote any other line, so it is not edited.
func called(line string, args []string) call {
	if args != nil {
		return call{program: line, args: joined(args)}
	}
	words, ok := shell.Guarded(line)
	c := call{line: line}
	if ok {
		c.program, c.args = words[0], joined(words[1:])
	}
	if rest, ok := strings.CutPrefix(c.program, "$CLAUDE_PLUGIN_ROOT/"); ok {
		c.program = pluginRoot + "/" + rest
	}
	return c
}

// joined returns arguments in which the agent is one of them: --agent=NAME.
func joined(args []string) []string {
	if i := slices.Index(args, "--agent"); i >= 0 && i+1 < len(args) {
		return slices.Concat(args[:i], []string{"--agent=" + args[i+1]}, args[i+2:])
	}
	return args
}

// isHook reports whether arguments are those of the hook of an agent, of which args has the flag. A person may have left the flag
// out, and the hook has another name.
func isHook(args []string, flag string) bool {
	if len(args) == 0 || !slices.Contains([]string{"hook", "hydrate"}, args[0]) {
		return false
	}
	for _, arg := range args[1:] {
		if strings.HasPrefix(arg, "--agent=") && arg != flag {
			return false
		}
	}
	return true
}

// word returns the program as one word of a shell. The shell finds a path in a plugin through
// the environment (fact 126): text that the client puts in place of the name in braces would be
// read by the shell.
func word(program string) string {
	if rest, ok := strings.CutPrefix(program, pluginRoot); ok {
		return `"$CLAUDE_PLUGIN_ROOT"` + shell.Join(rest)
	}
	return shell.Join(program)
}
