package command

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
)

// partChoice holds the values of --with: parts to install besides tasks and steps.
type partChoice []string

func (c *partChoice) flags(to *cobra.Command) {
	to.Flags().StringSliceVar((*[]string)(c), "with", nil, "add a `part`: planning (the guards of a planning workflow)")
	complete(to, "with", "planning")
}

func (c partChoice) validate() error {
	for _, part := range c {
		if part != "planning" {
			return &exit{exitNo, fmt.Errorf("--with: unknown part %q", part), "the part is planning"}
		}
	}
	return nil
}

// withGuards adds the hooks of the planning guards to the hooks that a file should have, if
// --with names them or the file already has one of them. The project's configuration
// determines their matchers.
func (c partChoice) withGuards(data []byte, hooks []settings.Hook, binary string, project bool) ([]settings.Hook, error) {
	var config guard.Config
	if here, err := os.Getwd(); err == nil && project {
		config = guard.ProjectConfig(here)
	}
	guards := rules.Hooks(binary, "", config)
	if len(c) == 0 {
		report, err := settings.Inspect(data, guards)
		if err != nil || report.State == settings.Absent {
			return hooks, err
		}
	}
	return append(hooks, guards...), nil
}
