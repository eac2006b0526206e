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
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/txn"
)

// Flags are the flags of fsmtx hook. A settings file keeps them, and install edits them.
type Flags struct {
	// Those of hydrate:
	Scope, Active string
	Nest          string
	Announce      bool
	PluginDirs    []string
	AddDirs       []string
	LockTimeout   time.Duration
	History       int
	Log           string

	// Those about steps:
	Stop, Checks string
	Limit        time.Duration

	Agent string // whose hook it is; empty for the agent that sent the event
	Steps string // "on", "observe" or "off"
}

// Observe is the value of Flags.Steps with which nothing is refused, and the first gate that would is put on record.
const Observe = "observe"

// OfHydrate are the names of the flags that fsmtx hydrate has, too.
var OfHydrate = []string{"scope", "active", "nest", "announce", "plugin-dir", "add-dir", "history", "lock-timeout", "log"}

// DefaultFlags returns the flags of a command line without any. Those of hydrate have announce off.
func DefaultFlags() Flags {
	return Flags{Scope: "all", Active: "reset", Nest: "on", Announce: true, History: txn.DefaultHistory, LockTimeout: 5 * time.Second,
		Stop: string(gates.Remind), Checks: "on", Limit: gates.CallLimit, Steps: "on"}
}

// Add adds the flags to a set. Their values are the defaults.
func (f *Flags) Add(to *pflag.FlagSet) {
	to.StringVar(&f.Scope, "scope", f.Scope, `which tasks to replace: "all" tasks of skills, or only those of this "skill"`)
	to.StringVar(&f.Active, "active", f.Active, `if a task to be replaced is under way: "reset" it, or "refuse" to replace any task`)
	to.StringVar(&f.Nest, "nest", f.Nest,
		`if work on another skill's workflow has begun: put the steps under the step that is worked on ("on"), or replace the workflow ("off")`)
	to.BoolVar(&f.Announce, "announce", f.Announce,
		"tell the agent (in at most 9,000 characters) and the person (in one line) which tasks were created")
	to.Var((*directories)(&f.PluginDirs), "plugin-dir",
		"`directory` of a plugin, as with the client's --plugin-dir (repeatable); the client's own are known")
	to.Var((*directories)(&f.AddDirs), "add-dir",
		"`directory` with skills, as with the client's --add-dir (repeatable); the client's own are known")
	to.IntVar(&f.History, "history", f.History, "how many calls of skills \"fsmtx undo\" can undo in a list, at most 1000")
	to.DurationVar(&f.LockTimeout, "lock-timeout", f.LockTimeout, "how long to wait for the task list's locks")
	to.StringVar(&f.Log, "log", f.Log, decisions.Usage)
	to.StringVar(&f.Stop, "stop", f.Stop,
		`when the agent stops while a step is ready: "remind" it once, "hold" it each time, or do nothing ("off")`)
	to.StringVar(&f.Checks, "checks", f.Checks, `run the checks of steps: "on" or "off"`)
	to.DurationVar(&f.Limit, "limit", f.Limit, "the time limit with which the hook is registered")
	to.StringVar(&f.Agent, "agent", f.Agent, "the agent whose hook this is; without it, the agent that the event shows")
	to.StringVar(&f.Steps, "steps", f.Steps, `enforce the steps of workflows: "on", "observe" (decide, record and refuse nothing) or "off"`)
	// Has no effect: fsmtx install adds it to the hook to mark that it has set the variable.
	to.Bool("task-tools", false, "")
	_ = to.MarkHidden("task-tools")
}

// AddOnly adds only the named flags.
func (f *Flags) AddOnly(to *pflag.FlagSet, names []string) {
	all := f.set()
	for _, name := range names {
		to.AddFlag(all.Lookup(name))
	}
}

func (f *Flags) set() *pflag.FlagSet {
	set := pflag.NewFlagSet("hook", pflag.ContinueOnError)
	set.Usage = func() {}
	f.Add(set)
	return set
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

// Choice is a flag whose value is one of a few words. The first is the default.
type Choice struct {
	Flag  string
	Words []string
	value string
}

// Choices returns the flags whose values are words.
func (f *Flags) Choices() []Choice {
	onOff := []string{"on", "off"}
	return []Choice{
		{"scope", []string{"all", "skill"}, f.Scope},
		{"active", []string{"reset", "refuse"}, f.Active},
		{"nest", onOff, f.Nest},
		{"steps", []string{"on", Observe, "off"}, f.Steps},
		{"stop", []string{string(gates.Remind), string(gates.Hold), string(gates.StopOff)}, f.Stop},
		{"checks", onOff, f.Checks},
	}
}

// Words returns the values of a flag, the default first.
func Words(flag string) []string {
	choices := new(Flags).Choices()
	return choices[slices.IndexFunc(choices, func(c Choice) bool { return c.Flag == flag })].Words
}

// Check returns an error about the first flag whose value cannot be used. It does not know the names of agents.
func (f *Flags) Check() error {
	for _, c := range f.Choices() {
		if !slices.Contains(c.Words, c.value) {
			last := len(c.Words) - 1
			return fmt.Errorf("--%s: got %q, want %s or %s", c.Flag, c.value, strings.Join(c.Words[:last], ", "), c.Words[last])
		}
	}
	switch {
	case f.History < 1 || f.History > maxHistory:
		return fmt.Errorf("--history: got %d, want a number from 1 to %d", f.History, maxHistory)
	case f.LockTimeout <= 0:
		return fmt.Errorf("--lock-timeout: got %v, want a positive duration", f.LockTimeout)
	case f.Limit <= 0:
		return fmt.Errorf("--limit: got %v, want a positive duration", f.Limit)
	}
	return nil
}

// Policy returns what checked flags say about the tasks to replace.
func (f *Flags) Policy() (policy fsmspec.Policy) {
	if f.Scope == "skill" {
		policy.Scope = fsmspec.ScopeSkill
	}
	if f.Active == "refuse" {
		policy.Active = fsmspec.ActiveRefuse
	}
	return policy
}

// Portable returns an error if a flag is an absolute path, which exists on this machine only.
func (f *Flags) Portable() error {
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

// ParseFlags reads the arguments of a registered hook, and checks their values. With an error it
// returns what could be read.
func ParseFlags(args []string) (f Flags, err error) {
	f = DefaultFlags()
	return f, f.parse(f.set(), args)
}

func (f *Flags) parse(set *pflag.FlagSet, args []string) error {
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if f.LockTimeout > maxLockTimeout {
		return fmt.Errorf("--lock-timeout: got %v, want at most %v", f.LockTimeout, maxLockTimeout)
	}
	return f.Check()
}

// CheckFlags returns an error for arguments of hydrate that would make every call of the hook fail.
func CheckFlags(args []string) error {
	f := DefaultFlags()
	set := pflag.NewFlagSet("hydrate", pflag.ContinueOnError)
	set.Usage = func() {}
	f.AddOnly(set, OfHydrate)
	if err := f.parse(set, args); err != nil {
		return message.WithHint(fmt.Errorf("invalid hydrate flags: %w", err), "run fsmtx hydrate --help")
	}
	return nil
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

// MergeFlags returns the arguments of a registered hook with given, arguments of hydrate, in the place
// of the same flags, or of all flags of hydrate if none are given. If args are not valid, given
// are all that is left. given are valid.
func MergeFlags(args, given []string) []string {
	if _, err := ParseFlags(args); err != nil {
		args = nil
	}
	known, replaced, merged := new(Flags).set(), map[string]bool{}, []string{}
	eachFlag(known, given, func(name string, _ []string) { replaced[name] = true })
	eachFlag(known, args, func(name string, words []string) {
		if !replaced[name] && (len(given) > 0 || !slices.Contains(OfHydrate, name)) {
			merged = append(merged, words...)
		}
	})
	return append(merged, given...)
}

// TimeLimit returns the client's time limit of a hook with these arguments, in seconds: more than
// its own wait for locks. ok is false for invalid arguments, which the hook reports when it runs.
func TimeLimit(args []string) (seconds int, ok bool) {
	f, err := ParseFlags(args)
	if err != nil {
		return 0, false
	}
	return settings.HookLimit(f.LockTimeout), true
}
