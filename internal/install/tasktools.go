package install

import (
	"fmt"
	"os"
	"slices"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// taskTools describes where the variable is set without which newer models have no task
// tools (fact 32). In the zero value it is not set anywhere.
type taskTools struct {
	Where string // the file that sets it, or "the environment"
	Value string // the value there

	ours  bool // Install sets the variable, or has set it
	asked bool // the request wants it

	served bool // the MCP server is registered, or will be
}

// findTaskTools decides whether the file should set the variable: it already does, or the request
// wants it and no other setting that applies to the users of the file sets it. The
// variable is optional: models without task tools have the commands.
func (j *job) findTaskTools(s terminal.Streams, file *settings.File, hooks []settings.Hook) (taskTools, error) {
	here, err := settings.Variable(file.Data, hooks)
	switch {
	case err != nil:
		return taskTools{}, err
	case here.Set && !here.Ours:
		return taskTools{Where: file.Path, Value: here.Value, asked: j.TaskTools == With}, nil
	case j.TaskTools == Kept && settings.SetsTaskTools(file.Data):
		return taskTools{ours: true}, nil
	case j.TaskTools == Kept:
		dir, _ := os.Getwd()
		if set := settingsOf(s.Getenv, dir, j.Scope, hooks); len(set) > 0 && set[0].Value != settings.TaskToolsOn {
			return set[0], nil // what keeps the client from having them
		}
		return taskTools{}, nil
	case j.TaskTools == Without:
		return taskTools{}, nil
	case here.Ours:
		return taskTools{ours: true}, nil
	}
	dir, _ := os.Getwd() // without one there are no settings of a project
	for _, other := range settingsOf(s.Getenv, dir, j.Scope, hooks) {
		if j.Scope != Project || other.Value != settings.TaskToolsOn {
			other.asked = true
			return other, nil
		}
	}
	return taskTools{ours: true}, nil
}

// settingsOf returns the places that set the variable for the users of a file of the scope, in the
// client's order: local settings, project, user, environment. For a project's file these are the
// places of the person who asks. A file that cannot be read sets nothing: the client ignores it too.
func settingsOf(getenv func(string) (string, bool), dir string, scope Scope, hooks []settings.Hook) (set []taskTools) {
	var paths []string
	if scope != User {
		config, _ := client.ConfigDir(getenv)
		paths = client.SettingsFiles(locator.OS{}, config, dir)
	}
	for _, path := range paths {
		file, err := settings.Read(path)
		if err != nil {
			continue
		}
		if v, err := settings.Variable(file.Data, hooks); err == nil && v.Set {
			set = append(set, taskTools{Where: file.Path, Value: v.Value})
		}
	}
	if value, _ := getenv(settings.TaskTools); value != "" {
		set = append(set, taskTools{Where: environment, Value: value})
	}
	return set
}

// environment is the place of a variable that no file sets.
const environment = "the environment"

// File reports whether a file sets the variable, and not the environment.
func (t taskTools) File() bool { return t.Where != environment }

func (t taskTools) String() string {
	switch {
	case t.ours:
		return fmt.Sprintf("%s=%s is set in this file, so that newer models have the tools for the task list", settings.TaskTools,
			settings.TaskToolsOn)
	case t.Value == settings.TaskToolsOn:
		return fmt.Sprintf("%s=%s is set in %s", settings.TaskTools, t.Value, t.Where)
	case t.asked:
		return fmt.Sprintf("%s is %q in %s and is left alone", settings.TaskTools, t.Value, t.Where)
	}
	if t.Where != "" {
		return fmt.Sprintf("newer models have no tools for the task list, and work by %s; nothing is drawn: %s is %q in %s, "+
			"where it has to be %s",
			t.instead(), settings.TaskTools, t.Value, t.Where, settings.TaskToolsOn)
	}
	return "newer models have no tools for the task list, and work by " + t.instead() +
		"; nothing is drawn: --task-tools gives them the client's list"
}

// instead names what models without task tools work with.
func (t taskTools) instead() string {
	if t.served {
		return "the tools of the MCP server"
	}
	return "commands"
}

// open reports whether a request leaves open that the client shows the steps in its task list, and in its status line, and the
// file that would say so. Neither is open if the file has hooks already; the list is not if the variable is set elsewhere.
func open(s terminal.Streams, r Request) (list, line bool, path string) {
	if len(r.Agents) > 0 && !slices.Contains(r.Agents, caller.Claude) {
		return false, false, ""
	}
	asks := r
	asks.TaskTools = With
	j := job{Request: asks, verb: compare}
	file, err := j.open(s)
	if err != nil {
		return false, false, "" // Install reports it
	}
	w, err := j.compared(s, file)
	if err != nil || w.report.State != settings.Absent {
		return false, false, ""
	}
	return r.TaskTools == Kept && w.tools.ours, r.Line == Kept && settings.ReadStatusLine(file.Data).Program == "", file.Path
}

// hint explains how to get the task tools that were wanted, if another value keeps them off.
func (t taskTools) hint() string {
	if !t.asked || t.Value == settings.TaskToolsOn {
		return ""
	}
	return fmt.Sprintf("newer models have no tools for the task list unless it is %s there", settings.TaskToolsOn)
}
