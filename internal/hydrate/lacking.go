package hydrate

import (
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Lacking says which programs of checks the client does not have, by its PATH: nvm, a venv or direnv may give them to the shell of the
// agent alone. It is empty where the agent works by commands, whose checks run in that shell. The agent is told to take the command for
// such a step.
func Lacking(way progress.Way, result Result, env Env) string {
	if way.Kind == progress.Commands && !way.Unlisted {
		return ""
	}
	var seen, parts []string
	for i, t := range result.Steps {
		if t.Gates.Check == nil {
			continue
		}
		name := missing(t.Gates.Check, env.get("PATH"))
		if name == "" || slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		parts = append(parts, fmt.Sprintf("%s (the check of #%d)", message.Words(name), result.Created[i].ID))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("not in the PATH of the client: %s. A check that TaskUpdate or the MCP server runs does not find it; one of fsmtx "+
		"complete runs in the agent's shell", message.Sentence(parts))
}

// missing returns the program that a check lacks in a PATH: its shell, or the first one of a line of sh.
func missing(c *fsmspec.Check, path string) string {
	powerShell := c.Shell == fsmspec.PowerShell
	switch err := NoShell(c.Shell); {
	case err != nil && powerShell:
		return "pwsh"
	case err != nil:
		return "sh"
	case powerShell:
		return ""
	}
	script, _ := shell.Parse(c.Run)
	if name := script.Program(); name != "" && !process.Has(path, name) {
		return name
	}
	return ""
}

// NoShell returns why a command for a shell cannot run on this machine, nil if it can.
func NoShell(name string) error {
	_, err := process.Sh()
	if name == fsmspec.PowerShell {
		_, err = process.PowerShell()
	}
	return err
}
