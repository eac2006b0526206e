package tools

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/proof"
	"github.com/fsmtx/fsmtx/internal/report"
	"github.com/fsmtx/fsmtx/internal/show"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/trial"
	"github.com/fsmtx/fsmtx/internal/write"
)

// Main runs fsmtx-tools with the arguments after its name, which fsmtx passes on, and returns its exit code.
func Main(args []string, s terminal.Streams) int {
	args, err := programs.Started(args, programs.GetBuild().Version)
	if err != nil {
		s.Errorf("%v", err)
		s.Hintf("%s", message.Hint(err))
		return command.ExitNo
	}
	return tools(s).Run(trial.Spelled(args), s)
}

func tools(s terminal.Streams) command.Program {
	return command.Program{
		Commands: toolsSubcommands(),
		Other:    newProgram,
		Finish: func(root *cobra.Command, args []string, misused *error) {
			if root.HasSubCommands() { // after SetOut, because cobra's completion command copies the output when it is created
				completeHelp(root)
			}
			if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // which would print `DIR` with its marks
				plainUsage(root)
			}
			wrapHelp(s, root, misused)
		},
	}
}

// toolsSubcommands are all commands, in the order of the help.
func toolsSubcommands() []command.Subcommand {
	own := func(name string, more ...command.Subcommand) command.Subcommand {
		all := command.Subcommands()
		one := all[slices.IndexFunc(all, func(sub command.Subcommand) bool { return sub.Name == name })]
		if below := one.Below; len(more) > 0 {
			one.Below = func() []command.Subcommand { return append(below(), more...) }
		}
		return one
	}
	begin := own("begin")
	begin.Make = func(s terminal.Streams) *cobra.Command { return command.NewBegin(s, write.ReadPlan) }
	return []command.Subcommand{
		{Name: "init", Group: command.ForWriting, Make: write.NewInit},
		{Name: "new", Group: command.ForWriting, Make: write.NewNew},
		{Name: "validate", Group: command.ForWriting, Make: write.NewValidate, Misused: write.RefuseToValidate, Scripts: true},
		{Name: "test", Group: command.ForWriting, Make: newTest, Scripts: true},
		{Name: "fmt", Group: command.ForWriting, Make: write.NewFmt, Scripts: true},
		{Name: "graph", Group: command.ForWriting, Make: write.NewGraph},
		{Name: "schema", Group: command.ForWriting, Make: newSchema},
		{Name: "locate", Group: command.ForWriting, Make: write.NewLocate},
		{Name: "plan", Group: command.ForWriting, Make: write.NewPlan},
		{Name: "status", Group: command.ForFollowing, Make: show.NewStatus, Scripts: true},
		own("statusline"),
		{Name: "log", Group: command.ForFollowing, Make: show.NewLog},
		{Name: "report", Group: command.ForFollowing, Make: report.NewReport},
		{Name: "undo", Group: command.ForFollowing, Make: show.NewUndo},
		own("recover"),
		{Name: "doctor", Group: command.ForFollowing, Make: newDoctor},
		{Name: "attest", Group: command.ForFollowing, Make: proof.NewAttest, Scripts: true},
		{Name: "verify", Group: command.ForFollowing, Make: proof.NewVerify, Misused: proof.RefuseToVerify, Scripts: true},
		{Name: "install", Group: command.ForSetup, Make: newInstall},
		{Name: "plugin", Group: command.ForSetup, Make: newPlugin},
		{Name: "demo", Group: command.ForSetup, Make: newDemo},
		{Name: "version", Group: command.ForSetup, Make: newVersion},
		begin,
		own("continue"),
		own("next"),
		own("start"),
		own("complete"),
		own("hydrate"),
		own("step"),
		own("hook"),
		{Name: "mcp", Group: command.ForClient, Make: newMCP},
		own("guard", command.Subcommand{Name: "list", Make: newGuardList}, command.Subcommand{Name: "explain", Make: newGuardExplain},
			command.Subcommand{Name: "reset", Make: newGuardReset},
			command.Subcommand{Name: "unlock", Make: newGuardUnlock}),
		{Name: "hooks", Group: command.ForClient, Make: newHooks, Below: hooksSubcommands},
	}
}

func newSchema(s terminal.Streams) *cobra.Command {
	return write.NewSchema(s, map[string][]byte{"report": report.Schema(), "test": trial.Schema()})
}

// newTest returns the command that runs the others as an agent does.
func newTest(s terminal.Streams) *cobra.Command {
	return trial.NewTest(s, func(args []string, s terminal.Streams) int { return tools(s).Run(args, s) })
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
		Example: command.Example(
			"fsmtx demo                           # see it work, in a temporary directory",
			"fsmtx init                           # hold a skill of yours to its steps",
			"fsmtx status --watch                 # see the steps while the agent works",
			"fsmtx graph release                  # draw the workflow of a skill",
			"fsmtx validate                       # check the workflows here",
			"fsmtx doctor                         # why nothing happens",
			"fsmtx install --remove               # take out what was added"),
		Args: command.NoSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				return printVersion(s)
			}
			return c.Help()
		},
	}
	root.AddGroup(
		&cobra.Group{ID: command.ForWriting, Title: "Write and inspect workflows:"},
		&cobra.Group{ID: command.ForFollowing, Title: "Follow the work, undo and repair:"},
		&cobra.Group{ID: command.ForSetup, Title: "Set up:"},
		&cobra.Group{ID: command.ForAgents, Title: "Work on a workflow, as an agent:"},
		&cobra.Group{ID: command.ForClient, Title: "Run by the client, or by other programs:"})
	root.Flags().BoolVar(&version, "version", false, "print the version")
	for _, sub := range toolsSubcommands() {
		c := sub.Build(s)
		c.GroupID = sub.Group
		root.AddCommand(c)
	}
	return root
}

// plainUsage takes the marks around the names of values out of the texts of all flags.
func plainUsage(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, sub := range c.Commands() {
		plainUsage(sub)
	}
}

// completeHelp adds the two commands that cobra would add, help and completion. Like every
// command of this program, they get an example and an error for unknown arguments.
func completeHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = command.Example(c.CommandPath() + " " + root.Commands()[0].Name())
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error { return helpOn(root, args) }
		case "completion":
			c.Example = command.Example("fsmtx completion bash > ~/.local/share/bash-completion/completions/fsmtx")
			c.Args, c.RunE = command.NoSuchCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = func(c *cobra.Command, args []string) error { return command.AsUsage(command.NoArguments(c, args)) }
				shell.Example = command.Example("fsmtx completion " + shell.Name())
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
		return command.NoSuchCommand(c, unknown)
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}
