package hook

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Loosening is the rule about one command: whether it takes something away from what is
// enforced, or from what is on record. An agent may run it then only with a person's yes.
type Loosening struct {
	Command string                    // without the program's name
	When    func(*pflag.FlagSet) bool // nil, if there is no rule: never
	What    string                    // what an agent cannot do by itself
	Wide    bool                      // it is about every list of the project
	flags   []string                  // those that When reads, if fsmtx itself does not have the command; one with = has a value
}

// Loosenings has the rules. It is a function because a package variable
// would be filled at each start of a hook.
func Loosenings() []Loosening {
	return []Loosening{
		{Command: "step skip", When: always, What: "go past a gate"},
		{Command: "step done", When: always, What: "go past a gate"},
		{Command: "step reopen", When: always, What: "reopen a step"},
		{Command: "step end", When: always, What: "end a workflow"},
		{Command: "step allow", When: always, What: "go past a gate"},
		{Command: "step move", When: always, What: "say where the gates look"},
		{Command: "step reload", When: unless("dry-run"), What: "take a changed workflow"},
		{Command: "recover", When: given("force"), What: "set aside the record of an interrupted call"},
		{"undo", unless("dry-run"), "undo a workflow", false, []string{"dry-run", "force", "list="}},
		{"doctor", given("fix"), "remove what doctor calls left over or stale", true, []string{"fix"}},
		{"install", lessEnforced, "remove or loosen the hooks of fsmtx", true, lessFlags},
		{"plugin", lessEnforced, "write a plugin that enforces less", true, lessFlags},
		{"guard unlock", always, "remove the planning lock", true, nil},
		{"guard reset", always, "reset what the guards have counted", true, nil},
	}
}

// RuleOf returns the rule about the command with a path such as "step skip". A command that is not in the table takes nothing
// away.
func RuleOf(path string) Loosening {
	all := Loosenings()
	i := slices.IndexFunc(all, func(l Loosening) bool { return l.Command == path })
	if i < 0 {
		return Loosening{Command: path}
	}
	return all[i]
}

// Takes reports whether the command with these flags takes something away.
func (l Loosening) Takes(flags *pflag.FlagSet) bool { return l.When != nil && l.When(flags) }

// Personal reports whether the command decides about a step, which no service has to do.
func (l Loosening) Personal() bool { return strings.HasPrefix(l.Command, "step ") }

func always(*pflag.FlagSet) bool { return true }

func given(names ...string) func(*pflag.FlagSet) bool {
	return func(flags *pflag.FlagSet) bool {
		return slices.ContainsFunc(names, func(name string) bool { return isSet(flags, name) })
	}
}

func unless(names ...string) func(*pflag.FlagSet) bool {
	return func(flags *pflag.FlagSet) bool { return !given(names...)(flags) }
}

// lessFlags are the flags that lessEnforced reads.
var lessFlags = []string{"check", "print", "remove", "purge", "no-steps", "observe", "with=", "stop=", "checks="}

// lessEnforced reports whether install or plugin leaves less enforced than they would
// without their flags.
func lessEnforced(flags *pflag.FlagSet) bool {
	if given("check", "print")(flags) {
		return false // changes nothing
	}
	if with := flags.Lookup("with"); with != nil && strings.Contains(with.Value.String(), "none") {
		return true
	}
	behind := flags.ArgsLenAtDash()
	if given("remove", "purge", "no-steps", "observe")(flags) || behind >= 0 && dropsFlags(flags.Args()[behind:]) {
		return true
	}
	stop, checks := flags.Lookup("stop"), flags.Lookup("checks")
	return checks != nil && checks.Changed && checks.Value.String() != "on" || stop != nil && stop.Changed && stop.Value.String() != "hold"
}

// dropsFlags reports whether the flags of hydrate that a person may have chosen are replaced by
// these, after "--", with less than before: by none, or by those about what a hydration may
// replace, what is kept of it, and what is told.
func dropsFlags(args []string) bool {
	return len(args) == 0 || slices.ContainsFunc(args, func(arg string) bool {
		name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return slices.Contains([]string{"history", "log", "lock-timeout"}, name) ||
			name == "active" && value != "refuse" || name == "nest" && value != "on" || name == "scope" && value != "skill" ||
			name == "announce" && slices.Contains([]string{"false", "f", "F", "FALSE", "False", "0"}, value)
	})
}

func isSet(flags *pflag.FlagSet, name string) bool {
	f := flags.Lookup(name)
	return f != nil && f.Changed && f.Value.String() != "false"
}

// Read returns the flags that the rule reads, as the arguments set them; nil if the arguments ask for help, or are wrong.
func (l Loosening) Read(args []string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(l.Command, pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	for _, name := range l.flags {
		if name, ok := strings.CutSuffix(name, "="); ok {
			flags.String(name, "", "")
		} else {
			flags.Bool(name, false, "")
		}
	}
	if flags.Parse(args) != nil {
		return nil
	}
	return flags
}

// OnlyAPerson is the advice about a command that only a person can decide, for an agent, or for a person who has typed it with !.
func OnlyAPerson(who caller.Caller, dir, line string) string {
	if title := agent.Unasked(who.Program); title != "" {
		return "only a person can decide this, in a terminal outside " + title + ": " + inTerminal(dir, line)
	}
	return "only a person can decide this, in a terminal outside the client, not with ! in it: " + inTerminal(dir, line) +
		". Or the agent runs it as a command of its own that begins with fsmtx and has no variables, and the client asks the person"
}

// inTerminal returns the command line with which a person runs the command in any terminal.
func inTerminal(dir, line string) string {
	if dir == "" {
		return line
	}
	return "cd " + shell.Join(dir) + shell.Then() + line
}

// Here returns the working directory, empty if it is gone.
func Here() string {
	dir, _ := os.Getwd()
	return dir
}

// Outside returns the command as it has to be outside the session, whose environment names
// its list: the session's, unless it is shared.
func Outside(rule Loosening, flags *pflag.FlagSet, args []string, line, list string) string {
	step := strings.HasPrefix(rule.Command, "step ")
	switch {
	case list == "":
	case rule.Command == "continue" && !isSet(flags, "to"):
		return line + " --to " + shell.Join(list)
	case isSet(flags, "list"):
	case step || rule.Command == "begin" || rule.Command == "undo":
		return line + " --list " + shell.Join(list)
	}
	return line
}

// Line returns the call of fsmtx with these arguments, as a shell reads it.
func Line(args []string) string { return shell.Join(append([]string{"fsmtx"}, args...)...) }
