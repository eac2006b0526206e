package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Loosening is the rule about one command: whether it takes something away from what is
// enforced, or from what is on record. An agent may run it then only with a person's yes.
type Loosening struct {
	Command string                    // without the program's name
	When    func(*pflag.FlagSet) bool // nil: never
	What    string                    // what an agent cannot do by itself
	flags   []string                  // those that when reads, if fsmtx itself does not have the command; one with = has a value
}

// Loosenings has the rule about every command. It is a function because a package variable
// would be filled at each start of a hook.
func Loosenings() []Loosening {
	return []Loosening{
		{Command: "step skip", When: always, What: "go past a gate"},
		{Command: "step done", When: always, What: "go past a gate"},
		{Command: "step reopen", When: always, What: "reopen a step"},
		{Command: "step end", When: always, What: "end a workflow"},
		{Command: "step allow", When: always, What: "go past a gate"},
		{Command: "step move", When: always, What: "say where the gates look"},
		{Command: "recover", When: given("force"), What: "set aside the record of an interrupted hydration"},
		{"undo", unless("dry-run"), "undo a workflow", []string{"dry-run"}},
		{"doctor", given("fix"), "remove what doctor calls left over or stale", []string{"fix"}},
		{"install", lessEnforced, "remove or loosen the hooks of fsmtx", lessFlags},
		{"plugin", lessEnforced, "write a plugin that enforces less", lessFlags},
		{"guard unlock", always, "remove the planning lock", nil},
		{"guard reset", always, "reset what the guards have counted", nil},

		{Command: "init"}, {Command: "new"}, {Command: "validate"}, {Command: "fmt"}, {Command: "graph"}, {Command: "schema"},
		{Command: "locate"}, {Command: "plan"}, {Command: "status"}, {Command: "statusline"}, {Command: "log"}, {Command: "demo"},
		{Command: "begin"}, {Command: "next"}, {Command: "start"}, {Command: "complete"},
		{Command: "version"}, {Command: "hydrate"}, {Command: "hook"}, {Command: "mcp"}, {Command: "step"}, {Command: "step show"},
		{Command: "guard"}, {Command: "guard list"}, {Command: "guard explain"}, {Command: "guard skill-files"},
		{Command: "hooks"}, {Command: "hooks fire"}, {Command: "hooks eval"}, {Command: "hooks tool"}, {Command: "hooks model"},
		{Command: "hooks list"}, {Command: "hooks check"}, {Command: "hooks status"},
	}
}

// ruleOf returns the rule about the command. A command that is not in the table takes nothing
// away.
func ruleOf(c *cobra.Command) Loosening {
	path := strings.TrimPrefix(c.CommandPath(), "fsmtx ")
	all := Loosenings()
	i := slices.IndexFunc(all, func(l Loosening) bool { return l.Command == path })
	if i < 0 {
		return Loosening{Command: path}
	}
	return all[i]
}

// takes reports whether the command with these flags takes something away.
func (l Loosening) takes(flags *pflag.FlagSet) bool { return l.When != nil && l.When(flags) }

// personal reports whether the command decides about a step, which no service has to do.
func (l Loosening) personal() bool { return strings.HasPrefix(l.Command, "step ") }

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
var lessFlags = []string{"check", "print", "remove", "purge", "no-steps", "with=", "stop=", "checks="}

// lessEnforced reports whether install or plugin leaves less enforced than they would
// without their flags.
func lessEnforced(flags *pflag.FlagSet) bool {
	if given("check", "print")(flags) {
		return false // changes nothing
	}
	if with := flags.Lookup("with"); with != nil && strings.Contains(with.Value.String(), "none") {
		return true
	}
	if given("remove", "purge", "no-steps")(flags) || flags.ArgsLenAtDash() >= 0 && dropsFlags(flags.Args()[flags.ArgsLenAtDash():]) {
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

// GrantFlag carries the token of a grant, which the hook adds when it asks the person.
const GrantFlag = "grant"

// addGrant adds that flag to a command.
func addGrant(c *cobra.Command, token *string) {
	c.Flags().StringVar(token, GrantFlag, "", "the person's yes, which the hook adds")
	_ = c.Flags().MarkHidden(GrantFlag)
}

// holdBack makes c and the commands below it apply their rule before anything else is done.
func holdBack(s terminal.Streams, c *cobra.Command) {
	for _, sub := range c.Commands() {
		holdBack(s, sub)
	}
	rule := ruleOf(c)
	if rule.When == nil {
		return
	}
	token := new(string)
	addGrant(c, token)
	next := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if rule.takes(c.Flags()) {
			by, err := permit(c, s, rule, *token, args)
			if err != nil {
				return err
			}
			c.SetContext(context.WithValue(c.Context(), decider{}, by))
		}
		if next == nil {
			return nil
		}
		return next(c, args)
	}
}

// decider is the key of who decided that a command may run.
type decider struct{}

// decidedBy returns who decided that the command of this context may run.
func decidedBy(ctx context.Context) steps.By {
	by, _ := ctx.Value(decider{}).(steps.By)
	return by
}

// permit returns who decided that the command may run: the person at the terminal, or the
// one who has agreed to this call of the agent.
func permit(c *cobra.Command, s terminal.Streams, rule Loosening, token string, args []string) (steps.By, error) {
	switch who := s.Who(); {
	case who.Kind == caller.Person && !(rule.personal() && isYounger(c, s, who)):
		return steps.By{Who: steps.ThePerson, How: steps.AtTerminal, TTY: &who.Terminal}, nil
	case who.Kind == caller.Script && !rule.personal():
		return steps.By{Who: steps.TheCommand, How: steps.ByShell}, nil
	case who.Kind == caller.Script:
		return steps.By{}, &Exit{ExitNo, fmt.Errorf("only a person can %s, and nothing shows that one ran this: %s", rule.What, who.Why),
			"run it in a terminal outside the client"}
	case who.Kind == caller.Agent:
		line := commandLine(c.Context())
		g, err := useGrant(c.Context(), s, c.Flags(), token, line)
		if err == nil {
			return steps.By{Who: steps.ThePerson, How: steps.ByQuestion, Session: g.Session, Agent: g.Agent}, nil
		}
		if !errors.Is(err, steps.ErrNoGrant) {
			return steps.By{}, err
		}
		return steps.By{}, &Exit{ExitNo, fmt.Errorf("an agent cannot %s by itself (%s)", rule.What, who.Why),
			onlyAPerson(who, here(), elsewhere(rule, c.Flags(), args, line, s.Env("CLAUDE_CODE_SESSION_ID")))}
	default:
		if who.Kind == caller.Person {
			who.Why = "this terminal was opened after the workflow was begun, so its agent may have opened it"
		}
		return steps.By{}, &Exit{ExitNo, fmt.Errorf("it is not known who ran this, and an agent cannot %s by itself: %s", rule.What, who.Why),
			"a person has to run it, in a terminal that is older than the workflow and its agent, a console, or over ssh"}
	}
}

// isYounger reports whether what is above the command began after the workflow that it decides about: its agent may have started it.
func isYounger(c *cobra.Command, s terminal.Streams, who caller.Caller) bool {
	if who.Since.IsZero() {
		return false
	}
	session := c.Flags().Lookup("session")
	if session == nil {
		return false
	}
	frame, err := stepFrame(s, session.Value.String())
	if err != nil {
		return false // the command says so
	}
	state, err := steps.LoadNow(c.Context(), frame.List.Dir)
	return err == nil && !state.Began().IsZero() && !who.Since.Before(state.Began())
}

// onlyAPerson is the advice about a command that only a person can decide, for an agent.
func onlyAPerson(who caller.Caller, dir, line string) string {
	if a := agent.Named(who.Program); a != nil {
		return "only the person can decide this. They can run it in a terminal outside " + a.Title + ": " + inTerminal(dir, line)
	}
	return "only the person can decide this. They can run it in a terminal outside the client, not with ! in it: " + inTerminal(dir, line) +
		". Or run it as a call of Bash of its own that begins with fsmtx and has no variables, and the client asks them"
}

// inTerminal returns the command line with which a person runs the command in any terminal.
func inTerminal(dir, line string) string {
	if dir == "" {
		return line
	}
	return "cd " + shell.Join(dir) + " && " + line
}

// here returns the working directory, empty if it is gone.
func here() string {
	dir, _ := os.Getwd()
	return dir
}

// elsewhere returns the command as it has to be outside the session, whose environment names
// its list.
func elsewhere(rule Loosening, flags *pflag.FlagSet, args []string, line, session string) string {
	switch {
	case session == "":
	case strings.HasPrefix(rule.Command, "step ") && !isSet(flags, "session") && !isSet(flags, "list"):
		return line + " --session=" + shell.Join(session)
	case rule.Command == "undo":
		if named, _ := SessionAndNumber(args); named == "" {
			return strings.Replace(line, "fsmtx undo", "fsmtx undo "+shell.Join(session), 1)
		}
	}
	return line
}

// wordsKey is the key of the program's arguments in the context of a command.
type wordsKey struct{}

// commandLine returns the command that is run, as a shell reads it.
func commandLine(ctx context.Context) string {
	words, _ := ctx.Value(wordsKey{}).([]string)
	return lineFrom(words)
}

// lineFrom returns the call of fsmtx with these arguments, as a shell reads it, without a grant.
func lineFrom(args []string) string {
	words := []string{"fsmtx"}
	for _, arg := range args {
		if !strings.HasPrefix(arg, "--"+GrantFlag+"=") {
			words = append(words, arg)
		}
	}
	return shell.Join(words...)
}

// useGrant uses up the grant of the token in the list of the session that asked, which is
// that of the environment or of --session.
func useGrant(ctx context.Context, s terminal.Streams, flags *pflag.FlagSet, token, line string) (g steps.Grant, err error) {
	if token == "" {
		return g, steps.ErrNoGrant
	}
	named := ""
	if f := flags.Lookup("session"); f != nil {
		named = f.Value.String()
	}
	for _, session := range []string{s.Env("CLAUDE_CODE_SESSION_ID"), named} {
		if session == "" && s.Env("CLAUDE_CODE_TASK_LIST_ID") == "" {
			continue
		}
		frame, err := stepFrame(s, cmp.Or(session, named))
		if err != nil {
			return g, err
		}
		if g, err = frame.UseGrant(ctx, token, line); !errors.Is(err, steps.ErrNoGrant) {
			return g, err
		}
	}
	return g, steps.ErrNoGrant
}
