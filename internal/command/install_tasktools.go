package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// taskTools says whether newer models have task tools once the file is written
// (fact 32). The zero value is a variable that is set nowhere.
type taskTools struct {
	ours  bool   // install sets the variable, or has set it
	where string // else: who sets it
	value string
}

// findTaskTools decides whether the file is to set the variable: it already does, or
// nothing that counts for the readers of the file sets it.
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

// otherSettings returns what sets the variable for those whom the file is for, in the
// client's order: local settings, project, user, environment. For a project's file
// that is what the person has who installs. A file that cannot be read sets nothing
// for the client either.
func (f *installFlags) otherSettings(s terminal.Streams, hooks []settings.Hook) (set []taskTools) {
	var paths []string
	if !f.user {
		paths = append(paths, localSettings)
		if dir, err := os.Getwd(); err == nil && gitRoot(dir) != "" {
			paths = append(paths, filepath.Join(gitRoot(dir), localSettings)) // read below, too (fact 52)
		}
		paths = append(paths, projectSettings)
		if dir, err := claude.ConfigDir(s.Getenv); err == nil {
			paths = append(paths, filepath.Join(dir, userSettings))
		}
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

// hint says how to get task tools, if newer models have none.
func (t taskTools) hint() string {
	if t.ours || t.value == settings.TaskToolsOn {
		return ""
	}
	return fmt.Sprintf(`if the agent has no TaskList tool, set %s=%s in the environment or under "env" in the client's settings`,
		settings.TaskTools, settings.TaskToolsOn)
}
