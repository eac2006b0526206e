package plugins

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// The client ignores a settings file of the user or the project as a whole if a member has a wrong
// form (fact 162). Of its members those are checked that decide which hooks and plugins run; of the others only the
// client tells.

// CheckSettings returns the mistake for which the client ignores the content of a settings file, an
// error with line and column, and nil if none is found. An organisation's file is kept without the
// member.
func CheckSettings(data []byte) error {
	o, err := parseSettings(data)
	if err != nil {
		return err
	}
	return o.checkSettings()
}

// parseSettings returns the members of a settings file. The client accepts one byte order mark and a
// blank file (fact 97).
func parseSettings(data []byte) (object, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return object{}, nil
	}
	root, err := parse(data)
	if err != nil {
		return object{}, err
	}
	return root.object()
}

func (o object) checkSettings() error {
	for _, name := range o.names {
		v := o.members[name]
		has, want := settingsForm(name)
		if !has(v) {
			return v.mistake("%q: %s; the client ignores the whole file", name, wanted(v, want))
		}
		if has, want = entryForm(name); has == nil {
			continue
		}
		entries, _ := v.object()
		for _, key := range entries.names {
			if entry := entries.members[key]; !has(entry) {
				return entry.mistake("%q: %q: %s; the client ignores the whole file", name, key, wanted(entry, want))
			}
		}
	}
	return nil
}

// wanted says what a value is, if that tells it from what is wanted, and what is wanted.
func wanted(v value, want string) string {
	if kind := jsonx.KindName(v.Kind()); !strings.HasPrefix(want, kind) {
		return "got " + kind + ", want " + want
	}
	return "want " + want
}

// settingsForm returns the form that a member of a settings file must have.
func settingsForm(name string) (has func(value) bool, want string) {
	switch name {
	case "disableAllHooks":
		return isBool, "true or false"
	case "env", "enabledPlugins", "skillOverrides":
		return isKind('{'), "an object"
	case "permissions":
		return isPermissions, `an object with arrays of rules ("allow", "ask", "deny")`
	case "hooks":
		return isHooks, "an object whose hooks of PreToolUse and PermissionRequest can run"
	}
	return func(value) bool { return true }, ""
}

// entryForm returns the form of the values of a member that maps names to values, nil if any value will do.
func entryForm(name string) (has func(value) bool, want string) {
	switch name {
	case "enabledPlugins":
		return func(v value) bool { return isBool(v) || v.Kind() == '[' }, "true or false"
	case "skillOverrides":
		return func(v value) bool {
			return slices.Contains([]string{OverrideOn, OverrideNameOnly, OverrideUserOnly, OverrideOff}, textOf(v))
		}, `"on", "name-only", "user-invocable-only" or "off"`
	}
	return nil, ""
}

func isPermissions(v value) bool {
	o, err := v.object()
	return err == nil && !slices.ContainsFunc([]string{"allow", "deny", "ask"}, func(name string) bool {
		rules, ok := o.members[name]
		return ok && rules.Kind() != '['
	})
}

// isHooks rejects hooks that could forbid a call and that the client cannot run. Other mistakes drop the hook.
func isHooks(v value) bool {
	o, err := v.object()
	if err != nil {
		return true // the client ignores the member
	}
	return o.members["hooks"].Kind() != '[' && // one matcher in place of the events
		!slices.ContainsFunc([]string{"PreToolUse", "PermissionRequest"}, func(event string) bool {
			groups, ok := o.members[event]
			return ok && groups.Kind() != 'n' && !isArrayOf(isGroup)(groups)
		})
}

func isGroup(v value) bool {
	o, err := v.object()
	matcher := o.members["matcher"]
	return err == nil && isArrayOf(isHook)(o.members["hooks"]) && (len(matcher.Value) == 0 || matcher.Kind() == '"')
}

func isHook(v value) bool {
	o, err := v.object()
	if err != nil {
		return false
	}
	needs := map[string][]string{"command": {"command"}, "prompt": {"prompt"}, "agent": {"prompt"}, "http": {"url"}, "mcp_tool": {"server",
		"tool"}}
	names, ok := needs[textOf(o.members["type"])]
	return ok && !slices.ContainsFunc(names, func(name string) bool { return o.members[name].Kind() != '"' })
}

func isArrayOf(has func(value) bool) func(value) bool {
	return func(v value) bool {
		items, err := v.items()
		return err == nil && !slices.ContainsFunc(items, func(item value) bool { return !has(item) })
	}
}

func isBool(v value) bool { return v.Kind() == 't' || v.Kind() == 'f' }

func isKind(kind jsontext.Kind) func(value) bool {
	return func(v value) bool { return v.Kind() == kind }
}
