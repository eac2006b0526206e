package hooks

import (
	"strings"

	"github.com/fsmtx/fsmtx/internal/shell"
)

// Variable is set in the environment of a hook, and may be used in its command.
type Variable struct{ Name, Value string }

func (v Variable) String() string { return v.Name + "=" + v.Value }

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
