package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// exitUnreadable is the exit code of install --check if the settings cannot be read. Its other codes
// are the values of install.Status, too.
const exitUnreadable = int(install.Unreadable)

const installLong = `Adds hooks to one settings file of Claude Code. They run this program by its absolute
path. With --project they run it by the name fsmtx, which must be this program on your
PATH and on the PATH of everyone who shares the project. If npm has installed this
program, the hooks run a copy of it in fsmtx/bin in XDG_DATA_HOME or ~/.local/share, which
install creates and, when it is run again, updates.

One command, "fsmtx hook", is registered once for each event that it needs:

  UserPromptExpansion             the user types a skill's name: puts its workflow into the
                                  task list
  PostToolUse of Skill            the agent invokes a skill: the same
  PreToolUse of the task tools    checks which folder the client ran; refuses a step before
                                  its turn, and to complete one whose gates do not hold
  PreToolUse of Write, Edit, NotebookEdit         refuses to edit the task files
  PreToolUse of AskUserQuestion   refuses a question that leaves out outcomes of a step
  PreToolUse of the MCP server's tools            passes the calling session to them
  PreToolUse of further tools                     refuses calls that belong to a later step
  PreToolUse of Bash(*fsmtx*)     asks the person before a step is skipped
  PostToolUse of TaskUpdate, AskUserQuestion      records what happened, and was chosen
  PostToolUse, PostToolUseFailure of Bash(*fsmtx*)   tells the person what came of a command
  TaskCompleted                   the same as before TaskUpdate
  UserPromptSubmit                forgets updates that were stopped
  Stop, SubagentStop              reminds of open steps (see --stop)
  SessionStart                    finishes an interrupted change; after compact and resume
                                  tells the agent the state of the steps

On Windows the lines with Bash(*fsmtx*) are for Bash and PowerShell, and --project is refused. If the program is
missing, the line of SessionStart reports it, and the others do nothing; on Windows no task is updated then. With
--no-steps only tasks are put into the list, and nothing is enforced (docs/steps.md). With --observe
nothing is refused, nor asked, for a comparison with and without (docs/measure.md): gates are judged in
order up to the first that would refuse, which is put on record; install without it enforces them again.

Further tools are those listed under "only" in the workflows that the client knows in the
current directory: with a rule such as Bash(git push *) every call of Bash starts the hook.
--only registers the hook for every tool that such a rule can name, for workflows that are
not known here. It stays until --remove.

Newer models have no tools for the task list. They work on the same steps with commands (fsmtx next,
start and complete), which the hook tells them and lets through without a permission question.
--task-tools gives them the task tools: it sets CLAUDE_CODE_ENABLE_TODO_TOOLS to 1 under
"env" in that file. It stays until --remove or --task-tools=false. If the environment or a
settings file of the client already sets the variable, install does not. With --project a
value of 1 outside the project's own settings does not count, because your colleagues do
not have it; any other value does. A person at a terminal is asked about it, and about the status
line, the first time that the hooks are put into a file.

The client reads a project's settings from the directory in which it starts, not from
the parents of that directory. Only .claude/settings.local.json in the root of a git
repository is also read when the client starts below. install prints in which directories
the client reads the file, and which parent directory is the root of the project.

--with planning also adds the fourteen guards of a planning workflow (fsmtx guard,
docs/internals/guards.md). They stay until --remove. A project configures them in
.claude/planning-config.yaml.

--mcp also registers the MCP server "fsmtx mcp", which serves the steps as tools to
models without task tools: with --user in .claude.json in CLAUDE_CONFIG_DIR or your home,
with --local for this project in the same file, with --project in .mcp.json. The client
starts it in each session to which that file applies.

--statusline shows the workflow in the status line of the client: the steps that are done,
the current one and its round, what was refused, and whether the work waits for you. A status
line that your own settings already have is shown behind it, on the same line; a file that has
one itself is not changed. It stays until --remove or --statusline=false.

Everything else in the file is kept, and so are its owner, group, mode and access control
list; a file for which that is impossible is refused. A change that another program has
made meanwhile is noticed and kept. If the file is a symbolic link, the link's target is edited.
Outdated hooks are updated. They keep their flags.
Flags of hydrate after "--" are added; one that the hooks already have is replaced (also all
of several --plugin-dir). "--" alone resets them. --stop and --checks replace those of the
steps. With "-- --announce=false" the agent is told nothing about the tasks. The client's time limit of
a hook is 10 s longer than its --lock-timeout, or longer if it may run checks. A file that is not valid JSON
is refused and not changed. One with comments is, too, unless its agent reads comments there.

--remove removes the hooks, the MCP server, the variable if install set it, and the lists
if install made them; a file in which nothing else is left, and a directory such as .claude
if install made it. Every other byte stays. With --purge it does so in all three files,
and in those of other agents, and asks first: it lists the open workflows that are forgotten, and the other projects
in which a workflow has begun and that keep the hooks. --remove --project asks, too: its files are
shared. Without a terminal --yes is required. --purge also
removes the copy of the program unless another project's hooks run it, the files of the
guards in /tmp or PLANNING_STATE_DIR, and the state directories of all task lists, after
which "fsmtx undo" has nothing to undo. The tasks are kept.

--agent adds the hooks to a file of another agent: with --user, the default there, to one of
your own, with --project to one of the project. One command, "fsmtx hook", runs at each event
that it needs. opencode runs no hooks; it gets the MCP server alone. "--agent all" takes
every agent, Claude Code too, that has a directory in your home or a program on PATH.
docs/agents.md says what holds in which agent.
Some agents read these files only after you have trusted them; install then says what to
do, and --check knows it as far as it can be known.

If an agent runs the command, the hook asks the person about --remove, --no-steps, --observe,
--checks off, --stop remind and off, and after "--" about no flag at all, --history, --log,
--lock-timeout, --active=reset, --nest=off, --scope=all and --announce=false.`

type installFlags struct {
	user, project, local bool
	check, print, remove bool
	purge, yes           bool
	mcp                  bool
	agents               []string // other agents, or claude, or all
	steps                stepChoice
	parts                partChoice
	line, taskTools      switchChoice
	hydrate              []string // flags after "--": nil without "--"
}

func newInstall(s terminal.Streams) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		DisableFlagsInUseLine: true,
		Use: "install [--user|--project|--local] [--agent NAME] [--check|--remove] [--print] [--task-tools] [--no-steps] " +
			"[--only] [--mcp] [--statusline] [--with planning] [-- hydrate flags]",
		Short: "Add the hooks to a settings file of the client, or remove them",
		Long:  installLong,
		Example: command.Example(
			"fsmtx install                        # this project, for you alone",
			"fsmtx install --user                 # all your projects",
			"fsmtx install -- --scope=skill       # with flags for hydrate",
			"fsmtx install --print --project      # show the result, change nothing",
			"fsmtx install --check || fsmtx install",
			"fsmtx install --task-tools           # newer models get the client's tools for the task list",
			"fsmtx install --stop hold            # the agent cannot stop while a step is ready",
			"fsmtx install --no-steps             # tasks only, no step is enforced",
			"fsmtx install --statusline           # the workflow in the client's status line",
			"fsmtx install --agent codex --mcp    # Codex, for all your projects",
			"fsmtx install --agent all --check",
			"fsmtx install --remove",
			"fsmtx install --remove --purge       # leave nothing, here and in your own settings",
		) + `

Exit codes of --check:
  0  installed: all hooks, as install would write them
  1  outdated: a hook is missing, or the variable of --task-tools, or a hook has another
     path, timeout or matcher
  2  absent: none of the hooks
  3  the settings cannot be read
  4  switched off: the hooks are installed, but the client does not run them here`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.parse(args, c.ArgsLenAtDash()); err != nil {
				return &command.Exit{Code: command.ExitUsage, Err: err}
			}
			return f.run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.user, "user", false, "settings.json in CLAUDE_CONFIG_DIR or ~/.claude: all your projects")
	flags.BoolVar(&f.project, "project", false, ".claude/settings.json here: everyone who works on this project")
	flags.BoolVar(&f.local, "local", false, ".claude/settings.local.json here: you, in this project (default)")
	flags.BoolVar(&f.check, "check", false, "report whether the hooks are installed, change nothing")
	flags.BoolVar(&f.print, "print", false, "print the resulting file, change nothing")
	flags.BoolVar(&f.remove, "remove", false, "remove the hooks")
	flags.BoolVar(&f.purge, "purge", false, "with --remove: from all files of this project and yours, and the records of all task lists")
	flags.BoolVar(&f.yes, "yes", false, "with --purge, and --remove --project: ask nothing")
	flags.BoolVar(&f.mcp, "mcp", false, "register the MCP server (fsmtx mcp) as well")
	flags.StringSliceVar(&f.agents, "agent", nil, "the `agent`: "+strings.Join(agent.Names(), ", ")+
		", or all that are found here (default claude)")
	command.Complete(c, "agent", install.Agents()...)
	f.steps.flags(c)
	f.parts.flags(c)
	f.line.flags(c, "statusline", "show the workflow in the client's status line, beside the line that is there")
	f.taskTools.flags(c, "task-tools", "set CLAUDE_CODE_ENABLE_TODO_TOOLS, so that newer models have the client's tools for the task list")
	return c
}

// parse checks the combination of flags and sets f.hydrate to the arguments after
// "--". dash is the number of arguments before it, negative without "--".
func (f *installFlags) parse(args []string, dash int) error {
	unfit := cmp.Or(f.checkMCP(), f.checkAgents(dash), f.steps.validate(), f.parts.validate())
	switch {
	case f.user && f.project || (f.user || f.project) && f.local:
		return message.NewError("--user, --project and --local cannot be combined", "run fsmtx install once for each file")
	case f.check && (f.print || f.remove):
		return message.NewError("--check cannot be combined with --print or --remove", "run fsmtx install --help")
	case f.yes && !f.purge && !(f.remove && f.project):
		return message.NewError("--yes needs --remove, and --purge or --project",
			"it answers the question of a removal only; --task-tools and --statusline answer the others")
	case f.purge && !f.remove:
		return message.NewError("--purge needs --remove", "fsmtx install --remove --purge")
	case f.purge && (f.user || f.project || f.local || f.print):
		return message.NewError("--purge cannot be combined with --user, --project, --local or --print", "it removes the hooks from all files")
	case f.remove && f.taskTools.given():
		return message.NewError("--remove cannot be combined with --task-tools",
			"install --task-tools=false removes the variable and keeps the hooks")
	case f.remove && f.steps.Given():
		return message.NewError("--remove cannot be combined with --no-steps, --observe, --only, --stop or --checks",
			"install --no-steps removes the hooks of steps and keeps the others")
	case unfit != nil:
		return unfit
	case f.remove && len(f.parts) > 0:
		return message.NewError("--remove cannot be combined with --with", "--remove removes all hooks, those of the guards too")
	case f.remove && f.line.given():
		return message.NewError("--remove cannot be combined with --statusline",
			"install --statusline=false removes the status line and keeps the hooks")
	case dash < 0 && len(args) > 0, dash > 0:
		return message.WithHint(fmt.Errorf("unexpected argument %q", args[0]), `put flags for hydrate after "--"`)
	case dash == 0 && (f.check || f.remove):
		return message.NewError("--check and --remove do not accept hydrate flags", `leave out "--" and the flags after it`)
	case dash == 0:
		f.hydrate = append([]string{}, args...)
		return hydrate.CheckFlags(f.hydrate)
	}
	return nil
}

// request returns what the flags ask for.
func (f *installFlags) request() install.Request {
	r := install.Request{Agents: f.agents, Steps: f.steps.Steps, Guards: len(f.parts) > 0, MCP: f.mcp, Line: f.line.choice(),
		TaskTools: f.taskTools.choice(), Hydrate: f.hydrate}
	switch {
	case f.user:
		r.Scope = install.User
	case f.project:
		r.Scope = install.Project
	}
	return r
}

// run asks package install.
func (f *installFlags) run(ctx context.Context, s terminal.Streams) error {
	switch {
	case f.purge:
		ctx, stop := signals.Interruptible(ctx)
		defer stop()
		if !f.yes {
			if agreed, err := install.AskPurge(ctx, s); err != nil || !agreed {
				return cmp.Or(err, errNotRemoved)
			}
		}
		return install.Purge(ctx, s)
	case f.check:
		status, err := install.Check(s, f.request())
		if err != nil {
			return &command.Exit{Code: exitUnreadable, Err: err}
		}
		if status != install.Installed {
			return &command.Exit{Code: int(status)}
		}
		return nil
	case f.print:
		return install.Preview(s, f.request(), f.remove)
	case f.remove:
		if !f.yes {
			if agreed, err := install.AskShared(s, f.request()); err != nil || !agreed {
				return cmp.Or(err, errNotRemoved)
			}
		}
		return install.Remove(s, f.request())
	}
	r := f.request()
	if s.InputIsTerminal() {
		r = install.NewPerson(s).Choose(r)
	}
	err := install.Install(s, r)
	if err == nil {
		install.Next(s, r, "")
	}
	return err
}

// errNotRemoved is returned when the person has said no.
var errNotRemoved = command.Fail(command.ExitNo, message.NewError("nothing was removed", ""), "")

// checkMCP returns an error for flags that cannot be combined with --mcp.
func (f *installFlags) checkMCP() error {
	switch {
	case f.mcp && f.remove:
		return message.NewError("--remove cannot be combined with --mcp", "--remove also removes the MCP server")
	case f.mcp && f.print && (len(f.agents) == 0 || slices.Contains(f.agents, caller.Claude) || slices.Contains(f.agents, install.All)):
		return message.NewError("--print cannot be combined with --mcp",
			"the MCP server is in another file of the client's; see fsmtx install --help")
	}
	return nil
}

// checkAgents returns an error for agents that are not known, and for flags that other agents
// than Claude Code do not have.
func (f *installFlags) checkAgents(dash int) error {
	others := false
	for _, name := range f.agents {
		if known := install.Agents(); !slices.Contains(known, name) {
			return fmt.Errorf("--agent: got %q, want %s", name, strings.Join(known, ", "))
		}
		others = others || name != caller.Claude
	}
	if !others {
		return nil
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--local", f.local}, {"--task-tools", f.taskTools.given()}, {"--no-steps", f.steps.None}, {"--only", f.steps.Only},
		{"--observe", f.steps.Observe},
		{"--checks", f.steps.Checks != ""}, {"--with", len(f.parts) > 0}, {"--statusline", f.line.given()}, {"--purge", f.purge},
		{"flags of hydrate", dash >= 0},
	} {
		if !flag.given {
			continue
		}
		advice := "these are for Claude Code alone; run fsmtx install without --agent for it"
		if flag.name == "--checks" {
			advice = "run fsmtx install --checks off without --agent: it holds for every agent that works in the project"
		}
		return message.WithHint(fmt.Errorf("--agent cannot be combined with %s", flag.name), advice)
	}
	return nil
}
