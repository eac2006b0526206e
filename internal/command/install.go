package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/npm"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// Exit codes of install --check, beside exitOK for installed.
const (
	exitOutdated   = 1
	exitAbsent     = 2
	exitUnreadable = 3
	exitOff        = 4
)

type installFlags struct {
	user, project, local bool
	check, print, remove bool
	purge                bool
	noTaskTools          bool
	mcp                  bool
	agents               []string // other agents, or claude, or all
	quiet                bool     // say nothing of files from which there is nothing to remove
	steps                stepChoice
	parts                partChoice
	line                 lineChoice
	hydrate              []string // flags after "--": nil without "--"
}

func newInstall(s terminal.Streams) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		DisableFlagsInUseLine: true,
		Use:                   "install [--user|--project|--local] [--agent NAME] [--check|--remove] [--print] [--no-task-tools] [--no-steps] [--only] [--mcp] [--statusline] [--with planning] [-- hydrate flags]",
		Short:                 "Add the hooks to a settings file of the client, or remove them",
		Long: `Adds hooks to one settings file of Claude Code. They run this program by its absolute
path. With --project they run it by the name fsmtx, which must be this program on your
PATH and on the PATH of everyone who shares the project. If npm has installed this
program, the hooks run a copy of it in fsmtx/bin in XDG_DATA_HOME or ~/.local/share, which
install creates and, when it is run again, updates:

  PostToolUse of the Skill tool   fsmtx hydrate   the agent invokes a skill
  UserPromptExpansion             fsmtx hydrate   the user types a skill's name
  PreToolUse of the task tools    fsmtx hydrate   checks which folder the client ran
  Stop                            fsmtx hydrate   the same
  SessionStart                    fsmtx recover   finishes an interrupted change
  SessionStart                    sh              reports that the program is missing

Unless --no-steps is given, it also adds the hooks that enforce the steps of a workflow
(docs/steps.md):

  PreToolUse of TaskUpdate        fsmtx step      refuses a step before its turn
  PreToolUse of Write, Edit, NotebookEdit         refuses to edit the task files
  PreToolUse of Bash(*fsmtx *)                    asks the person before a step is skipped
  PreToolUse of the MCP server's tools            passes the calling session to them
  PreToolUse of further tools                     refuses calls that belong to a later step
  TaskCompleted                                   the same as TaskUpdate
  Stop, SubagentStop                              reminds of open steps (see --stop)
  SessionStart after compact, resume              tells the agent the state of the steps

The last of these is for the tools that a workflow lists under "only", of those that the
client knows in the current directory: with a rule such as Bash(git push *) every call of
Bash starts the hook. --only registers it for every tool that such a rule can name, for
workflows that are not known here. It stays until --remove.

It also sets CLAUDE_CODE_ENABLE_TODO_TOOLS to 1 under "env" in that file, because
newer models have no task tools without it. If the environment or a settings file of the
client already sets the variable, install does not. With --project a value of 1 outside
the project's own settings does not count, because your colleagues do not have it; any
other value does. --no-task-tools leaves the variable out.

The client reads a project's settings from the directory in which it starts, not from
the parents of that directory. Only .claude/settings.local.json in the root of a git
repository is also read when the client starts below. install prints in which directories
the client reads the file, and which parent directory is the root of the project.

--with planning also adds the fourteen guards of a planning workflow (fsmtx guard,
docs/guards.md). They stay until --remove. A project configures them in
.claude/planning-config.yaml.

--mcp also registers the MCP server "fsmtx mcp", which serves the steps as tools to
models without task tools: with --user in .claude.json in CLAUDE_CONFIG_DIR or your home,
with --local for this project in the same file, with --project in .mcp.json. The client
starts it in each session to which that file applies. It needs the program fsmtx-mcp
beside this one or on PATH.

--statusline shows the workflow in the status line of the client: the steps that are done,
the current one and its round, what was refused, and whether the work waits for you. A status
line that this file or your own settings already have is shown behind it, on the same line.
It stays until --remove or --statusline=false, which restores the line that was there.

All other bytes of the file are kept, and so are its owner, group, mode and access control
list; a file for which that is impossible is refused. A change that another program makes
at the same time is not lost. If the file is a symbolic link, the link's target is edited.
Outdated hooks are updated. They keep their flags. Flags of hydrate after "--" are added; one
that the hooks already have is replaced (also all of several --plugin-dir). "--" alone resets
them. --stop and --checks replace those of the steps. New hooks get --announce; "--
--announce=false" leaves it out. The client's time limit of each
hook is 5 s longer than its --lock-timeout. A file with comments, or that is not valid
JSON, is refused and not changed.

--remove removes the hooks, the MCP server, the variable if install set it, and the lists,
the file and the directory that install created for them. It leaves what was there before
install. With --purge it does so in all three files, and in those of other agents. It also
removes the copy of the program unless another project's hooks run it, the files of the
guards in /tmp or PLANNING_STATE_DIR, and the state directories of all task lists, after
which "fsmtx undo" has nothing to undo. The tasks are kept.

--agent adds the hooks to a file of another agent: Codex, Copilot CLI, Gemini CLI or Qwen
Code, with --user (the default there) in your own files, with --project in the project's.
One command, "fsmtx hook", runs at each event that it needs. opencode runs no hooks; it
gets the MCP server alone. "--agent all" takes every agent, Claude Code too, that has a
directory in your home or a program on PATH. docs/agents.md says what holds in which agent.
Some agents read these files only after you have trusted them; install then says what to
do, and --check knows it as far as it can be known.

Below an agent --remove, --no-steps, --checks off and --stop with another word than hold
need the person's yes; the hook "fsmtx step" asks.`,
		Example: example(
			"fsmtx install                        # this project, for you alone",
			"fsmtx install --user                 # all your projects",
			"fsmtx install -- --scope=skill       # with flags for hydrate",
			"fsmtx install --print --project      # show the result, change nothing",
			"fsmtx install --check || fsmtx install",
			"fsmtx install --no-task-tools        # hooks only, no variable",
			"fsmtx install --stop hold            # the agent cannot stop while a step is ready",
			"fsmtx install --no-steps             # tasks only, no step is enforced",
			"fsmtx install --statusline           # the workflow in the client's status line",
			"fsmtx install --agent codex --mcp    # Codex, for all your projects",
			"fsmtx install --agent all --check",
			"fsmtx install --remove",
			"fsmtx install --remove --purge       # leave nothing, here and in your own settings",
		) + `

Exit codes of --check:
  0  installed: all hooks and the variable, as install would write them
  1  outdated: a hook or the variable is missing, or a hook has another path, timeout
     or matcher
  2  absent: none of the hooks
  3  the settings cannot be read
  4  switched off: the hooks are installed, but the client does not run them here`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.parse(args, c.ArgsLenAtDash()); err != nil {
				return err
			}
			if len(f.agents) > 0 {
				return f.runAgents(s)
			}
			if f.purge {
				ctx, stop := interruptible(c.Context())
				defer stop()
				return f.runPurge(ctx, s)
			}
			return f.run(s)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.user, "user", false, "settings.json in CLAUDE_CONFIG_DIR or ~/.claude: all your projects")
	flags.BoolVar(&f.project, "project", false, ".claude/settings.json here: everyone who works on this project")
	flags.BoolVar(&f.local, "local", false, ".claude/settings.local.json here: you, in this project (default)")
	flags.BoolVar(&f.check, "check", false, "report whether the hooks are installed, change nothing")
	flags.BoolVar(&f.print, "print", false, "print the resulting file, change nothing")
	flags.BoolVar(&f.remove, "remove", false, "remove the hooks")
	flags.BoolVar(&f.purge, "purge", false, "with --remove: from all files, and the state directories of all task lists")
	flags.BoolVar(&f.noTaskTools, "no-task-tools", false, "do not set CLAUDE_CODE_ENABLE_TODO_TOOLS")
	flags.BoolVar(&f.mcp, "mcp", false, "register the MCP server (fsmtx mcp) as well")
	flags.StringSliceVar(&f.agents, "agent", nil, "the `agent`: claude (default), codex, copilot, gemini, qwen, opencode, or all that are found here")
	complete(c, "agent", append([]string{caller.Claude, allAgents}, agent.Names()...)...)
	f.steps.flags(c)
	f.parts.flags(c)
	f.line.flags(c)
	return c
}

// parse checks the combination of flags and sets f.hydrate to the arguments after
// "--". dash is the number of arguments before it, negative without "--".
func (f *installFlags) parse(args []string, dash int) error {
	switch {
	case moreThanOne(f.user, f.project, f.local):
		return &exit{exitNo, errors.New("--user, --project and --local cannot be combined"), "run fsmtx install once for each file"}
	case f.check && (f.print || f.remove):
		return &exit{exitNo, errors.New("--check cannot be combined with --print or --remove"), "run fsmtx install --help"}
	case f.purge && !f.remove:
		return &exit{exitNo, errors.New("--purge needs --remove"), "fsmtx install --remove --purge"}
	case f.purge && (f.user || f.project || f.local || f.print):
		return &exit{exitNo, errors.New("--purge cannot be combined with --user, --project, --local or --print"), "it removes the hooks from all files"}
	case f.remove && f.noTaskTools:
		return &exit{exitNo, errors.New("--remove cannot be combined with --no-task-tools"), "install --no-task-tools removes the variable and keeps the hooks"}
	case f.remove && f.steps.given():
		return &exit{exitNo, errors.New("--remove cannot be combined with --no-steps, --only, --stop or --checks"), "install --no-steps removes the hooks of steps and keeps the others"}
	case f.checkMCP() != nil:
		return f.checkMCP()
	case f.checkAgents(dash) != nil:
		return f.checkAgents(dash)
	case f.steps.validate() != nil:
		return f.steps.validate()
	case f.parts.validate() != nil:
		return f.parts.validate()
	case f.remove && len(f.parts) > 0:
		return &exit{exitNo, errors.New("--remove cannot be combined with --with"), "--remove removes all hooks, those of the guards too"}
	case f.remove && f.line.given():
		return &exit{exitNo, errors.New("--remove cannot be combined with --statusline"), "install --statusline=false removes the status line and keeps the hooks"}
	case dash < 0 && len(args) > 0, dash > 0:
		return &exit{exitNo, fmt.Errorf("unexpected argument %q", args[0]), `put flags for hydrate after "--"`}
	case dash == 0 && (f.check || f.remove):
		return &exit{exitNo, errors.New("--check and --remove do not accept hydrate flags"), `leave out "--" and the flags after it`}
	case dash == 0:
		f.hydrate = append([]string{}, args...)
		return checkHydrate(f.hydrate)
	}
	return nil
}

// maxLockTimeout bounds the wait of a registered hook. The client's timers are
// JavaScript's, which fire at once when set to more than 2^31 ms (24 days).
const maxLockTimeout = 24 * time.Hour

// checkHydrate returns an error for flags that would make every call of the hook fail.
func checkHydrate(args []string) error {
	f, err := parseHydrate(args)
	if err == nil && f.lockTimeout > maxLockTimeout {
		err = fmt.Errorf("--lock-timeout: got %v, want at most %v", f.lockTimeout, maxLockTimeout)
	}
	if err != nil {
		return &exit{exitNo, fmt.Errorf("invalid hydrate flags: %w", err), "run fsmtx hydrate --help"}
	}
	return nil
}

func parseHydrate(args []string) (f hydrateFlags, err error) {
	c := f.command(terminal.Streams{})
	err = c.ParseFlags(args)
	if err == nil && c.Flags().NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", c.Flags().Arg(0))
	}
	if err == nil {
		_, err = f.policy()
	}
	return f, err
}

// mergeFlags returns flags of hydrate with given in the place of the same flags. If flags are
// not valid, the default takes their place. given are valid.
func mergeFlags(flags, given []string) []string {
	if checkHydrate(flags) != nil {
		flags = settings.DefaultFlags()
	}
	known := new(hydrateFlags).command(terminal.Streams{}).Flags()
	replaced := map[string]bool{}
	eachFlag(known, given, func(name string, _ []string) { replaced[name] = true })
	var merged []string
	eachFlag(known, flags, func(name string, words []string) {
		if !replaced[name] {
			merged = append(merged, words...)
		}
	})
	return append(merged, given...)
}

// eachFlag calls f for each flag in valid arguments, with its name and its words: one, or two
// if the value is a word of its own.
func eachFlag(known *pflag.FlagSet, args []string, f func(name string, words []string)) {
	for len(args) > 0 {
		name, _, hasValue := strings.Cut(strings.TrimPrefix(args[0], "--"), "=")
		n := 1
		if flag := known.Lookup(name); flag != nil && !hasValue && flag.NoOptDefVal == "" {
			n = min(2, len(args))
		}
		f(name, args[:n])
		args = args[n:]
	}
}

// limitTime sets the client's time limit of each hook to more than the hook's own wait for
// locks.
func limitTime(hooks []settings.Hook) {
	for i, h := range hooks {
		if h.Runs("step") {
			continue // settings.Steps knows which of them run checks
		}
		wait := recoverTimeout
		if h.Runs("hydrate") {
			f, err := parseHydrate(h.Flags)
			if err != nil || f.lockTimeout > maxLockTimeout {
				continue // invalid flags in the file are kept; the hook reports them when it runs
			}
			wait = f.lockTimeout
		}
		hooks[i].Timeout = settings.TimeLimit(wait)
	}
}

func moreThanOne(flags ...bool) bool {
	n := 0
	for _, set := range flags {
		if set {
			n++
		}
	}
	return n > 1
}

// attempts is how often an edit is retried while another program keeps changing the file.
const attempts = 100

func (f *installFlags) run(s terminal.Streams) (err error) {
	for range attempts {
		if err = f.once(s); !errors.Is(err, safefile.ErrChanged) {
			break
		}
	}
	return err
}

func (f *installFlags) once(s terminal.Streams) error {
	file, err := f.open(s)
	if err != nil {
		return f.explain(err)
	}
	p, err := f.plan(s, file)
	if err != nil {
		return f.explain(err)
	}
	served, err := f.findServer(s, p.command)
	if err != nil && !f.remove {
		return f.explain(err)
	}
	switch {
	case f.check:
		p.report = f.checkServer(p.report, served)
		return f.printState(s, p, served)
	case f.remove:
		// The settings last: install created them first, and the directory with them.
		err = errors.Join(err, f.uninstallServer(s, served))
		return f.explain(errors.Join(err, f.uninstall(s, p)))
	}
	if err := f.install(s, p); err != nil {
		return f.explain(err)
	}
	return f.explain(f.installServer(s, served))
}

func (f *installFlags) open(s terminal.Streams) (*settings.File, error) {
	switch {
	case f.user:
		dir, err := claude.ConfigDir(s.Getenv)
		if err != nil {
			return nil, err
		}
		return settings.Read(filepath.Join(dir, claude.UserSettings))
	case f.project:
		return settings.Read(claude.ProjectSettings)
	}
	return settings.Read(claude.LocalSettings)
}

// installPlan is what install does to a settings file.
type installPlan struct {
	file    *settings.File
	command string          // of the hooks
	hooks   []settings.Hook // that the file should have
	tools   taskTools
	report  settings.Report // how the file differs from that
	data    []byte          // of the file, without hooks that it should not have
	line    bool            // the status line shows the workflow
}

// plan compares the file with the hooks that it should have. The flags of hydrate are those
// in the file, or else the default, and those of the command line in the place of the same
// flags.
func (f *installFlags) plan(s terminal.Streams, file *settings.File) (p installPlan, err error) {
	binary, unusable, err := f.program(s)
	if err != nil {
		return p, err
	}
	p = installPlan{file: file, command: binary, hooks: settings.Hooks(binary, settings.DefaultFlags())}
	if f.hydrate == nil || len(f.hydrate) > 0 {
		if p.hooks, err = settings.Keep(file.Data, p.hooks); err != nil {
			return p, inFile(file, err)
		}
	}
	for i, h := range p.hooks {
		if h.Args[0] == "hydrate" && len(f.hydrate) > 0 {
			p.hooks[i].Flags = mergeFlags(h.Flags, f.hydrate)
		}
	}
	limitTime(p.hooks)
	if p.hooks, err = f.steps.withSteps(file.Data, p.hooks, binary, listedHere(s)); err != nil {
		return p, inFile(file, err)
	}
	p.hooks = append(p.hooks, f.missing(binary))
	if p.hooks, err = f.parts.withGuards(file.Data, p.hooks, binary, !f.user); err != nil {
		return p, inFile(file, err)
	}
	if !f.remove {
		if p.tools, err = f.findTaskTools(s, file, p.hooks); err != nil {
			return p, inFile(file, err)
		}
	}
	p.hooks = settings.WithTaskTools(p.hooks, p.tools.ours)
	if f.project && !f.remove {
		if err := checkPortable(p.hooks); err != nil {
			return p, err
		}
	}
	if p.report, err = settings.Inspect(file.Data, p.hooks); err != nil {
		return p, inFile(file, err)
	}
	var unwanted bool
	if p.data, unwanted, err = f.steps.cleared(file.Data, binary); err != nil {
		return p, inFile(file, err)
	}
	if unwanted {
		p.report.State = settings.Outdated
		p.report.Why = append(p.report.Why, "fsmtx step: is registered, but should not be with --no-steps")
	}
	if p.line, err = f.line.wanted(file.Data, binary, &p.report); err != nil {
		return p, inFile(file, err)
	}
	if unusable != nil && p.report.State == settings.Installed {
		p.report = settings.Report{State: settings.Outdated, Why: []string{unusable.Error()}}
	}
	return p, nil
}

// program returns the command of the hooks: this program's path or, in a file that
// colleagues share, its name. unusable is the reason why the command would not run this
// program; it becomes an error only when hooks are written.
func (f *installFlags) program(s terminal.Streams) (command string, unusable, err error) {
	writes := !f.check && !f.remove
	path, err := settings.Binary(os.Args[0])
	if errors.Is(err, settings.ErrTemporary) && !writes {
		err = nil
	}
	if err != nil {
		return path, nil, err
	}
	if !f.project {
		copied, ok, err := npm.Find(s.Getenv)
		if !ok || err != nil {
			return path, nil, err
		}
		return copied.Path(), copied.Check(), nil
	}
	if f.remove {
		return path, nil, nil
	}
	if unusable = settings.CheckName(); unusable != nil && npm.IsOnPath(s.Getenv) {
		unusable = nil
	}
	if writes {
		err = unusable
	}
	return settings.Program, unusable, err
}

// missing returns the hook that reports a missing program. A project's file names the
// program also where this one does not check it, because it removes the hooks.
func (f *installFlags) missing(binary string) settings.Hook {
	if f.project {
		binary = settings.Program
	}
	return settings.Missing(binary)
}

// checkPortable returns an error if a flag of hydrate is an absolute path, which exists on
// this machine only.
func checkPortable(hooks []settings.Hook) error {
	for _, h := range hooks {
		f, _ := parseHydrate(h.Flags)
		for _, path := range append(f.pluginDirs, f.log) {
			if filepath.IsAbs(path) {
				return &exit{exitNo, fmt.Errorf("%s exists on this machine only, and the project's settings are for everyone", path),
					`leave out the flag with this path; if it is in the file, "--" alone resets the flags; or install with --local`}
			}
		}
	}
	return nil
}

func (f *installFlags) printState(s terminal.Streams, p installPlan, served server) error {
	switch p.report.State {
	case settings.Absent:
		visible.Fprintf(s.Out, "absent from %s\n", p.file.Path)
		f.printOff(s)
		return &exit{code: exitAbsent}
	case settings.Installed:
		visible.Fprintf(s.Out, "installed in %s\n", p.file.Path)
		visible.Fprintf(s.Out, "  %s\n  %s\n", f.findReach(s, p.file), p.tools)
		if p.line {
			visible.Fprintf(s.Out, "  the status line shows the workflow\n")
		}
		if served.report.State == settings.Installed {
			visible.Fprintf(s.Out, "  the MCP server fsmtx is registered in %s\n", served.file.Path)
		}
		if f.printOff(s) {
			return &exit{code: exitOff}
		}
		return nil
	}
	visible.Fprintf(s.Out, "outdated in %s\n", p.file.Path)
	for _, why := range p.report.Why {
		visible.Fprintf(s.Out, "  %s\n", why)
	}
	f.printOff(s)
	return &exit{code: exitOutdated}
}

func (f *installFlags) install(s terminal.Streams, p installPlan) error {
	data, err := p.added()
	if err != nil {
		return inFile(p.file, err)
	}
	if copied, ok, err := npm.Find(s.Getenv); err == nil && ok && !f.print {
		if err := copied.Renew(); err != nil {
			return &exit{exitNo, err, copyHint(err, filepath.Dir(copied.Path()))}
		}
	}
	done := map[settings.State]string{
		settings.Absent:    "installed the hooks in %s\n",
		settings.Outdated:  "updated the hooks in %s\n",
		settings.Installed: "already installed in %s\n",
	}
	if err := f.replace(s, p.file, data, done[p.report.State]); err != nil {
		return err
	}
	if f.print {
		return nil // nothing was installed, so no hint applies
	}
	where := f.findReach(s, p.file)
	visible.Fprintf(s.Out, "  %s\n  %s\n", where, p.tools)
	if p.line {
		visible.Fprintf(s.Out, "  the status line shows the workflow\n")
	}
	f.printOff(s)
	if hint := where.hint(); hint != "" && !f.hasHooks(where.parent, p.hooks) {
		s.Hintf("%s", hint)
	}
	if f.project && p.report.State != settings.Installed {
		s.Hintf("your colleagues need %s on their PATH; without it no tasks are created, and a hook reports that when a session starts", settings.Program)
		if copied, ok, err := npm.Find(s.Getenv); err == nil && ok {
			s.Hintf("on this PATH that name is npm's launcher, which starts Node for each hook; put %q before it on PATH to avoid that", filepath.Dir(copied.Path()))
		}
	}
	if hint := p.tools.hint(); hint != "" {
		s.Hintf("%s", hint)
	}
	return nil
}

func (f *installFlags) uninstall(s terminal.Streams, p installPlan) error {
	data, err := p.removed()
	if err != nil {
		return inFile(p.file, err)
	}
	done := "removed the hooks from %s\n"
	switch {
	case p.report.State == settings.Absent:
		done = "nothing to remove from %s\n"
	case data == nil:
		done = "removed %s, which held nothing else\n"
	}
	return f.replace(s, p.file, data, done)
}

// replace writes data to the file and prints the message done, or prints data.
func (f *installFlags) replace(s terminal.Streams, file *settings.File, data []byte, done string) error {
	if f.print {
		_, err := s.Out.Write(visible.JSON(bytes.TrimPrefix(data, []byte("\ufeff"))))
		return err
	}
	if err := file.Replace(data); err != nil {
		return err
	}
	reportUnguarded(s, file.Unguarded())
	_, err := visible.Fprintf(s.Out, done, file.Path)
	return err
}

// inFile adds the file's path to an error about its content.
func inFile(file *settings.File, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%w", file.Path, err)
}

// explain adds the hint and the exit code to an error.
func (f *installFlags) explain(err error) error {
	if _, ok := errors.AsType[*exit](err); ok || err == nil {
		return err
	}
	code := exitNo
	if f.check {
		code = exitUnreadable
	}
	return &exit{code, err, installHint(err)}
}

// copyHint returns the hint for an error about the copy of the program in dir.
func copyHint(err error, dir string) string {
	switch {
	case errors.Is(err, npm.ErrUntrusted):
		return "hooks would run the programs in " + dir + "; make the directories above and what is in it yours, and run chmod go-w on them, or set XDG_DATA_HOME to a directory of yours; nothing was changed"
	case errors.Is(err, safefile.ErrNotRegular):
		return "move it away; nothing was changed"
	}
	return ""
}

func installHint(err error) string {
	for cause, hint := range map[error]string{
		settings.ErrNotOnPath:  "put this program first on PATH under that name, or install with --local or --user, which register its path",
		settings.ErrTemporary:  "run go install or make build, and run install with that program",
		settings.ErrNotJSON:    "correct the file, or move it away; it was not changed",
		settings.ErrDuplicate:  "remove one of the two; the file was not changed",
		settings.ErrShape:      "correct the file; it was not changed",
		settings.ErrForeign:    "rename or remove that server; the file was not changed",
		agent.ErrServer:        "rename or remove that server; the file was not changed",
		safefile.ErrNotRegular: "move it away, or choose another file with --user, --project or --local",
		claude.ErrNoHome:       "set HOME",
	} {
		if errors.Is(err, cause) {
			return hint
		}
	}
	return editHint(err)
}
