package hydrate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
)

// Flags are the flags of fsmtx hydrate. A settings file keeps them and those of fsmtx hook, and install
// edits them.
type Flags struct {
	Scope, Active string
	Nest          string
	Announce      bool
	PluginDirs    []string
	AddDirs       []string
	LockTimeout   time.Duration
	History       int
	Log           string
}

// DefaultFlags returns the flags of a command line without any.
func DefaultFlags() Flags {
	return Flags{Scope: "all", Active: "reset", Nest: "on", LockTimeout: 5 * time.Second, History: txn.DefaultHistory}
}

// Add adds the flags to a set, with their defaults.
func (f *Flags) Add(to *pflag.FlagSet) { f.add(to, DefaultFlags()) }

func (f *Flags) add(to *pflag.FlagSet, d Flags) {
	to.StringVar(&f.Scope, "scope", d.Scope, `which tasks to replace: "all" tasks of skills, or only those of this "skill"`)
	to.StringVar(&f.Active, "active", d.Active, `if a task to be replaced is under way: "reset" it, or "refuse" to replace any task`)
	to.StringVar(&f.Nest, "nest", d.Nest,
		`if work on another skill's workflow has begun: put the steps under the step that is worked on ("on"), or replace the workflow ("off")`)
	to.BoolVar(&f.Announce, "announce", d.Announce,
		"tell the agent (in at most 9,000 characters) and the person (in one line) which tasks were created")
	f.PluginDirs, f.AddDirs = nil, nil
	to.Var((*directories)(&f.PluginDirs), "plugin-dir",
		"`directory` of a plugin, as with the client's --plugin-dir (repeatable); the client's own are known")
	to.Var((*directories)(&f.AddDirs), "add-dir",
		"`directory` with skills, as with the client's --add-dir (repeatable); the client's own are known")
	to.IntVar(&f.History, "history", d.History, "how many hydrations of a list \"fsmtx undo\" can undo, at most 1000")
	to.DurationVar(&f.LockTimeout, "lock-timeout", d.LockTimeout, "how long to wait for the task list's locks")
	to.StringVar(&f.Log, "log", "", decisions.Usage)
}

// directories are the values of a flag that can be given several times. Each hook has two such flags, and
// pflag's own would write CSV, with two buffers, when they are added.
type directories []string

func (d *directories) String() string { return strings.Join(*d, ",") }
func (d *directories) Type() string   { return "stringArray" } // by which cobra completes it again

func (d *directories) Set(value string) error {
	*d = append(*d, value)
	return nil
}

// maxHistory limits --history. The last hydration is always kept: a second hook for the
// same call finds it and does nothing.
const maxHistory = 1000

// Policy returns what the flags say about the tasks to replace, or an error about the first
// flag whose value cannot be used.
func (f Flags) Policy() (policy fsmspec.Policy, err error) {
	if err := policy.Scope.UnmarshalText([]byte(f.Scope)); err != nil {
		return policy, fmt.Errorf("--scope: %w", err)
	}
	if err := policy.Active.UnmarshalText([]byte(f.Active)); err != nil {
		return policy, fmt.Errorf("--active: %w", err)
	}
	if f.Nest != "on" && f.Nest != "off" {
		return policy, fmt.Errorf("--nest: got %q, want on or off", f.Nest)
	}
	if f.History < 1 || f.History > maxHistory {
		return policy, fmt.Errorf("--history: got %d, want a number from 1 to %d", f.History, maxHistory)
	}
	if f.LockTimeout <= 0 {
		return policy, fmt.Errorf("--lock-timeout: got %v, want a positive duration", f.LockTimeout)
	}
	return policy, nil
}

// Portable returns an error if a flag is an absolute path, which exists on this machine only.
func (f Flags) Portable() error {
	for _, path := range slices.Concat(f.PluginDirs, f.AddDirs, []string{f.Log}) {
		if filepath.IsAbs(path) {
			return message.WithHint(fmt.Errorf("%s exists on this machine only, and the project's settings are for everyone", path),
				`leave out the flag with this path; if it is in the file, "--" alone resets the flags; or install with --local`)
		}
	}
	return nil
}

// maxLockTimeout bounds the wait of a registered hook. The client's timers are
// JavaScript's, which fire at once when set to more than 2^31 ms (24 days).
const maxLockTimeout = 24 * time.Hour

// parseFlags reads arguments of hydrate that a hook is to be registered with, and checks their values. With an error it
// returns what could be read.
func parseFlags(args []string) (f Flags, err error) {
	known := f.set()
	err = known.Parse(args)
	if err == nil && known.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", known.Arg(0))
	}
	if err == nil {
		_, err = f.Policy()
	}
	if err == nil {
		err = f.limited()
	}
	return f, err
}

// limited returns an error for a wait that is too long for a registered hook.
func (f Flags) limited() error {
	if f.LockTimeout > maxLockTimeout {
		return fmt.Errorf("--lock-timeout: got %v, want at most %v", f.LockTimeout, maxLockTimeout)
	}
	return nil
}

// CheckFlags returns an error for arguments that would make every call of the hook fail.
func CheckFlags(args []string) error {
	if _, err := parseFlags(args); err != nil {
		return message.WithHint(fmt.Errorf("invalid hydrate flags: %w", err), "run fsmtx hydrate --help")
	}
	return nil
}

func (f *Flags) set() *pflag.FlagSet {
	set := pflag.NewFlagSet("hydrate", pflag.ContinueOnError)
	set.Usage = func() {}
	f.Add(set)
	return set
}

// eachFlag calls f for each flag in valid arguments, with its name and its words: one, or two if
// the value is a word of its own.
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
