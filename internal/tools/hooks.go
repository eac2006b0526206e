package tools

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// exitStop tells a shell script that a hook stops the agent.
const exitStop = 3

func newHooks(s terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "hooks",
		Short: "Run, list and check the hooks of any configuration, without the agent",
		Long: "Runs the hooks of LLxprt Code, Gemini CLI, Claude Code or Codex without that agent. This is for agents\n" +
			"without hooks of their own, for authors of hooks, and for tests of hooks.",
		Example: command.Example("fsmtx hooks list --dialect claude", "fsmtx hooks fire BeforeTool < event.json"),
		Args:    command.NoSuchCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
}

func hooksSubcommands() []command.Subcommand {
	return []command.Subcommand{
		{Name: "fire", Make: newHooksFire},
		{Name: "eval", Make: newHooksEval},
		{Name: "tool", Make: newHooksTool},
		{Name: "model", Make: newHooksModel},
		{Name: "list", Make: newHooksList},
		{Name: "check", Make: newHooksCheck},
		{Name: "status", Make: newHooksStatus},
	}
}

// hookFlags are the flags that several subcommands share.
type hookFlags struct {
	config  []string
	plugins []string
	session string
	dialect string
	skills  []string
	json    bool
}

func (f *hookFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.config, "config", nil, "read this file instead of the agent's own configuration (repeatable)")
	c.Flags().StringArrayVar(&f.plugins, "plugin-dir", nil, "add the hooks of the plugin in this directory (repeatable)")
	c.Flags().StringArrayVar(&f.skills, "skill", nil,
		"also run the hooks in the frontmatter of this skill, as if it had been called (repeatable)")
	f.addDialect(c, "")
	c.Flags().Lookup("dialect").Usage += " (default: the one that has hooks here)"
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	c.MarkFlagsMutuallyExclusive("config", "plugin-dir")
	c.MarkFlagsMutuallyExclusive("config", "skill")
}

func (f *hookFlags) addDialect(c *cobra.Command, unlessGiven string) {
	c.Flags().StringVar(&f.dialect, "dialect", unlessGiven, "the agent whose hooks these are: llxprt, gemini, claude or codex")
	command.Complete(c, "dialect", "llxprt", "gemini", "claude", "codex")
}

func (f *hookFlags) addSession(c *cobra.Command) {
	c.Flags().StringVar(&f.session, "session", "", "the session ID that hooks receive")
}

// hookSetup is the configuration for a project.
type hookSetup struct {
	dialect dialect.Dialect
	cwd     string // working directory of the agent
	project string
	found   hooks.Found
	none    bool // no agent whose hooks are run has any here
}

// findHere reads the configuration for an agent in this process's working directory.
func (f *hookFlags) findHere(s terminal.Streams) (hookSetup, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return hookSetup{}, err
	}
	return f.find(s, cwd)
}

// dialectHere returns the dialect that is asked for, or else that of the agent that has hooks here: of several the first, and the
// others are named. For a file of its own, and without any hooks (none is true), it is LLxprt Code's, which has the most that a hook may
// use.
func (f *hookFlags) dialectHere(s terminal.Streams, cwd string) (d dialect.Dialect, none bool, err error) {
	switch {
	case f.dialect != "":
		d, err := dialect.Named(f.dialect)
		return d, false, command.AsUsage(err)
	case len(f.plugins) > 0:
		return dialect.Claude(), false, nil
	}
	var have []dialect.Dialect
	for _, d := range []dialect.Dialect{dialect.LLxprt(), dialect.Claude(), dialect.Gemini(), dialect.Codex()} {
		found := hookFinder(s, d, projectDir(s, cwd)).Find()
		if len(f.config) == 0 && hooks.NewRegistry(d, found.Sources).Total() > 0 {
			have = append(have, d)
		}
	}
	if len(have) == 0 {
		return dialect.LLxprt(), len(f.config) == 0, nil
	}
	if have[0].Name == dialect.LLxprt().Name {
		return have[0], false, nil // it reads the others' files, too
	}
	for _, d := range have[1:] {
		s.Hintf("%s has hooks here, too: --dialect %s", d.Title, d.Name)
	}
	return have[0], false, nil
}

// find reads the configuration for an agent in the directory cwd. Files that cannot be
// used are reported on standard error.
func (f *hookFlags) find(s terminal.Streams, cwd string) (hookSetup, error) {
	d, none, err := f.dialectHere(s, cwd)
	if err != nil {
		return hookSetup{}, err
	}
	if err := f.checkPlugins(d); err != nil {
		return hookSetup{}, err
	}
	project := projectDir(s, cwd)
	finder := hookFinder(s, d, project)
	finder.Plugins = withPluginDirs(s, finder.Plugins, f.plugins)
	finder.Active = f.skills
	setup := hookSetup{dialect: d, cwd: cwd, project: project, none: none}
	if len(f.config) > 0 {
		setup.found, err = finder.Given(f.config)
		return setup, err
	}
	setup.found = finder.Find()
	for _, skill := range f.skills {
		if !slices.Contains(setup.found.Skills, skill) {
			return setup, noSuchSkill(skill, setup.found.Skills)
		}
	}
	for _, trouble := range setup.found.Trouble {
		s.Errorf("%v", trouble)
	}
	return setup, nil
}

// checkPlugins returns an error if a directory in --plugin-dir would not add hooks.
func (f *hookFlags) checkPlugins(d dialect.Dialect) error {
	if len(f.plugins) > 0 && !d.Settings.Plugins {
		return command.Fail(command.ExitNo, fmt.Errorf("--plugin-dir: fsmtx hooks does not read plugins of %s", d.Title),
			"--dialect claude reads those of Claude Code")
	}
	for _, dir := range f.plugins {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("--plugin-dir: %w", err)
		}
		if !info.IsDir() {
			return fmt.Errorf("--plugin-dir: %s is not a directory", dir)
		}
	}
	return nil
}

// noSuchSkill returns the error for a skill that has no hooks.
func noSuchSkill(name string, known []string) error {
	hint := "no skill found here has hooks in its frontmatter; --config FILE reads a SKILL.md"
	if len(known) > 0 {
		hint = "skills with hooks: " + dialect.InWords(known)
	}
	return command.Fail(command.ExitNo, fmt.Errorf("no skill %q with hooks", name), hint)
}

func hookFinder(s terminal.Streams, d dialect.Dialect, project string) hooks.Finder {
	_, root := client.WorkTree(locator.OS{}, project)
	finder := hooks.Finder{
		Dialect: d,
		Plugins: clientPlugins(s, project),
		Where: hooks.Where{Home: s.Env("HOME"), Project: project, WorkTree: root, Getenv: s.Env,
			Managed: client.ManagedFiles(os.ReadDir, settings.ManagedDir())},
	}
	if d.Settings.Plugins {
		finder.Off = clientOff(s, project)
	}
	return finder
}

// clientOff returns a function that says which setting keeps Claude Code from running the hooks of a
// place in a project.
func clientOff(s terminal.Streams, project string) func(dialect.Scope, string) string {
	read := sync.OnceValue(func() settings.Effective { return settings.Here(s.Getenv, project) })
	return func(scope dialect.Scope, plugin string) string {
		place := settings.Project // as the user's
		switch {
		case scope == dialect.System:
			place = settings.ManagedPlugin
		case plugin != "":
			place = read().PluginPlace(plugin)
		}
		for _, off := range read().OffInFiles(place) {
			return off.String()
		}
		return ""
	}
}

// isOff reports whether there are settings and they do not enable hooks.
func (h hookSetup) isOff() bool { return !h.found.Enabled && len(h.found.Files) > 0 }

// engine returns the engine for a session. If the settings do not enable hooks, it prints the
// setting that enables them.
func (h hookSetup) engine(s terminal.Streams, session hooks.Session, processes *hookProcesses) *hooks.Engine {
	if h.isOff() {
		s.Hintf("hooks are off; %s runs them only with %s in the settings", h.dialect.Title, h.dialect.Settings.ToEnable)
	}
	return hooks.New(hooks.Config{
		Dialect: h.dialect,
		Session: session,
		Enabled: h.found.Enabled,
		Load:    func() ([]hooks.Source, error) { return h.found.Sources, nil },
		Environ: slices.Concat(os.Environ(), h.found.Env),

		Requests: h.found.Requests,

		BeforeProcesses: processes.start,
	})
}

// hookProcesses holds the context of the processes that a command starts: hooks, and
// commands that take the place of a tool or a model. The context is cancelled on the
// signals that end this program, because hooks run in process groups of their own: a
// terminal's interrupt or hang-up does not reach them.
type hookProcesses struct {
	once sync.Once
	ctx  context.Context
}

// start must be called before the first process is started; later calls return the same
// context. It installs the signal handlers only then, to spare events without hooks the
// cost. They are never removed, because removing them costs a good part of a short run.
func (p *hookProcesses) start(ctx context.Context) context.Context {
	p.once.Do(func() {
		p.ctx, _ = signals.Context(ctx, hooks.KillAfter+signals.Grace)
	})
	return p.ctx
}

// interrupted returns an error if a signal has cancelled the context. A hook that was
// stopped has not allowed anything, so the exit code must not be 0.
func (p *hookProcesses) interrupted() error {
	if p.ctx == nil || p.ctx.Err() == nil {
		return nil
	}
	return &command.Exit{Code: command.ExitNo, Err: fmt.Errorf("interrupted: %w", context.Cause(p.ctx))}
}

// projectDir returns the agent's project: CLAUDE_PROJECT_DIR if it is set, otherwise cwd.
func projectDir(s terminal.Streams, cwd string) string {
	if dir := s.Env("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir
	}
	return cwd
}

// printWarnings prints the warnings of results on standard error.
func printWarnings(s terminal.Streams, results ...*hooks.Result) {
	for _, r := range results {
		if r == nil {
			continue
		}
		for _, warning := range r.Warnings() {
			s.Errorf("%s", message.Lines(indented(warning)))
		}
	}
}
