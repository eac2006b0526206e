package plugins

import (
	"slices"
	"strings"
)

// The client does not load a plugin if a member of its manifest has a wrong form, whatever the
// member is for (read in the schema of 2.1.329 and measured with it, fact 159). A name that is
// not among these members may have any value, and so may those that are only shown.

// form is what the value of a member has to be.
type form struct {
	name string
	has  func(value) bool
	want string
}

// forms returns the forms of members other than those of components.
func forms() []form {
	return []form{
		{"hooks", oneOrMore(isHooks), `a path that begins with "./" and ends with ".json", an object of hooks, or an array of these`},
		{"mcpServers", oneOrMore(isServers),
			`a path that begins with "./" and ends with ".json" or ".mcpb", an object of servers, or an array of these`},
		{"lspServers", oneOrMore(isLanguages), `a path that begins with "./" and ends with ".json", an object of servers, or an array of these`},
		{"outputStyles", isPaths, `a path that begins with "./", or an array of these`},
		{"themes", isPaths, `a path that begins with "./", or an array of these`},
		{"workflows", isPaths, `a path that begins with "./", or an array of these`},
		{"channels", func(v value) bool { return v.Kind() == '[' }, "an array"},
		{"monitors", func(v value) bool { return v.Kind() == '[' || isFileName(v, ".json") },
			`an array, or a path that begins with "./" and ends with ".json"`},
		{"settings", func(v value) bool { return v.Kind() == '{' }, "an object"},
		{"types", func(v value) bool { return isFileName(v, ".d.ts") }, `a path that begins with "./" and ends with ".d.ts"`},
		{"userConfig", isObjectOf(isOption), `an object of options, each with "type", "title" and "description"`},
		{"dependencies", isArrayOf(isDependency), "an array of names of plugins"},
	}
}

// checkForms returns a mistake if a member has a form with which the client does not load the
// plugin.
func (o object) checkForms() error {
	for _, f := range forms() {
		if v, ok := o.members[f.name]; ok && !f.has(v) {
			return v.mistake("%q: want %s", f.name, f.want)
		}
	}
	if v, ok := o.members["experimental"]; ok && v.Kind() == '{' {
		inside, err := v.object()
		if err != nil {
			return err
		}
		for _, f := range forms() {
			if v, ok := inside.members[f.name]; ok && slices.Contains([]string{"themes", "outputStyles", "monitors"}, f.name) && !f.has(v) {
				return v.mistake(`"experimental": %q: want %s`, f.name, f.want)
			}
		}
	}
	return nil
}

func oneOrMore(has func(value) bool) func(value) bool {
	return func(v value) bool { return has(v) || isArrayOf(has)(v) }
}

func isArrayOf(has func(value) bool) func(value) bool {
	return func(v value) bool {
		if v.Kind() != '[' {
			return false
		}
		items, err := v.items()
		return err == nil && !slices.ContainsFunc(items, func(item value) bool { return !has(item) })
	}
}

func isObjectOf(has func(value) bool) func(value) bool {
	return func(v value) bool {
		if v.Kind() != '{' {
			return false
		}
		o, err := v.object()
		return err == nil && !slices.ContainsFunc(o.names, func(name string) bool { return !has(o.members[name]) })
	}
}

// textOf returns the text of a string, "" for any other value.
func textOf(v value) string {
	text, err := object{members: map[string]value{"": v}}.text("")
	if err != nil {
		return ""
	}
	return text
}

func isFileName(v value, endings ...string) bool {
	path := textOf(v)
	return isRelative(path) && slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(path, ending) })
}

func isPaths(v value) bool {
	return oneOrMore(func(v value) bool { return isRelative(textOf(v)) })(v)
}

// isHooks accepts any object, except one with a hook that could forbid a call and that the client
// cannot run. Other mistakes in hooks drop the hook.
func isHooks(v value) bool {
	if v.Kind() != '{' {
		return isFileName(v, ".json")
	}
	o, err := v.object()
	for _, event := range []string{"PreToolUse", "PermissionRequest"} {
		if groups, ok := o.members[event]; ok && !isArrayOf(isGroup)(groups) {
			return false
		}
	}
	return err == nil
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
	switch textOf(o.members["type"]) {
	case "command":
		return o.members["command"].Kind() == '"'
	case "prompt", "agent":
		return o.members["prompt"].Kind() == '"'
	case "http":
		return o.members["url"].Kind() == '"'
	case "mcp_tool":
		return o.members["server"].Kind() == '"' && o.members["tool"].Kind() == '"'
	}
	return false
}

func isServers(v value) bool {
	if v.Kind() == '"' {
		url := textOf(v)
		isURL := strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
		return isFileName(v, ".json", ".mcpb", ".dxt") || isURL && (strings.HasSuffix(url, ".mcpb") || strings.HasSuffix(url, ".dxt"))
	}
	return isObjectOf(func(v value) bool {
		o, err := v.object()
		if err != nil {
			return false
		}
		switch textOf(o.members["type"]) {
		case "", "stdio":
			return textOf(o.members["command"]) != ""
		case "http", "sse", "ws":
			return textOf(o.members["url"]) != ""
		}
		return true
	})(v)
}

func isLanguages(v value) bool {
	return isFileName(v, ".json") || isObjectOf(func(v value) bool {
		o, err := v.object()
		return err == nil && textOf(o.members["command"]) != "" && o.members["extensionToLanguage"].Kind() == '{'
	})(v)
}

func isOption(v value) bool {
	o, err := v.object()
	return err == nil && slices.Contains([]string{"string", "number", "boolean", "directory", "file"}, textOf(o.members["type"])) &&
		o.members["title"].Kind() == '"' && o.members["description"].Kind() == '"'
}

func isDependency(v value) bool {
	name := dependency(v)
	return name != "" && !strings.Contains(name, " ")
}

// dependency returns the name or the key of a plugin that another one needs.
func dependency(v value) string {
	if v.Kind() != '{' {
		return textOf(v)
	}
	o, _ := v.object()
	if market := textOf(o.members["marketplace"]); market != "" {
		return textOf(o.members["name"]) + "@" + market
	}
	return textOf(o.members["name"])
}

// dependencies returns the names and keys of the plugins that the plugin needs.
func (o object) dependencies() (all []string) {
	v := o.members["dependencies"]
	if v.Kind() != '[' {
		return nil
	}
	items, _ := v.items()
	for _, item := range items {
		all = append(all, dependency(item))
	}
	return all
}
