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

// Lacking says which programs of commands the client does not have, by its PATH: nvm, a venv or direnv may give them to the shell of the
// agent alone. The agent is told to take the command for such a step. Where it works by commands anyway, they run in that shell, but for
// those of a step about which the client asks a person.
func Lacking(way progress.Way, result Result, env Env) string {
	commands := way.Kind == progress.Commands && !way.Unlisted
	var seen, parts []string
	if text := shellLacking(result); text != "" {
		return text
	}
	for i, t := range result.Steps {
		if commands && !t.NeedsPerson() {
			continue
		}
		for _, c := range commandsOf(t) {
			name := missing(&c, env.get("PATH"))
			if name == "" || slices.Contains(seen, name) {
				continue
			}
			seen = append(seen, name)
			parts = append(parts, fmt.Sprintf("%s (for #%d)", message.Words(name), result.Created[i].ID))
		}
	}
	switch {
	case len(parts) == 0:
		return ""
	case commands:
		return fmt.Sprintf("not in the PATH of the client: %s. A step that a person approves is checked there: name the path of the program "+
			"in its fsm.json", message.Sentence(parts))
	}
	return fmt.Sprintf("not in the PATH of the client: %s. A check that TaskUpdate or the MCP server runs does not find it; one of fsmtx "+
		"complete runs in the agent's shell", message.Sentence(parts))
}

// shellLacking says that the shell of a step's command is not on this machine, empty if all are.
func shellLacking(result Result) string {
	for i, t := range result.Steps {
		for _, c := range commandsOf(t) {
			if err := NoShell(c.Shell); err != nil {
				return message.Sprintf("the check of #%d cannot run: %v", result.Created[i].ID, err)
			}
		}
	}
	return ""
}

// commandsOf returns the commands of a step, and of what is done for each of its lines.
func commandsOf(t fsmspec.Task) []fsmspec.Check {
	all := t.Commands()
	if t.Each == nil {
		return all
	}
	if t.Each.Run != nil {
		all = append(all, *t.Each.Run)
	}
	if one, err := fsmspec.ForItem(t.Each.Workflow, fsmspec.AnyLine); err == nil {
		for _, t := range one.Tasks() {
			all = append(all, commandsOf(t)...)
		}
	}
	return all
}

// missing returns the program that a check lacks in a PATH: its shell, or the first one of a line of sh.
func missing(c *fsmspec.Check, path string) string {
	if c.Shell == fsmspec.PowerShell {
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
