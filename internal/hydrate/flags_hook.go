package hydrate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/steps"
)

// StepFlags are the flags of fsmtx step.
type StepFlags struct {
	Stop, Checks string
	Limit        time.Duration
	Log          string
}

// Add adds the flags to a set, except --log.
func (f *StepFlags) Add(to *pflag.FlagSet) {
	to.StringVar(&f.Stop, "stop", string(steps.Remind),
		`when the agent stops while a step is ready: "remind" it once, "hold" it each time, or do nothing ("off")`)
	to.StringVar(&f.Checks, "checks", "on", `run the checks of steps: "on" or "off"`)
	to.DurationVar(&f.Limit, "limit", steps.CallLimit, "the time limit with which the hook is registered")
}

// Check returns an error about the first flag whose value cannot be used.
func (f StepFlags) Check() error {
	switch {
	case !slices.Contains([]steps.StopMode{steps.Remind, steps.Hold, steps.StopOff}, steps.StopMode(f.Stop)):
		return fmt.Errorf("--stop: got %q, want remind, hold or off", f.Stop)
	case f.Checks != "on" && f.Checks != "off":
		return fmt.Errorf("--checks: got %q, want on or off", f.Checks)
	case f.Limit <= 0:
		return fmt.Errorf("--limit: got %v, want a positive duration", f.Limit)
	}
	return nil
}

// HookFlags are the flags of fsmtx hook: those of hydrate, with --announce on unless it is switched
// off, those of step, and its own. Both logs are one file.
type HookFlags struct {
	Hydrate Flags
	Step    StepFlags
	Agent   string // whose hook it is; empty is whoever has sent the event
	Steps   string // "on" or "off"
}

// Add adds the flags to a set, with their defaults.
func (f *HookFlags) Add(to *pflag.FlagSet) {
	d := DefaultFlags()
	d.Announce = true
	f.Hydrate.add(to, d)
	f.Step.Add(to)
	to.StringVar(&f.Agent, "agent", "", "the agent whose hook this is; without it, the agent that the event shows")
	to.StringVar(&f.Steps, "steps", "on", `enforce the steps of workflows: "on" or "off"`)
	// Has no effect: fsmtx install adds it to the hook to mark that it has set the variable.
	to.Bool("task-tools", false, "")
	_ = to.MarkHidden("task-tools")
}

// Check returns the policy of the flags, or an error about a flag whose value cannot be used.
// It does not know the names of agents.
func (f *HookFlags) Check() (fsmspec.Policy, error) {
	f.Step.Log = f.Hydrate.Log
	if f.Steps != "on" && f.Steps != "off" {
		return fsmspec.Policy{}, fmt.Errorf("--steps: got %q, want on or off", f.Steps)
	}
	policy, err := f.Hydrate.Policy()
	return policy, cmp.Or(f.Step.Check(), err)
}

// ParseHookFlags reads the arguments of a registered hook, and checks their values. With an error it
// returns what could be read.
func ParseHookFlags(args []string) (f HookFlags, err error) {
	if err = f.set().Parse(args); err == nil {
		_, err = f.Check()
	}
	if err == nil {
		err = f.Hydrate.limited()
	}
	return f, err
}

func (f *HookFlags) set() *pflag.FlagSet {
	set := pflag.NewFlagSet("hook", pflag.ContinueOnError)
	set.Usage = func() {}
	f.Add(set)
	return set
}

// MergeFlags returns the arguments of a registered hook with given, arguments of hydrate, in the place
// of the same flags, or of all flags of hydrate if none are given. If args are not valid, given
// are all that is left. given are valid.
func MergeFlags(args, given []string) []string {
	if _, err := ParseHookFlags(args); err != nil {
		args = nil
	}
	known, ofHydrate := new(HookFlags).set(), new(Flags).set()
	replaced := map[string]bool{}
	eachFlag(known, given, func(name string, _ []string) { replaced[name] = true })
	merged := []string{}
	eachFlag(known, args, func(name string, words []string) {
		if !replaced[name] && (len(given) > 0 || ofHydrate.Lookup(name) == nil) {
			merged = append(merged, words...)
		}
	})
	return append(merged, given...)
}

// TimeLimit returns the client's time limit of a hook with these arguments, in seconds: more than
// its own wait for locks. ok is false for invalid arguments, which the hook reports when it runs.
func TimeLimit(args []string) (seconds int, ok bool) {
	f, err := ParseHookFlags(args)
	if err != nil {
		return 0, false
	}
	return settings.HookLimit(f.Hydrate.LockTimeout), true
}

// StepValues returns the values of --stop and --checks, the defaults first.
func StepValues() map[string][]string {
	return map[string][]string{"stop": {"remind", "hold", "off"}, "checks": {"on", "off"}}
}
