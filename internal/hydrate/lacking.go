package hydrate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
		script, _ := shell.Parse(t.Gates.Check.Run)
		name := script.Program()
		if name == "" || slices.Contains(seen, name) || isIn(env.get("PATH"), name) {
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

// isIn reports whether a program is in a directory of a PATH.
func isIn(path, name string) bool {
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	})
}
