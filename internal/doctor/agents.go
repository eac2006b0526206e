package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/install"
)

// agents checks the hooks and the MCP servers that are registered for other agents, in the
// person's files and in those of the project.
func (d *doctor) agents(context.Context) (found []Fault, err error) {
	for _, a := range agent.All() {
		for _, scope := range []install.Scope{install.User, install.Project} {
			found = append(found, d.agentFaults(a, scope)...)
		}
	}
	return found, nil
}

func (d *doctor) agentFaults(a *agent.Agent, scope install.Scope) (found []Fault) {
	repair := "fsmtx install --agent " + a.Name
	if scope == install.Project {
		repair += " --project"
	}
	files, err := install.FilesOf(d.Streams, a, scope)
	if err != nil {
		return []Fault{{Kind: "agents", What: a.Title + ": " + err.Error(), Command: repair}}
	}
	for _, one := range files {
		commands := slices.DeleteFunc(settings.Calls(one.Data), func(c settings.Call) bool { return !c.Runs("hook") })
		gone := missingPrograms(one.Path, commands, repair)
		found = append(found, gone...)
		if len(one.Why) > 0 && len(gone) == 0 {
			found = append(found, Fault{Kind: "agents", What: a.Title + ": " + strings.Join(one.Why, "; "), File: one.Path, Command: repair})
		}
		if one.Demand != "" {
			found = append(found, Fault{Kind: "agents", What: one.Demand, File: one.Path})
		}
	}
	return found
}
