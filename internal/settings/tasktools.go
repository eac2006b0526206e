package settings

import (
	"slices"

	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/client"
)

// The variable that switches on the task tools of newer models, in the environment or
// under "env" in a settings file (fact 32, client 2.1.329).
const (
	TaskTools   = "CLAUDE_CODE_ENABLE_TODO_TOOLS"
	TaskToolsOn = "1"
)

// mark is the flag of the SessionStart hook that records that Add set TaskTools.
// Without it Remove could not distinguish the variable from the same one set by the
// user.
const mark = "--task-tools"

// WithTaskTools returns the hooks of Hooks with or without the flag that makes Add set
// TaskTools. Do not use it for settings in which Variable finds that the user has set the
// variable.
func WithTaskTools(hooks []Hook, on bool) []Hook {
	hooks = slices.Clone(hooks)
	for i, h := range hooks {
		if h.Event != client.SessionStart || !h.Runs("hook") {
			continue
		}
		flags := slices.DeleteFunc(slices.Clone(h.Flags), isMark)
		if on {
			flags = append(flags, mark)
		}
		hooks[i].Flags = flags
	}
	return hooks
}

func isMark(flag string) bool { return flag == mark }

func (h Hook) setsTaskTools() bool { return slices.ContainsFunc(h.Flags, isMark) }

// SetsTaskTools reports whether a hook in the settings says that Add has set TaskTools there.
func SetsTaskTools(data []byte) bool {
	return slices.ContainsFunc(Calls(data), func(c Call) bool { return slices.ContainsFunc(c.Args, isMark) })
}

// Setting is the value of a variable in settings. The zero Setting is a variable that is
// not set.
type Setting struct {
	Set   bool
	Value string // JSON text if it is not a string
	Ours  bool   // set by Add, and not changed since
}

// Variable returns the value of TaskTools in settings. data is nil if there is no file.
// Errors are those of Inspect.
func Variable(data []byte, hooks []Hook) (Setting, error) {
	doc, err := parse(data)
	if err != nil {
		return Setting{}, err
	}
	found, err := doc.entries(hooks)
	value := doc.taskTools()
	if err != nil || value == nil {
		return Setting{}, err
	}
	s := Setting{Set: true, Ours: doc.ownsTaskTools(found)}
	var ok bool
	if s.Value, ok = text(value); !ok {
		s.Value = (hujson.Value{Value: value}).String()
	}
	return s, nil
}

// taskTools returns the value of TaskTools, nil if it is not set.
func (d *document) taskTools() hujson.ValueTrimmed {
	env, ok := member(d.top, "env").(*hujson.Object)
	if !ok {
		return nil
	}
	return member(env, TaskTools)
}

// ownsTaskTools reports whether one of these hooks of ours records that Add set TaskTools, and nobody has changed it since.
func (d *document) ownsTaskTools(found []entry) bool {
	value, _ := text(d.taskTools())
	return value == TaskToolsOn && slices.ContainsFunc(found, func(e entry) bool { return slices.ContainsFunc(e.args, isMark) })
}

// setTaskTools sets TaskTools if one of the hooks has the flag for it. A value that is there is the user's.
func (d *document) setTaskTools(hooks []Hook) error {
	if !slices.ContainsFunc(hooks, Hook.setsTaskTools) || d.taskTools() != nil {
		return nil
	}
	return d.insert([]string{"env", TaskTools}, TaskToolsOn, false)
}
