package hooks

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
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
	case dialect.ValuePluginRoot:
		return h.Root, h.Root != ""
	case dialect.ValuePluginData:
		return h.Data, h.Data != ""
	}
	panic("unknown value of a variable")
}

// expand puts the variables into a shell command where the shell would split their
// values or would not see them.
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

// substitute puts the values of ${NAME} into an argument that no shell reads.
func substitute(arg string, vars []Variable) string {
	for _, v := range vars {
		arg = strings.ReplaceAll(arg, "${"+v.Name+"}", v.Value)
	}
	return arg
}
