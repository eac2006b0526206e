package command

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// stepChoice holds the flags of install about steps. With an empty text the registered
// value is kept, or else the default of fsmtx step.
type stepChoice struct {
	none         bool
	only         bool
	stop, checks string
}

var stepValues = map[string][]string{"stop": {"remind", "hold", "off"}, "checks": {"on", "off"}}

func (c *stepChoice) flags(to *cobra.Command) {
	flags := to.Flags()
	flags.BoolVar(&c.none, "no-steps", false, "leave out the hooks that enforce the steps")
	flags.StringVar(&c.stop, "stop", "", "when the agent stops while a step is ready: remind (default), hold or off")
	flags.StringVar(&c.checks, "checks", "", "run the checks that workflows declare: on (default) or off")
	flags.BoolVar(&c.only, "only", false, "also judge the calls that workflows elsewhere may list under \"only\": of every tool, not of those that the workflows here list")
	for name, words := range stepValues {
		complete(to, name, words...)
	}
}

func (c *stepChoice) given() bool { return c.none || c.only || c.stop != "" || c.checks != "" }

func (c *stepChoice) validate() error {
	if c.only && c.none {
		return &exit{exitNo, errors.New("--no-steps cannot be combined with --only"), "without the hooks no call is judged"}
	}
	for name, value := range map[string]string{"stop": c.stop, "checks": c.checks} {
		if value != "" && !slices.Contains(stepValues[name], value) {
			return &exit{exitNo, fmt.Errorf("--%s: got %q, want %s", name, value, strings.Join(stepValues[name], ", ")), ""}
		}
		if value != "" && c.none {
			return &exit{exitNo, fmt.Errorf("--no-steps cannot be combined with --%s", name), "without the hooks there is nothing to choose"}
		}
	}
	return nil
}

// applied returns the flags of fsmtx step with the chosen values.
func (c *stepChoice) applied(flags []string) []string {
	flags = append([]string{}, flags...)
	for _, name := range []string{"stop", "checks"} {
		value := map[string]string{"stop": c.stop, "checks": c.checks}[name]
		if value == "" {
			continue
		}
		flags = without(flags, "--"+name)
		if value != stepValues[name][0] {
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

// withSteps adds the hooks of fsmtx step to the hooks that a file should have, with the
// flags that they have there and the chosen values. listed is the tools of the calls that
// workflows list; those that the file has hooks for are kept.
func (c *stepChoice) withSteps(data []byte, hooks []settings.Hook, binary string, listed settings.Only) ([]settings.Hook, error) {
	if c.none {
		return hooks, nil
	}
	have, err := settings.FindOnly(data)
	if err != nil {
		return nil, err
	}
	only := listed.With(have)
	if c.only {
		only = only.With(settings.EveryOnly())
	}
	steps, err := settings.Keep(data, settings.Steps(binary, []string{}, only))
	if err != nil {
		return nil, err
	}
	for i := range steps {
		steps[i].Flags = c.applied(steps[i].Flags)
	}
	return append(hooks, steps...), nil
}

// cleared returns the settings without the hooks of fsmtx step if --no-steps is given, and
// whether there were any.
func (c *stepChoice) cleared(data []byte, binary string) (rest []byte, cleared bool, err error) {
	if !c.none {
		return data, false, nil
	}
	steps := settings.Steps(binary, []string{}, settings.Only{})
	report, err := settings.Inspect(data, steps)
	if err != nil || report.State == settings.Absent {
		return data, false, err
	}
	rest, err = settings.Remove(data, steps)
	return rest, true, err
}

// listedHere returns the tools of the calls that the workflows list which the client knows in
// the current directory.
func listedHere(s terminal.Streams) settings.Only {
	l, err := clientLocator(s)
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
	return listedIn(paths)
}

// listedIn returns the tools of the calls that the valid ones of these workflows list.
func listedIn(paths []string) settings.Only {
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
		rules = append(rules, t.Flow.Only...)
	}
	return rules
}
