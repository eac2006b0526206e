package install

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// withGuards adds the hooks of the planning guards to the hooks that a file should have, if
// they are wanted or the file already has one of them. The project's configuration
// determines their matchers.
func (j *job) withGuards(data []byte, hooks []settings.Hook, binary string) ([]settings.Hook, error) {
	var config guard.Config
	if here, err := os.Getwd(); err == nil && j.Scope != User {
		config = guard.ProjectConfig(here)
	}
	guards := rules.Hooks(binary, "", config)
	if !j.Guards {
		report, err := settings.Inspect(data, guards)
		if err != nil || report.State == settings.Absent {
			return hooks, err
		}
	}
	return append(hooks, guards...), nil
}
