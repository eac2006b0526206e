package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

// stepChoice holds the flags of install about steps. With an empty text the registered
// value is kept, or else the default of fsmtx step.
type stepChoice struct {
	none         bool
	stop, checks string
}

var stepValues = map[string][]string{"stop": {"remind", "hold", "off"}, "checks": {"on", "off"}}

func (c *stepChoice) flags(to *cobra.Command) {
	flags := to.Flags()
	flags.BoolVar(&c.none, "no-steps", false, "leave out the hooks that enforce the steps")
	flags.StringVar(&c.stop, "stop", "", "when the agent stops while a step is ready: remind (default), hold or off")
	flags.StringVar(&c.checks, "checks", "", "run the checks that workflows declare: on (default) or off")
	for name, words := range stepValues {
		complete(to, name, words...)
	}
}

func (c *stepChoice) given() bool { return c.none || c.stop != "" || c.checks != "" }

func (c *stepChoice) validate() error {
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
// flags that they have there and the chosen values.
func (c *stepChoice) withSteps(data []byte, hooks []settings.Hook, binary string) ([]settings.Hook, error) {
	if c.none {
		return hooks, nil
	}
	steps, err := settings.Keep(data, settings.Steps(binary, []string{}))
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
	steps := settings.Steps(binary, []string{})
	report, err := settings.Inspect(data, steps)
	if err != nil || report.State == settings.Absent {
		return data, false, err
	}
	rest, err = settings.Remove(data, steps)
	return rest, true, err
}
