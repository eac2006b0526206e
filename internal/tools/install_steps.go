package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
)

// stepChoice has the flags of install and plugin about steps.
type stepChoice struct{ install.Steps }

func (c *stepChoice) flags(to *cobra.Command) {
	flags := to.Flags()
	flags.BoolVar(&c.None, "no-steps", false, "leave out the hooks that enforce the steps")
	flags.BoolVar(&c.Observe, "observe", false,
		"refuse nothing, and put on record the first gate that would have refused; without it the steps are enforced")
	flags.StringVar(&c.Stop, "stop", "", "when the agent stops while a step is ready: remind (default), hold or off")
	flags.StringVar(&c.Checks, "checks", "", "run the checks that workflows declare: on (default) or off")
	flags.BoolVar(&c.Only, "only", false,
		"also judge the calls that workflows elsewhere may list under \"only\": of every tool, not of those that the workflows here list")
	command.CompleteChoices(to)
}

func (c *stepChoice) validate() error {
	if c.Observe && c.None {
		return message.NewError("--no-steps cannot be combined with --observe", "without the hooks no gate is judged")
	}
	if c.Only && c.None {
		return message.NewError("--no-steps cannot be combined with --only", "without the hooks no call is judged")
	}
	for _, flag := range [][2]string{{"stop", c.Stop}, {"checks", c.Checks}} {
		name, value := flag[0], flag[1]
		if words := hydrate.Words(name); value != "" && !slices.Contains(words, value) {
			return fmt.Errorf("--%s: got %q, want %s", name, value, strings.Join(words, ", "))
		}
		if value != "" && c.None {
			return message.WithHint(fmt.Errorf("--no-steps cannot be combined with --%s", name), "without the hooks there is nothing to choose")
		}
	}
	return nil
}

// partChoice holds the values of --with: parts to install besides tasks and steps.
type partChoice []string

func (c *partChoice) flags(to *cobra.Command) {
	to.Flags().StringSliceVar((*[]string)(c), "with", nil, "add a `part`: planning (the guards of a planning workflow)")
	command.Complete(to, "with", "planning")
}

func (c partChoice) validate() error {
	for _, part := range c {
		if part != "planning" {
			return message.WithHint(fmt.Errorf("--with: unknown part %q", part), "the part is planning")
		}
	}
	return nil
}

// switchChoice is a flag about a part that stays until it is removed: not given, on or off.
type switchChoice struct {
	on   bool
	flag func() bool
}

func (c *switchChoice) flags(to *cobra.Command, name, usage string) {
	to.Flags().BoolVar(&c.on, name, false, usage)
	c.flag = func() bool { return to.Flags().Changed(name) }
}

func (c *switchChoice) given() bool { return c.flag != nil && c.flag() }

func (c *switchChoice) choice() install.Switch {
	switch {
	case !c.given():
		return install.Kept
	case c.on:
		return install.With
	}
	return install.Without
}
