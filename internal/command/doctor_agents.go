package command

import (
	"context"
	"slices"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

// agents checks the hooks and the MCP servers that are registered for other agents, in the
// person's files and in those of the project.
func (d *doctor) agents(context.Context) (found []fault, err error) {
	for _, a := range agent.All() {
		for _, project := range []bool{false, true} {
			found = append(found, d.agentFaults(a, project)...)
		}
	}
	return found, nil
}

func (d *doctor) agentFaults(a *agent.Agent, project bool) (found []fault) {
	i := agentInstall{&installFlags{check: true, user: !project, project: project}, a}
	repair := "fsmtx install --agent " + a.Name
	if project {
		repair += " --project"
	}
	command, _, err := i.program(d.Streams)
	if err != nil {
		return nil // the hooks of Claude Code report it
	}
	files, err := i.files(d.Streams, command)
	if err != nil {
		return []fault{{Kind: "agents", What: a.Title + ": " + err.Error(), Command: repair}}
	}
	for _, one := range files {
		if one.report.State == settings.Absent {
			continue
		}
		commands := slices.DeleteFunc(ours(one.Data), func(h hookCommand) bool { return !isAgentHook(h) })
		found = append(found, missingPrograms(one.Path, commands, repair)...)
		for _, why := range one.report.Why {
			found = append(found, fault{Kind: "agents", What: a.Title + ": " + why, File: one.Path, Command: repair})
		}
		if demands := a.Demands; len(one.hooks) > 0 && demands.Unmet != nil && demands.Unmet(i.trust(d.Streams, one.Path)) {
			text := demands.User
			if project {
				text = demands.Project
			}
			found = append(found, fault{Kind: "agents", What: text, File: one.Path})
		}
	}
	return found
}

// isAgentHook reports whether a hook runs the one command for other agents.
func isAgentHook(h hookCommand) bool { return len(h.Args) > 0 && h.Args[0] == "hook" }
