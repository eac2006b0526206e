package hooks

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Variable is set in the environment of a hook, and may be used in its command.
type Variable struct{ Name, Value string }

func (v Variable) String() string { return v.Name + "=" + v.Value }

// Variables returns the variables that a dialect sets for the hook.
func (h Hook) Variables(d dialect.Dialect, s Session) []Variable {
	var vars []Variable
	for _, v := range d.Hooks.Variables {
		if value, set := h.value(v.Value, s); set {
			vars = append(vars, Variable{v.Name, value})
		}
	}
	return vars
}

// Sets reports whether the agent sets a variable for the hook, even if its value is not known here.
func (h Hook) Sets(d dialect.Dialect, name string) bool {
	if e, _ := d.Event(h.Event); name == e.EnvFile {
		return true
	}
	for _, v := range d.Hooks.Variables {
		if v.Name == name {
			switch v.Value {
			case dialect.ValuePluginRoot, dialect.ValuePluginCwd:
				return h.Root != ""
			case dialect.ValuePluginData:
				return h.Root != "" && h.Skill == ""
			}
			return true
		}
	}
	_, inHook := h.Env[name]
	return inHook && d.Hooks.Env || h.hasOptions(d) && strings.HasPrefix(name, d.Settings.OptionPrefix)
}

// optionVariables returns the variables with the values of the plugin's options. They are set
// only in the environment and not inserted into the command's text.
func (h Hook) optionVariables(d dialect.Dialect) []Variable {
	var vars []Variable
	for _, name := range slices.Sorted(maps.Keys(h.Options)) {
		vars = append(vars, Variable{d.Settings.OptionPrefix + strings.ToUpper(name), h.Options[name]})
	}
	return vars
}

// option matches a reference to an option of the plugin.
func option() *regexp.Regexp { return regexp.MustCompile(`\$\{user_config\.([^}]*)\}`) }

// withOptions inserts the plugin's options into an argument that no shell reads.
func (h Hook) withOptions(arg string) string {
	return option().ReplaceAllStringFunc(arg, func(found string) string {
		return h.Options[option().FindStringSubmatch(found)[1]]
	})
}

// hasOptions reports whether the hook belongs to a plugin that may have options.
func (h Hook) hasOptions(d dialect.Dialect) bool {
	return d.Settings.Options != "" && h.Root != "" && h.Skill == ""
}

// unsafeOption returns why the agent does not run a hook: its command inserts an option of the
// plugin where a shell would interpret the value. It returns "" if there is no such option.
func (h Hook) unsafeOption(d dialect.Dialect) string {
	m := option().FindStringSubmatch(h.Command)
	if !h.hasOptions(d) || h.Args != nil || m == nil {
		return ""
	}
	return fmt.Sprintf("%s does not run it: the shell would interpret the value of the option %s; write \"$%s%s\", or use args", d.Title,
		m[0], d.Settings.OptionPrefix, strings.ToUpper(m[1]))
}

// unsetOption returns why the agent does not run a hook: an option in its arguments has no
// value. It returns "" if all have one.
func (h Hook) unsetOption(d dialect.Dialect) string {
	if !h.hasOptions(d) || h.Args == nil {
		return ""
	}
	for _, word := range append([]string{h.Command}, h.Args...) {
		for _, m := range option().FindAllStringSubmatch(word, -1) {
			if _, set := h.Options[m[1]]; !set {
				return fmt.Sprintf("%s does not run it: the option %q of the plugin is not set in %s of the settings", d.Title, m[1],
					d.Settings.Options)
			}
		}
	}
	return ""
}

func (h Hook) value(v dialect.Value, s Session) (value string, set bool) {
	switch v {
	case dialect.ValueCwd:
		return s.Cwd, true
	case dialect.ValueProject:
		return cmp.Or(s.Project, s.Cwd), true
	case dialect.ValueSessionID:
		return s.ID, true
	case dialect.ValuePlans:
		home, err := os.UserHomeDir()
		return filepath.Join(home, ".gemini", "tmp", fmt.Sprintf("%x", sha256.Sum256([]byte(cmp.Or(s.Project, s.Cwd)))), "plans"), err == nil
	case dialect.ValueOne:
		return "1", true
	case dialect.ValuePluginRoot:
		return h.Root, h.Root != ""
	case dialect.ValuePluginData:
		return h.Data, h.Data != ""
	case dialect.ValuePluginCwd:
		return s.Cwd, h.Root != ""
	case dialect.ValueOther:
		return "", false
	}
	panic("unknown value of a variable")
}

// expand inserts the variables, quoted, into a shell command where the shell itself would
// split their values, outside quotes, or would not expand them, in single quotes.
func expand(command string, vars []Variable) string {
	return shell.Expand(command, func(name string) (string, bool) {
		for _, v := range vars {
			if v.Name == name {
				return v.Value, true
			}
		}
		return "", false
	})
}

// substitute replaces ${NAME} in an argument that no shell reads.
func substitute(arg string, vars []Variable) string {
	for _, v := range vars {
		arg = strings.ReplaceAll(arg, "${"+v.Name+"}", v.Value)
	}
	return arg
}
