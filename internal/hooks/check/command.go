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
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// command reports programs that do not exist and variables that the shell would
// split.
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
	if found := shell.Bashisms(h.Command); f.Dialect.Hooks.Shell == nil && f.Dialect.Hooks.Posix && len(found) > 0 {
		f.add(at, Warning, fmt.Sprintf("%s runs the command with /bin/sh, which does not have %s where it is dash (Debian, Ubuntu): put the "+
			"command into a script for bash",
			f.Dialect.Title, dialect.InWords(found)))
	}
	variables := f.variables(h)
	for _, name := range script.Unquoted() {
		if _, ours := variables[name]; ours {
			f.add(at, Warning, fmt.Sprintf(`$%s is not quoted: write "$%s" or "${%s}" for directories with a space`, name, name, name))
		}
	}
	f.program(at, f.inShell(script, variables))
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
func (f *file) inShell(script shell.Script, variables map[string]string) words {
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
	all = all.withoutPrefixes()
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

// withoutPrefixes drops the programs that run the rest of a command, such as env, with their
// options. It returns nil if there is no rest, or if an option is not known.
func (w words) withoutPrefixes() words {
	for len(w) > 0 && w[0].known {
		options, isPrefix := prefixes()[w[0].text]
		if !isPrefix {
			return w
		}
		w = w[1:].withoutOptions(options)
	}
	return w
}

// prefixes maps each program that runs another one to its options. Options such as env -C,
// which change where the program is found, are not among them: they are not known.
func prefixes() map[string]options {
	return map[string]options{
		"exec":    {flags: "cl", arguments: "a"},
		"command": {flags: "p"},
		"nohup":   {},
		"env":     {flags: "i0v", arguments: "u", long: []string{"--ignore-environment"}, assigns: true},
	}
}

// options are the options of a prefix that withoutOptions can skip.
type options struct {
	flags     string   // single letters without an argument
	arguments string   // single letters with one
	long      []string // words without an argument
	assigns   bool     // NAME=VALUE may come before the command
}

// withoutOptions returns the words after the options, nil if an option is not known.
func (w words) withoutOptions(o options) words {
	for len(w) > 0 && w[0].known {
		switch text := w[0].text; {
		case text == "--":
			return w[1:]
		case slices.Contains(o.long, text), strings.HasPrefix(text, "--unset="):
			w = w[1:]
		case len(text) == 2 && text[0] == '-' && strings.Contains(o.arguments, text[1:]):
			w = w[min(2, len(w)):]
		case len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], o.flags) == "":
			w = w[1:]
		case strings.HasPrefix(text, "-"):
			return nil
		case o.assigns && strings.Contains(text, "="):
			w = w[1:]
		default:
			return w
		}
	}
	return w
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
