package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// command reports a command that cannot be run.
func (f *file) command(h hooks.Hook) {
	at := h.Pointer.AppendToken("command")
	if h.Command == "" || f.reported(at) {
		return
	}
	if why := hooks.Refusal(f.Dialect, h); why != "" {
		f.add(at, Error, why)
		return
	}
	if h.Args != nil {
		f.program(at, f.inExecForm(h))
		return
	}
	if h.IsPowerShell(f.Dialect) {
		return
	}
	script, err := shell.Parse(h.Command)
	if err != nil {
		f.add(at, Warning, fmt.Sprintf("the shell may not be able to run the command: %v", err))
		return
	}
	f.program(at, f.inShell(h, script))
}

// variables returns the variables that the dialect sets for a hook.
func (f *file) variables(h hooks.Hook) map[string]string {
	values := map[string]string{}
	for _, v := range h.Variables(f.Dialect, hooks.Session{Cwd: f.Project}) {
		values[v.Name] = v.Value
	}
	return values
}

// words are the words of a command.
type words []word

type word struct {
	text  string
	known bool // the text does not depend on anything that is known only when the hook runs
}

// inExecForm returns the words of a hook that starts a program without a shell.
func (f *file) inExecForm(h hooks.Hook) words {
	var all words
	for _, text := range append([]string{h.Command}, h.Args...) {
		for name, value := range f.variables(h) {
			text = strings.ReplaceAll(text, "${"+name+"}", value)
		}
		all = append(all, word{text, !strings.Contains(text, "${")})
	}
	return all
}

// inShell returns the words of the first command of a script.
func (f *file) inShell(h hooks.Hook, script shell.Script) words {
	variables := f.variables(h)
	lookup := func(name string) (string, bool) {
		if name == "HOME" {
			return f.Getenv(name), true
		}
		value, known := variables[name]
		return value, known
	}
	var all words
	for _, w := range script.FirstCommand() {
		text, known := w.Text(lookup)
		all = append(all, word{text, known})
	}
	return all
}

// program reports if the program of a command, or the script of an interpreter, does not
// exist. Words that are not known are skipped.
func (f *file) program(at jsontext.Pointer, all words) {
	if len(all) == 0 || !all[0].known {
		return
	}
	name := all[0].text
	if problem := f.missing(name); problem != "" {
		f.add(at, Error, problem)
		return
	}
	if !isInterpreter(name) {
		return
	}
	if script := all[1:].script(); strings.Contains(script, "/") {
		if _, err := os.Stat(f.absolute(script)); err != nil {
			f.add(at, Error, fmt.Sprintf("the script %s does not exist", script))
		}
	}
}

// script returns the script in the arguments of an interpreter, "" if there is none or if it
// is not known.
func (w words) script() string {
	for _, arg := range w {
		switch {
		case !arg.known || arg.text == "-c" || arg.text == "-e":
			return ""
		case !strings.HasPrefix(arg.text, "-"):
			return arg.text
		}
	}
	return ""
}

// missing returns why a program cannot be started, "" if it can.
func (f *file) missing(program string) string {
	if !strings.Contains(program, "/") {
		if isBuiltin(program) {
			return ""
		}
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("the command %q is not found on PATH", program)
		}
		return ""
	}
	info, err := os.Stat(f.absolute(program))
	switch {
	case err != nil:
		return fmt.Sprintf("the command %s does not exist", program)
	case info.IsDir():
		return fmt.Sprintf("the command %s is a directory", program)
	case info.Mode()&0o111 == 0:
		return fmt.Sprintf("the command %s is not executable: chmod +x it", program)
	}
	return ""
}

func (f *file) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.Project, path)
}

func isInterpreter(path string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "python", "python3", "node", "bun", "deno", "ruby", "perl", "uv", "npx",
		"tsx"}, filepath.Base(path))
}

// isBuiltin reports whether the shell itself has the command.
func isBuiltin(word string) bool {
	return slices.Contains([]string{
		".", ":", "[", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit", "export", "false", "getopts",
		"hash", "jobs", "kill", "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "source", "test", "times", "trap",
		"true", "type", "ulimit", "umask", "unalias", "unset", "wait",
	}, word)
}
