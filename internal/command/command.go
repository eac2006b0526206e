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
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/hint"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Exit codes shared by the subcommands. A subcommand that uses others documents them
// in its help.
const (
	exitOK    = 0
	exitNo    = 1 // the command failed, or its answer is no
	exitBlock = 2 // as a hook: the client shows standard error to the agent (fact 22)
)

// exit is an error that ends the program with an exit code. With a nil err nothing is
// printed: the command has already printed everything.
type exit struct {
	code int
	err  error
	hint string
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// subcommands are built on demand: a hook, which the client starts for every skill, builds
// only the one that it runs.
func subcommands() []subcommand {
	return []subcommand{
		{name: "init", group: forWriting, make: newInit},
		{name: "new", group: forWriting, make: newNew},
		{name: "validate", group: forWriting, make: newValidate, misused: refuseToValidate},
		{name: "fmt", group: forWriting, make: newFmt},
		{name: "graph", group: forWriting, make: newGraph},
		{name: "schema", group: forWriting, make: newSchema},
		{name: "locate", group: forWriting, make: newLocate},
		{name: "plan", group: forWriting, make: newPlan},
		{name: "status", group: forFollowing, make: newStatus},
		{name: "statusline", group: forFollowing, make: newStatusline},
		{name: "log", group: forFollowing, make: newLog},
		{name: "undo", group: forFollowing, make: newUndo},
		{name: "recover", group: forFollowing, make: newRecover},
		{name: "doctor", group: forFollowing, make: newDoctor},
		{name: "install", group: forSetup, make: newInstall},
		{name: "plugin", group: forSetup, make: newPlugin},
		{name: "demo", group: forSetup, make: newDemo},
		{name: "version", group: forSetup, make: newVersion},
		{name: "begin", group: forAgents, make: newBegin, misused: misusedWork("begin")},
		{name: "next", group: forAgents, make: newNext, misused: misusedWork("next")},
		{name: "start", group: forAgents, make: newStart, misused: misusedWork("start")},
		{name: "complete", also: progress.Finish, group: forAgents, make: newComplete, misused: misusedWork("complete")},
		{name: "hydrate", group: forClient, make: newHydrate, misused: refuseFlags},
		{name: "step", group: forFollowing, make: newStep, misused: refuseStep, below: stepSubcommands, hook: true},
		{name: "hook", group: forClient, make: newHook, misused: misusedHook},
		{name: "mcp", group: forClient, make: newMCP},
		{name: "guard", group: forClient, make: newGuard},
		{name: "hooks", group: forClient, make: newHooks, below: hooksSubcommands},
	}
}

// The groups of the commands in the help.
const (
	forWriting   = "write"
	forFollowing = "follow"
	forSetup     = "setup"
	forAgents    = "agents"
	forClient    = "client"
)

var groups = []*cobra.Group{
	{ID: forWriting, Title: "Write and inspect workflows:"},
	{ID: forFollowing, Title: "Follow the work, undo and repair:"},
	{ID: forSetup, Title: "Set up:"},
	{ID: forAgents, Title: "Work on a workflow, as an agent:"},
	{ID: forClient, Title: "Run by the client, or by other programs:"},
}

type subcommand struct {
	name    string
	also    string // another name; empty if there is none
	group   string // in the help; empty for a subcommand of another command
	make    func(terminal.Streams) *cobra.Command
	misused func(terminal.Streams, error) error // handles invalid flags; nil for the default
	below   func() []subcommand                 // its own subcommands
	hook    bool                                // with flags only it is a hook, which is built without its subcommands
}

func (sub subcommand) has(name string) bool {
	return name == sub.name || name != "" && name == sub.also
}

// build returns the command with its subcommands.
func (sub subcommand) build(s terminal.Streams) *cobra.Command {
	c := sub.make(s)
	if sub.below != nil {
		for _, below := range sub.below() {
			c.AddCommand(below.build(s))
		}
	}
	return sub.dress(s, c)
}

// buildFor returns the command for the arguments after its name.
func (sub subcommand) buildFor(s terminal.Streams, args []string) *cobra.Command {
	isFlag := func(arg string) bool { return strings.HasPrefix(arg, "-") && arg != "-h" && arg != "--help" }
	if sub.hook && !slices.ContainsFunc(args, func(arg string) bool { return !isFlag(arg) }) {
		return sub.dress(s, sub.make(s))
	}
	return sub.build(s)
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
		return &exit{exitNo, fmt.Errorf("got %s, want: %s", inWords(args),
			strings.TrimSuffix(c.UseLine(), " [flags]")), "run " + c.CommandPath() + " --help"}
	}
}

// inWords says how many arguments there are, and of a single one that it is empty, as that of a variable that is not set.
func inWords(args []string) string {
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
	return &exit{exitNo, plainFlagError(err), "run " + c.CommandPath() + " --help"}
}

// dress adds to a command what all have: -C, and errors for flags that it does not have and for too
// many or too few arguments.
func (sub subcommand) dress(s terminal.Streams, c *cobra.Command) *cobra.Command {
	misused := misusedFlags
	if sub.misused != nil {
		misused = func(_ *cobra.Command, err error) error { return sub.misused(s, plainFlagError(err)) }
	}
	checkArguments(c, misused)
	inDirectory(c, func(err error) error {
		if sub.misused != nil {
			return sub.misused(s, err)
		}
		return &exit{code: exitNo, err: err}
	})
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

// Main runs the program with the arguments after its name and returns its exit
// code. If standard output could not be written, that is an error of every command.
func Main(args []string, s terminal.Streams) int {
	out := terminal.NewOutput(s.Out)
	s.Out, s.Err = out, terminal.NewOutput(s.Err)
	var misused error
	err := newRoot(args, s, &misused).ExecuteContext(context.Background())
	if err == nil {
		err = misused
	}
	if lost := out.Err(); lost != nil && (err == nil || !strings.Contains(err.Error(), lost.Error())) {
		err = unwritten(err, lost)
	}
	if err == nil {
		return exitOK
	}
	code, advice := exitNo, ""
	if e, ok := errors.AsType[*exit](err); ok {
		code, advice = e.code, e.hint
	}
	if err.Error() != "" {
		s.Errorf("%v", err)
		advice = cmp.Or(advice, hint.Of(err), remedy(err))
	}
	if advice != "" {
		s.Hintf("%s", advice)
	}
	return code
}

// unwritten returns the error of a command that ended with err, and whose output was lost.
func unwritten(err, lost error) error {
	code, hint := exitNo, ""
	if e, ok := errors.AsType[*exit](err); ok {
		code, hint = e.code, e.hint
	}
	lost = fmt.Errorf("cannot write the result: %w", lost)
	if err == nil || err.Error() == "" {
		return &exit{code: code, err: lost}
	}
	return &exit{code, errors.Join(err, lost), hint}
}

// newRoot returns the command that args call. A subcommand becomes a root command itself:
// cobra adds the subcommands help and completion to a root that has subcommands, and
// building these would slow down every hook. misused is set if help is asked for a command
// that does not exist: cobra takes no error from printing help.
func newRoot(args []string, s terminal.Streams, misused *error) *cobra.Command {
	var root *cobra.Command
	leading, behind := leadingDirectory(args)
	sub, path, rest := findSubcommand(subcommands(), behind)
	if sub != nil {
		root, args = sub.buildFor(s, rest), append(leading, rest...)
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "fsmtx " + path}
	} else {
		root = newProgram(s)
		root.SetFlagErrorFunc(commandFirst(misusedFlags))
		if len(behind) > 0 && !strings.HasPrefix(behind[0], "-") {
			args = behind // cobra's help and completion, which are the same in every directory, have no -C
		}
	}
	holdBack(s, root)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = sub != nil // else cobra builds it at each start for nothing
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	if root.HasSubCommands() { // after SetOut, because cobra's completion command copies the output when it is created
		completeHelp(root)
	}
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // which would print `DIR` with its marks
		plainUsage(root)
	}
	root.SetArgs(args)
	wrapHelp(s, root, misused)
	return root
}

// plainUsage takes the marks around the names of values out of the texts of all flags.
func plainUsage(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, sub := range c.Commands() {
		plainUsage(sub)
	}
}

// newProgram returns the command with all subcommands, for arguments that begin with none of them.
func newProgram(s terminal.Streams) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "fsmtx",
		Short: "Hold a coding agent to the steps of a skill",
		Long: "fsmtx holds a coding agent to the steps of a skill. The skill declares them in an fsm.json beside its\n" +
			"SKILL.md. When it is called they are put into the agent's task list, all or none; hooks then refuse a\n" +
			"step before its turn, and its completion before its files exist and its check passes.",
		Example: example(
			"fsmtx demo                           # see it work, in a temporary directory",
			"fsmtx init                           # hold a skill of yours to its steps",
			"fsmtx status --watch                 # see the steps while the agent works",
			"fsmtx graph release                  # draw the workflow of a skill",
			"fsmtx validate                       # check the workflows here",
			"fsmtx doctor                         # why nothing happens",
			"fsmtx install --remove               # take out what was added"),
		Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				return printVersion(s)
			}
			return c.Help()
		},
	}
	root.AddGroup(groups...)
	root.Flags().BoolVar(&version, "version", false, "print the version")
	for _, sub := range subcommands() {
		c := sub.build(s)
		c.GroupID = sub.group
		root.AddCommand(c)
	}
	_ = root.Flags().StringP("directory", "C", "", "run the command as if started in `DIR`")
	return root
}

// findSubcommand returns the deepest subcommand that args begin with, its full name and
// the rest of args. sub is nil if args do not begin with a subcommand.
func findSubcommand(all []subcommand, args []string) (sub *subcommand, path string, rest []string) {
	i := slices.IndexFunc(all, func(sub subcommand) bool { return len(args) > 0 && sub.has(args[0]) })
	if i < 0 {
		return nil, "", args
	}
	if all[i].below != nil {
		if below, path, rest := findSubcommand(all[i].below(), args[1:]); below != nil {
			return below, all[i].name + " " + path, rest
		}
	}
	return &all[i], all[i].name, args[1:]
}

// completeHelp adds the two commands that cobra would add, help and completion. Like every
// command of this program, they get an example and an error for unknown arguments.
func completeHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = example(c.CommandPath() + " " + root.Commands()[0].Name())
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error { return helpOn(root, args) }
		case "completion":
			c.Example = example("fsmtx completion bash > ~/.local/share/bash-completion/completions/fsmtx")
			c.Args, c.RunE = noSuchCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArguments
				shell.Example = example("fsmtx completion " + shell.Name())
			}
		}
	}
}

// helpOn prints the help of the command that args name.
func helpOn(root *cobra.Command, args []string) error {
	c, unknown, err := root.Find(args)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		return noSuchCommand(c, unknown)
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}

// noSuchCommand returns an error for an unknown command, with a similar one as hint.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "run " + c.CommandPath() + " --help"
	if meant := commandMeant(c, args[0]); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	return &exit{exitNo, fmt.Errorf("unknown command %q", args[0]), hint}
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
	c.SuggestionsMinimumDistance = 2
	near := c.SuggestionsFor(word)
	if len(near) == 0 {
		return ""
	}
	// A word with two letters swapped is meant before one that is as near by other mistakes.
	mistakes := func(name string) int {
		if letters(name) == letters(word) {
			return 1
		}
		return hint.Distance(word, name, len(word)+1)
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
		"why":       "step show",
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

// takes returns the check of a command that takes at least so many arguments and at most one. want says
// which it is.
func takes(least int, want, hint string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > 1 {
			return &exit{exitNo, fmt.Errorf("got %d arguments, want %s", len(args), want), hint}
		}
		return nil
	}
}

// noArguments returns an error for positional arguments.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &exit{exitNo, fmt.Errorf("unexpected argument %q", args[0]), "run " + c.CommandPath() + " --help"}
}

// gracePeriod is how long a command may take after a signal to roll back, report it and
// end. The client kills an interrupted hook about a second after SIGTERM (fact 24, client
// 2.1.197); a person waits a little longer.
const gracePeriod = 2 * time.Second

// interruptible returns a context cancelled on SIGHUP, SIGINT or SIGTERM, for commands
// that block or must roll back.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signals.Context(ctx, gracePeriod)
}

// example formats the examples of a command for its help.
func example(lines ...string) string {
	return "  " + strings.Join(lines, "\n  ")
}
