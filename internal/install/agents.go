package install

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// agents checks the hooks and the MCP servers that are registered for other agents, in the
// person's files and in those of the project.
func (d *doctor) agents(context.Context) (found []Fault, err error) {
	for _, a := range agent.Others() {
		used := false
		for _, scope := range []Scope{User, Project} {
			files, err := filesOf(d.Streams, a, scope)
			used = used || len(files) > 0
			found = append(found, agentFaults(a, scope, a.IsInstalled(d.Getenv), files, err)...)
		}
		if used && a.Name != d.Who().Program { // else they are among the workflows
			found = append(found, d.unfit(a)...)
		}
	}
	return found, nil
}

// isWithoutClaude reports whether fsmtx is installed for other agents alone, by a person who has never
// started Claude Code.
func (d *doctor) isWithoutClaude() bool {
	config, err := client.ConfigDir(d.Getenv)
	if err != nil {
		return false
	}
	if _, err := os.Lstat(config); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return slices.ContainsFunc(agent.Others(), func(a *agent.Agent) bool {
		user, _ := filesOf(d.Streams, a, User)
		project, _ := filesOf(d.Streams, a, Project)
		return len(user)+len(project) > 0
	})
}

// unfit reports the workflows in folders that the agent does not accept as skills. The agent itself does not
// report them.
func (d *doctor) unfit(a *agent.Agent) (found []Fault) {
	for _, k := range a.Search(d.Getenv).Unfit(d.cwd) {
		found = append(found, Fault{Kind: "workflow", What: k.Why(a), File: filepath.Join(k.Dir, "SKILL.md")})
	}
	return found
}

// unedited reports a file that install cannot read or edit. Running install again does not help, so the fault has
// no command, and the advice of the error up to the words that the file was not changed.
func unedited(kind, whose string, err error) Fault {
	advice, _, _ := strings.Cut(message.Hint(err), ";")
	return Fault{Kind: kind, What: strings.TrimSuffix(whose+err.Error()+"; "+advice, "; ")}
}

// agentFaults returns what is wrong with the files of an agent. The files of a project are there for everyone, and concern only who has
// the agent.
func agentFaults(a *agent.Agent, scope Scope, isHere bool, files []wanted, err error) (found []Fault) {
	repair := "fsmtx install --agent " + a.Name
	if scope == Project {
		repair += " --project"
	}
	if scope == Project && !isHere {
		return nil
	}
	if err != nil {
		return []Fault{unedited("agents", a.Title+": ", err)}
	}
	for _, one := range files {
		commands := slices.DeleteFunc(settings.Calls(one.Data), func(c settings.Call) bool { return !c.Runs("hook") })
		gone := missingPrograms(one.Path, commands, repair)
		found = append(found, gone...)
		if len(one.report.Why) > 0 && len(gone) == 0 {
			found = append(found, Fault{Kind: "agents", What: a.Title + ": " + strings.Join(one.report.Why, "; "), File: one.Path, Command: repair})
		}
		if one.demand != "" && isHere {
			found = append(found, Fault{Kind: "agents", What: one.demand, File: one.Path})
		}
	}
	return found
}
