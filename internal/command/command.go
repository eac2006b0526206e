// Package command is the program's command line: flags, messages, hints and exit
// codes. Each subcommand has a file of its own.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Exit codes shared by the subcommands. A subcommand that uses others documents them
// in its help.
const (
	ExitOK    = 0
	ExitNo    = 1 // the command failed, or its answer is no
	ExitUsage = 2 // the command line is wrong: not of a hook, for which 2 means something else
	ExitBlock = 2 // as a hook: the client shows standard error to the agent (fact 22)
)

// Exit is an error that ends the program with an exit code. With a nil err nothing is
// printed: the command has already printed everything.
type Exit struct {
	Code int
	Err  error
	Hint string
}

// Fail returns the error that ends the program with the code, with a hint that may be empty.
func Fail(code int, err error, hint string) error { return &Exit{code, err, hint} }

func (e *Exit) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

// Subcommands are the commands of fsmtx itself; the other program has all. They are built on demand: a hook, which the
// client starts for every skill, builds only the one that it runs.
func Subcommands() []Subcommand {
	return []Subcommand{
		{Name: "recover", Group: ForFollowing, Make: newRecover},
		{Name: "statusline", Group: ForFollowing, Make: newStatusline}, // the client runs it every few seconds
		{Name: "begin", Group: ForAgents, Misused: misusedWork("begin"), other: "--" + hook.PlanFlag,
			Make: func(s terminal.Streams) *cobra.Command { return NewBegin(s, nil) }},
		{Name: "continue", Group: ForAgents, Make: newContinue, Misused: misusedWork("continue")},
		{Name: "next", Group: ForAgents, Make: newNext, Misused: misusedWork("next")},
		{Name: "start", Group: ForAgents, Make: newStart, Misused: misusedWork("start")},
		{Name: "complete", also: progress.Finish, Group: ForAgents, Make: newComplete, Misused: misusedWork("complete")},
		{Name: "hydrate", Group: ForClient, Make: newHydrate, Misused: misusedHook},
		{Name: "step", Group: ForFollowing, Make: newStep, Below: stepSubcommands},
		{Name: "hook", Group: ForClient, Make: NewHook, Misused: misusedHook},
		{Name: "guard", Group: ForClient, Make: newGuard, Below: guardSubcommands, takes: isGuard},
	}
}

// The groups of the commands in the help.
const (
	ForWriting   = "write"
	ForFollowing = "follow"
	ForSetup     = "setup"
	ForAgents    = "agents"
	ForClient    = "client"
)

type Subcommand struct {
	Name    string
	also    string // another name; empty if there is none
	Group   string // in the help; empty for a subcommand of another command
	Make    func(terminal.Streams) *cobra.Command
	Misused func(terminal.Streams, error) error // handles invalid flags; nil for the default
	Below   func() []Subcommand                 // its own subcommands
	other   string                              // a flag with which the other program runs it; empty if there is none
	Scripts bool                                // scripts run it, so it takes -C
	takes   func(arg string) bool               // reports whether a word that is none of them is an argument; nil is no
}

func (sub Subcommand) has(name string) bool {
	return name == sub.Name || name != "" && name == sub.also
}

// Build returns the command with its subcommands.
func (sub Subcommand) Build(s terminal.Streams) *cobra.Command {
	c := sub.Make(s)
	if sub.Below != nil {
		for _, below := range sub.Below() {
			c.AddCommand(below.Build(s))
		}
	}
	return sub.dress(s, c)
}

// checkArguments says of a wrong number of arguments what the command takes, and of flags that
// exclude one another which they are: cobra says "accepts 1 arg(s), received 0" and "if any flags in
// the group [watch json] are set none of the others can be".
func checkArguments(c *cobra.Command, misused func(*cobra.Command, error) error) {
	check := c.Args
	if check == nil && c.HasSubCommands() {
		return
	}
	if check == nil {
		check = cobra.ArbitraryArgs
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		switch {
		case err == nil:
			if err := c.ValidateFlagGroups(); err != nil {
				return misused(c, err)
			}
			return nil
		case !strings.HasPrefix(err.Error(), "accepts ") && !strings.HasPrefix(err.Error(), "requires at "):
			return err
		}
		return &Exit{ExitUsage, fmt.Errorf("got %s, want: %s", InWords(args),
			strings.TrimSuffix(c.UseLine(), " [flags]")), "run " + c.CommandPath() + " --help"}
	}
}

// InWords says how many arguments there are, and of a single one that it is empty, as that of a variable that is not set.
func InWords(args []string) string {
	if len(args) == 1 && args[0] == "" {
		return "an empty argument"
	}
	return terminal.Count(len(args), "argument")
}

// plainFlagError says in plain words what cobra and package strconv say of flags.
func plainFlagError(err error) error {
	text := err.Error()
	if _, set, ok := strings.Cut(text, "none of the others can be; ["); ok {
		set, _, _ = strings.Cut(set, "]")
		return errors.New("--" + strings.Join(strings.Fields(set), " and --") + " cannot be combined")
	}
	for cause, want := range map[string]string{": strconv.ParseBool: ": "true or false", ": strconv.ParseInt: ": "a whole number",
		": time: ": "a time such as 10s, 5m or 2h"} {
		if flag, _, ok := strings.Cut(text, cause); ok {
			return errors.New(flag + ": want " + want)
		}
	}
	return err
}

// misusedFlags is the error of flags that cannot be used.
func misusedFlags(c *cobra.Command, err error) error {
	return &Exit{ExitUsage, plainFlagError(err), "run " + c.CommandPath() + " --help"}
}

// AsUsage gives an error about what was typed the exit code of a wrong command line, if it has no other.
func AsUsage(err error) error {
	e, ok := errors.AsType[*Exit](err)
	switch {
	case err == nil || ok && e.Code != ExitNo:
		return err
	case ok:
		return &Exit{ExitUsage, e.Err, e.Hint}
	}
	return &Exit{Code: ExitUsage, Err: err}
}

// runAsHook reports whether the client runs the command as a hook.
func (sub Subcommand) runAsHook() bool {
	return slices.Contains([]string{"hook", "hydrate", "guard"}, sub.Name)
}

// dress adds to a command what all have: errors for flags that it does not have and for too
// many or too few arguments.
func (sub Subcommand) dress(s terminal.Streams, c *cobra.Command) *cobra.Command {
	misused := misusedFlags
	if sub.Misused != nil {
		misused = func(_ *cobra.Command, err error) error { return sub.Misused(s, plainFlagError(err)) }
	}
	checkArguments(c, misused)
	if check := c.Args; check != nil && (!sub.runAsHook() || c.HasSubCommands()) {
		c.Args = func(c *cobra.Command, args []string) error { return AsUsage(check(c, args)) }
	}
	if sub.Scripts {
		inDirectory(c, func(err error) error {
			if sub.Misused != nil {
				return sub.Misused(s, err)
			}
			return AsUsage(err)
		})
	}
	c.SetFlagErrorFunc(commandFirst(misused))
	return c
}

// commandFirst lets a command that has subcommands say that it does not have the one before an unknown flag: the flag is
// that of the subcommand that was meant.
func commandFirst(misused func(*cobra.Command, error) error) func(*cobra.Command, error) error {
	return func(c *cobra.Command, err error) error {
		if args := c.Flags().Args(); len(args) > 0 && c.HasSubCommands() {
			if unknown := c.ValidateArgs(args); unknown != nil {
				return unknown
			}
		}
		return misused(c, err)
	}
}

// Main runs fsmtx with the arguments after its name and returns its exit code. For a command that fsmtx does not have, and
// for help, it replaces this process by the other program.
func Main(args []string, s terminal.Streams) int {
	if f := readHook(args); f != nil {
		return ended(s, func(s terminal.Streams) error { return runHook(context.Background(), s, f) })
	}
	if len(args) == 0 && isFed(s) {
		return ExitOK
	}
	p := Program{Commands: Subcommands()}
	if !p.has(args) {
		err := programs.Start(args, programs.GetBuild().Version)
		s.Errorf("%v", err)
		s.Hintf("%s", message.Hint(err))
		return ExitNo
	}
	return p.Run(args, s)
}

// Program is what the two programs have in common.
type Program struct {
	Commands []Subcommand
	// Other returns the command for arguments that call none of them; nil if there are no such arguments.
	Other func(terminal.Streams) *cobra.Command
	// Finish adds help and completion; nil adds none.
	Finish func(root *cobra.Command, args []string, misused *error)
}

// has reports whether the arguments call a command of the program, and are not about help.
func (p Program) has(args []string) bool {
	sub, _, rest := findSubcommand(p.Commands, args)
	if sub == nil {
		return false
	}
	for _, arg := range rest {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return true
		case arg == "-h", arg == "--help", sub.other != "" && name == sub.other:
			return false
		}
	}
	isWord := func(arg string) bool { return !strings.HasPrefix(arg, "-") }
	i := slices.IndexFunc(rest, isWord)
	return sub.Below == nil || i < 0 || sub.takes != nil && sub.takes(rest[i])
}

// Run runs the command that the arguments call, and returns the exit code.
func (p Program) Run(args []string, s terminal.Streams) int {
	return ended(s, func(s terminal.Streams) error {
		var misused error
		err := p.Root(args, s, &misused).ExecuteContext(context.WithValue(context.Background(), wordsKey{}, args))
		return cmp.Or(err, misused)
	})
}

// ended runs a command and returns its exit code. If standard output could not be written, that is an error of every command.
func ended(s terminal.Streams, run func(terminal.Streams) error) int {
	out, errs := terminal.NewOutput(s.Out), terminal.NewOutput(s.Err)
	out.Spell, errs.Spell = programs.Spell, programs.Spell
	s.Out, s.Err = out, errs
	err := run(s)
	if lost := out.Err(); lost != nil && (err == nil || !strings.Contains(err.Error(), lost.Error())) {
		err = unwritten(err, lost)
	}
	if err == nil {
		return ExitOK
	}
	code, advice := cmp.Or(signals.ExitCode(err), ExitNo), ""
	if e, ok := errors.AsType[*Exit](err); ok {
		code, advice = e.Code, e.Hint
	}
	if err.Error() != "" {
		s.Errorf("%v", err)
		advice = cmp.Or(advice, message.Hint(err), Remedy(err))
	}
	if advice != "" {
		s.Hintf("%s", advice)
	}
	return code
}

// unwritten returns the error of a command that ended with err, and whose output was lost.
func unwritten(err, lost error) error {
	code, hint := ExitNo, ""
	if e, ok := errors.AsType[*Exit](err); ok {
		code, hint = e.Code, e.Hint
	}
	lost = fmt.Errorf("cannot write the result: %w", lost)
	if err == nil || err.Error() == "" {
		return &Exit{Code: code, Err: lost}
	}
	return &Exit{code, errors.Join(err, lost), hint}
}

// Root returns the command that args call, as a root command: cobra adds the subcommands help and completion to a
// root that has subcommands, and building these would slow down every hook. misused is set if help is asked for a command
// that does not exist: cobra takes no error from printing help.
func (p Program) Root(args []string, s terminal.Streams, misused *error) (root *cobra.Command) {
	sub, path, rest := findSubcommand(p.Commands, args)
	if sub != nil {
		root, args = sub.Build(s), rest
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "fsmtx " + path}
	} else {
		root = p.Other(s)
		root.SetFlagErrorFunc(commandFirst(misusedFlags))
	}
	holdBack(s, root)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = sub != nil // else cobra builds it at each start for nothing
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetArgs(args)
	if p.Finish != nil {
		p.Finish(root, args, misused)
	}
	return root
}

// findSubcommand returns the deepest subcommand that args begin with, its full name and
// the rest of args. sub is nil if args do not begin with a subcommand.
func findSubcommand(all []Subcommand, args []string) (sub *Subcommand, path string, rest []string) {
	i := slices.IndexFunc(all, func(sub Subcommand) bool { return len(args) > 0 && sub.has(args[0]) })
	if i < 0 {
		return nil, "", args
	}
	if all[i].Below != nil {
		if below, path, rest := findSubcommand(all[i].Below(), args[1:]); below != nil {
			return below, all[i].Name + " " + path, rest
		}
	}
	return &all[i], all[i].Name, args[1:]
}

// NoSuchCommand returns an error for an unknown command, with a similar one as hint.
func NoSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "run " + c.CommandPath() + " --help"
	if meant := commandMeant(c, args[0]); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	return &Exit{ExitUsage, fmt.Errorf("unknown command %q", args[0]), hint}
}

// commandMeant returns the path of the command that a word probably means, "" if there is none:
// what other programs call by it, a command of a group, or the one that is spelled most like it.
func commandMeant(c *cobra.Command, word string) string {
	if word == "" { // every name begins with it
		return ""
	}
	if other := otherWord(word); other != "" && strings.HasPrefix("fsmtx "+other, c.CommandPath()+" ") {
		return "fsmtx " + other
	}
	if !c.HasParent() {
		for _, group := range c.Commands() {
			if of, _, err := group.Find([]string{word}); err == nil && of != group {
				return of.CommandPath()
			}
		}
	}
	c.SuggestionsMinimumDistance = min(2, len(word)/2) // of three letters, two others are another word
	near := c.SuggestionsFor(word)
	if len(near) == 0 {
		return ""
	}
	// A word with two letters swapped is meant before one that is as near by other mistakes.
	mistakes := func(name string) int {
		if letters(name) == letters(word) {
			return 1
		}
		return message.Distance(word, name, len(word)+1)
	}
	return c.CommandPath() + " " + slices.MinFunc(near, func(a, b string) int { return mistakes(a) - mistakes(b) })
}

// letters returns the letters of a word in the order of the alphabet.
func letters(word string) string {
	all := []rune(word)
	slices.Sort(all)
	return string(all)
}

// otherWord returns the command for a word that other programs use for it, "" if there is
// none.
func otherWord(name string) string {
	return map[string]string{ // a package variable would be filled at every start of a hook
		"approve":   "step done",
		"uninstall": "install --remove",
		"why":       "status",
		"remove":    "install --remove",
		"check":     "validate",
		"lint":      "validate",
		"format":    "fmt",
		"draw":      "graph",
		"create":    "new",
		"list":      "locate",
		"history":   "log",
		"revert":    "undo",
	}[name]
}

// Takes returns the check of a command that takes at least so many arguments and at most one. want says
// which it is.
func Takes(least int, want, hint string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > 1 {
			return &Exit{ExitNo, fmt.Errorf("got %d arguments, want %s", len(args), want), hint}
		}
		if len(args) == 1 && args[0] == "" { // a variable that is not set
			return &Exit{ExitNo, errors.New("got an empty argument, want " + want), hint}
		}
		return nil
	}
}

// NoArguments returns an error for positional arguments.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &Exit{ExitNo, fmt.Errorf("unexpected argument %q", args[0]), "run " + c.CommandPath() + " --help"}
}

// Example formats the examples of a command for its help.
func Example(lines ...string) string {
	return "  " + strings.Join(lines, "\n  ")
}
