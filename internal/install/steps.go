package install

import (
	"os"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// Given reports whether anything is chosen.
func (c *Steps) Given() bool { return *c != Steps{} }

// Applied returns the flags of fsmtx hook with the chosen values.
func (c *Steps) Applied(flags []string) []string {
	flags = append([]string{}, flags...)
	for _, name := range []string{"stop", "checks"} {
		value := map[string]string{"stop": c.Stop, "checks": c.Checks}[name]
		if value == "" {
			continue
		}
		flags = without(flags, "--"+name)
		if value != hydrate.Words(name)[0] {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	return flags
}

// without removes a flag and its value from flags.
func without(flags []string, name string) []string {
	var kept []string
	for i := 0; i < len(flags); i++ {
		switch {
		case flags[i] == name:
			i++
		case !strings.HasPrefix(flags[i], name+"="):
			kept = append(kept, flags[i])
		}
	}
	return append([]string{}, kept...)
}

// Hooks returns the hooks that a file should have, with the flags that they have there, the flags
// of hydrate (nil if none are given) and the chosen values. listed is the tools of the calls that
// workflows list; those that the file has hooks for are kept.
func (c *Steps) Hooks(data []byte, binary string, listed settings.Only, given []string) ([]settings.Hook, error) {
	have, err := settings.FindOnly(data)
	if err != nil {
		return nil, err
	}
	duty := settings.Duty{NoSteps: c.None, Only: listed.With(have)}
	if c.Only {
		duty.Only = duty.Only.With(settings.EveryOnly())
	}
	hooks, err := settings.Keep(data, settings.Hooks(binary, []string{}, duty))
	if err != nil {
		return nil, err
	}
	for i, h := range hooks {
		flags := h.Flags
		if given != nil {
			flags = hydrate.MergeFlags(flags, given)
		}
		hooks[i].Flags = c.Applied(without(flags, "--steps"))
		switch {
		case c.None:
			hooks[i].Flags = append(hooks[i].Flags, "--steps=off")
		case c.Observe:
			hooks[i].Flags = append(hooks[i].Flags, "--steps="+hydrate.Observe)
		}
		hooks[i].Timeout = limit(hooks[i])
	}
	return hooks, nil
}

// limit returns the client's time limit of a hook: more than the hook's own wait for locks, or for
// checks if it may run them.
func limit(h settings.Hook) int {
	seconds, ok := hydrate.TimeLimit(h.Flags)
	switch {
	case !ok:
		return h.Timeout
	case h.Timeout >= settings.StepTimeout:
		return max(seconds, settings.StepTimeout)
	}
	return seconds
}

// listedHere returns the tools of the calls that the workflows list which the client knows in
// the current directory.
func listedHere(getenv func(string) (string, bool)) settings.Only {
	l, err := hydrate.ClientLocator(getenv)
	if err != nil {
		return settings.Only{}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return settings.Only{}
	}
	var paths []string
	all, _ := l.Workflows(cwd)
	for _, w := range all {
		paths = append(paths, w.Path)
	}
	return ListedIn(paths)
}

// ListedIn returns the tools of the calls that the valid ones of these workflows list.
func ListedIn(paths []string) settings.Only {
	var rules []string
	for _, path := range paths {
		data, err := safefile.ReadFile(path, fsmspec.MaxBytes, 0)
		if err != nil {
			continue
		}
		rules = append(rules, rulesOf(data)...)
	}
	return settings.OnlyOf(rules)
}

// rulesOf returns the rules of a workflow, none if it is not valid.
func rulesOf(data []byte) (rules []string) {
	spec, err := fsmspec.Parse(data)
	if err != nil {
		return nil
	}
	for _, t := range spec.Tasks() {
		rules = append(rules, t.Only...)
	}
	return rules
}
