package settings

import (
	"slices"

	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// The variable that switches on the task tools of newer models, in the environment or
// under "env" in a settings file (fact 32, client 2.1.329).
const (
	TaskTools   = "CLAUDE_CODE_ENABLE_TODO_TOOLS"
	TaskToolsOn = "1"
)

// mark is the flag of the SessionStart hook that records that Add set TaskTools.
// Without it Remove could not distinguish the variable from the same one set by the
// user. White space cannot record it, because the client's rewrites change white space.
const mark = "--task-tools"

// WithTaskTools returns the hooks of Hooks with or without the flag that makes Add set
// TaskTools. Do not use it for settings in which Variable finds that the user has set the
// variable.
func WithTaskTools(hooks []Hook, on bool) []Hook {
	hooks = slices.Clone(hooks)
	for i, h := range hooks {
		if h.Event != event.SessionStart || !h.Runs("hook") {
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
	if blank(data) {
		return Setting{}, nil
	}
	doc, err := parse(data)
	if err != nil {
		return Setting{}, err
	}
	return doc.variable(hooks)
}

func (d document) variable(hooks []Hook) (Setting, error) {
	env, ok := d.top.member("env").(*hujson.Object)
	if !ok {
		return Setting{}, nil
	}
	value := object{env}.member(TaskTools)
	if value == nil {
		return Setting{}, nil
	}
	s := Setting{Set: true}
	if s.Value, ok = text(value); !ok {
		s.Value = (hujson.Value{Value: value}).String()
		return s, nil
	}
	marked, err := d.marked(hooks)
	s.Ours = marked && s.Value == TaskToolsOn
	return s, err
}

// env returns the "env" object of the settings. If there is none, it returns an empty
// object that is not part of them.
func (d document) env() (object, error) {
	i := d.top.index("env")
	if i < 0 {
		return object{new(hujson.Object)}, nil
	}
	return d.object(d.top.Members[i].Value, "/env")
}

// marked reports whether one of the hooks in the settings records that Add set
// TaskTools.
func (d document) marked(hooks []Hook) (bool, error) {
	for _, h := range hooks {
		found, err := d.find(h)
		if err != nil {
			return false, err
		}
		for _, e := range found {
			if slices.ContainsFunc(h.flagsOf(e.call), isMark) {
				return true, nil
			}
		}
	}
	return false, nil
}

// unset removes TaskTools if Add set it, and also "env" if it is then empty and was
// created by Add.
func (d *document) unset(hooks []Hook) error {
	s, err := d.variable(hooks)
	if err != nil || !s.Ours {
		return err
	}
	i := d.top.index("env")
	env := asList(d.top.Members[i].Value.Value).(object)
	d.dropPath([]place{{d.top, i}, {env, env.index(TaskTools)}})
	return nil
}

// set sets TaskTools if one of the hooks has the flag for it.
func (d document) set(l layout, top node, hooks []Hook) error {
	if !slices.ContainsFunc(hooks, Hook.setsTaskTools) {
		return nil
	}
	if _, err := d.env(); err != nil {
		return err
	}
	env := l.enter(top, "env", new(hujson.Object))
	o := env.list.(object)
	if o.index(TaskTools) >= 0 {
		return nil // the user has changed the value that Add wrote
	}
	before, _ := l.place(env)
	o.add(before, TaskTools, hujson.String(TaskToolsOn))
	return nil
}
