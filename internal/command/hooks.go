package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// exitStop is for a shell script that is an agent: a hook wants it to end.
const exitStop = 3

func newHooks(s terminal.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "hooks",
		Short: "Run, list, check and test the hooks of any configuration, without the agent",
		Long: "Runs the hooks of LLxprt Code, Gemini CLI or Claude Code without that agent: for agents that\n" +
			"have no hooks of their own, for people who write hooks, and for their tests.",
		Example: example("fsmtx hooks list --dialect claude", "fsmtx hooks fire BeforeTool < event.json", "fsmtx hooks test plugin"),
		Args:    noSuchCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range hooksSubcommands() {
		c.AddCommand(sub.make(s))
	}
	return c
}

func hooksSubcommands() []subcommand {
	return []subcommand{
		{name: "fire", make: newHooksFire},
		{name: "eval", make: newHooksEval},
		{name: "tool", make: newHooksTool},
		{name: "model", make: newHooksModel},
		{name: "list", make: newHooksList},
		{name: "check", make: newHooksCheck},
		{name: "test", make: newHooksTest},
		{name: "status", make: newHooksStatus},
	}
}

// hookFlags are what the subcommands have in common.
type hookFlags struct {
	config  []string
	dialect string
	json    bool
}

func (f *hookFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.config, "config", nil, "read this file instead of where the agent keeps its hooks (repeatable)")
	f.addDialect(c)
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
}

func (f *hookFlags) addDialect(c *cobra.Command) {
	c.Flags().StringVar(&f.dialect, "dialect", "llxprt", "whose hooks they are: llxprt, gemini or claude")
}

// hookSetup is a configuration that was found.
type hookSetup struct {
	dialect hooks.Dialect
	found   settings.Found
}

// find reads the configuration for a project. What could not be read is said on
// standard error.
func (f *hookFlags) find(s terminal.Streams, project string) (hookSetup, error) {
	d, err := hooks.Named(f.dialect)
	if err != nil {
		return hookSetup{}, err
	}
	finder := hookFinder(s, d, project)
	setup := hookSetup{dialect: d}
	if len(f.config) > 0 {
		setup.found, err = finder.Given(f.config)
		return setup, err
	}
	setup.found = finder.Find()
	for _, trouble := range setup.found.Trouble {
		s.Errorf("%v", trouble)
	}
	return setup, nil
}

func hookFinder(s terminal.Streams, d hooks.Dialect, project string) settings.Finder {
	return settings.Finder{
		Dialect: d,
		Plugins: clientPlugins(s, project),
		Where:   hooks.Where{Home: s.Env("HOME"), Project: project, Config: s.Env("CLAUDE_CONFIG_DIR"), Getenv: s.Env},
	}
}

// engine returns the engine for a session, nil if the settings do not enable
// hooks; then a hint says what would.
func (h hookSetup) engine(s terminal.Streams, session hooks.Session) *hooks.Engine {
	if !h.found.Enabled && len(h.found.Files) > 0 {
		s.Hintf("hooks are switched off; %s runs them only where the settings have %s", h.dialect.Title, h.dialect.ToEnable())
	}
	return hooks.New(hooks.Config{
		Dialect: h.dialect,
		Session: session,
		Enabled: h.found.Enabled,
		Load:    func() ([]hooks.Source, error) { return h.found.Sources, nil },
	})
}

// supervising returns a context that the signals end which end this program. It
// has to live until the hooks are ended: they are in process groups of their own,
// where neither a terminal's interrupt nor its hang-up reaches them.
//
// It listens from when somebody first asks for Done, which is before the first
// process is started: an event without hooks need not pay for it.
// It never stops to: that would be a good part of what a short program costs.
func supervising(ctx context.Context) context.Context { return &supervised{Context: ctx} }

// supervised is a context of supervising.
type supervised struct {
	context.Context // before it listens
	once            sync.Once
	listening       atomic.Pointer[context.Context]
}

func (s *supervised) Done() <-chan struct{} {
	s.once.Do(func() {
		signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
		if !signal.Ignored(syscall.SIGHUP) { // as under nohup
			signals = append(signals, syscall.SIGHUP)
		}
		ctx, _ := signal.NotifyContext(s.Context, signals...)
		s.listening.Store(&ctx)
	})
	return s.current().Done()
}

func (s *supervised) Err() error { return s.current().Err() }

// Value is asked for the cause.
func (s *supervised) Value(key any) any { return s.current().Value(key) }

func (s *supervised) current() context.Context {
	if ctx := s.listening.Load(); ctx != nil {
		return *ctx
	}
	return s.Context
}

// interrupted is the error of a command whose context a signal ended, nil
// otherwise. Hooks that were cut short have not allowed anything, and whoever
// goes by the exit code must not read it as that.
func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &exit{code: exitNo, err: fmt.Errorf("interrupted: %w", context.Cause(ctx))}
}

// projectDir is where the agent's project is: what the client says, else cwd.
func projectDir(s terminal.Streams, cwd string) string {
	if dir := s.Env("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir
	}
	return cwd
}

// cwdOr returns dir, or the working directory if it is empty.
func cwdOr(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	return os.Getwd()
}

// warnOf prints the warnings of a result for people.
func warnOf(s terminal.Streams, results ...*hooks.Result) {
	for _, r := range results {
		if r == nil {
			continue
		}
		for _, entry := range r.Logs {
			if entry.Level == "warn" {
				s.Errorf("%s", entry.Message)
			}
		}
	}
}
