package command

import (
	"fmt"
	"os"

	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// taskTools describes where the variable is set without which newer models have no task
// tools (fact 32). In the zero value it is not set anywhere.
type taskTools struct {
	ours  bool   // install sets the variable, or has set it
	where string // otherwise the file that sets it, or "the environment"
	value string // the value there
}

// findTaskTools decides whether the file should set the variable: it already does, or no
// other setting that applies to the users of the file sets it.
func (f *installFlags) findTaskTools(s terminal.Streams, file *settings.File, hooks []settings.Hook) (taskTools, error) {
	here, err := settings.Variable(file.Data, hooks)
	switch {
	case err != nil:
		return taskTools{}, err
	case here.Set && !here.Ours:
		return taskTools{where: file.Path, value: here.Value}, nil
	case f.noTaskTools:
		return taskTools{}, nil
	case here.Ours:
		return taskTools{ours: true}, nil
	}
	for _, other := range f.otherSettings(s, hooks) {
		if !f.project || other.value != settings.TaskToolsOn {
			return other, nil
		}
	}
	return taskTools{ours: true}, nil
}

// otherSettings returns the other places that set the variable for the users of the file,
// in the client's order: local settings, project, user, environment. For a project's file
// these are the places of the person who runs install. A file that cannot be read sets
// nothing: the client ignores it too.
func (f *installFlags) otherSettings(s terminal.Streams, hooks []settings.Hook) (set []taskTools) {
	var paths []string
	if dir, err := os.Getwd(); err == nil && !f.user {
		config, _ := claude.ConfigDir(s.Getenv)
		paths = claude.SettingsFiles(locator.OS{}, config, dir)
	}
	for _, path := range paths {
		file, err := settings.Read(path)
		if err != nil {
			continue
		}
		if v, err := settings.Variable(file.Data, hooks); err == nil && v.Set {
			set = append(set, taskTools{where: file.Path, value: v.Value})
		}
	}
	if value := s.Env(settings.TaskTools); value != "" {
		set = append(set, taskTools{where: "the environment", value: value})
	}
	return set
}

func (t taskTools) String() string {
	switch {
	case t.ours:
		return fmt.Sprintf("%s=%s is set in this file, so that newer models have task tools", settings.TaskTools, settings.TaskToolsOn)
	case t.where == "":
		return settings.TaskTools + " is not set"
	case t.value == settings.TaskToolsOn:
		return fmt.Sprintf("%s=%s is set in %s", settings.TaskTools, t.value, t.where)
	}
	return fmt.Sprintf("%s is %q in %s and is left alone", settings.TaskTools, t.value, t.where)
}

// hint explains how to get task tools if newer models have none.
func (t taskTools) hint() string {
	if t.ours || t.value == settings.TaskToolsOn {
		return ""
	}
	return fmt.Sprintf(`if the agent has no TaskList tool, set %s=%s in the environment or under "env" in the client's settings`,
		settings.TaskTools, settings.TaskToolsOn)
}
