package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// differences returns how the file at path, one of the request's scope, differs from what Install
// would write: a sentence for each cause, none if there are no differences. The variable of the task
// tools is not among them: TaskToolsIn tells where it is set.
func differences(s terminal.Streams, r Request, path string) ([]string, error) {
	file, err := settings.Read(path)
	if err != nil {
		return nil, nil // doctor reports it
	}
	w, err := (&job{Request: r, verb: compare}).compared(s, file)
	if err != nil {
		return nil, err
	}
	why := slices.DeleteFunc(w.report.Why, func(one string) bool { return strings.HasPrefix(one, "env: "+settings.TaskTools) })
	return settings.Causes(why), nil
}

// filesOf returns the files of an agent that have something of this program.
func filesOf(s terminal.Streams, a *agent.Agent, scope Scope) (found []wanted, err error) {
	i := agentInstall{&job{Request: Request{Scope: scope}, verb: compare}, a}
	if _, _, err := i.program(s); err != nil {
		return nil, nil // the hooks of Claude Code report it
	}
	files, _, err := i.files(s)
	for _, one := range files {
		if one.report.State == settings.Absent {
			continue
		}
		one.report.Why = settings.Causes(one.report.Why)
		if i.isUnmet(s, one) {
			one.demand = i.demand()
		}
		found = append(found, one)
	}
	return found, err
}

// demand returns what the agent wants the person to do before it reads the files of the scope.
func (a agentInstall) demand() string {
	if a.Scope == Project {
		return a.agent.Demands.Project
	}
	return a.agent.Demands.User
}

// taskToolsIn returns the places that set the variable of the task tools for the person who works in
// dir, in the client's order.
func taskToolsIn(getenv func(string) (string, bool), dir string) []taskTools {
	return settingsOf(getenv, dir, Local, nil)
}

// Works says how a session of Claude Code that starts in dir works on steps.
func Works(getenv func(string) (string, bool), dir string) string {
	set := taskToolsIn(getenv, dir)
	if len(set) > 0 && set[0].Value == settings.TaskToolsOn {
		return ByList
	}
	if len(set) > 0 {
		return fmt.Sprintf("by commands; nothing is drawn: newer models have no tools for the task list, because %s is %q in %s; "+
			"set it to %s there",
			settings.TaskTools, set[0].Value, set[0].Where, settings.TaskToolsOn)
	}
	return ByCommands()
}

// ByList is how a session with the client's task tools works on steps.
const ByList = "by the client's task list"

// ByTools is how one without them does that has the MCP server.
func ByTools() string { return "by the tools of the MCP server; nothing is drawn: " + newerModels() }

// ByCommands is how any other does.
func ByCommands() string { return "by commands; nothing is drawn: " + newerModels() }

// newerModels says why. To who has the program from a plugin, install would register the hooks a second time.
func newerModels() string {
	const lack = "newer models have no tools for the task list, which "
	if programs.PluginRoot() != "" {
		return lack + settings.TaskTools + "=" + settings.TaskToolsOn + ` in "env" of your settings gives them`
	}
	return lack + "fsmtx install --task-tools gives them"
}
