package lint

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/hooks"
)

// command looks for programs that are not there and for variables that the shell
// would split.
func (c *check) command(h hooks.Hook) {
	at := h.Pointer.AppendToken("command")
	if h.Command == "" || c.seen(at) {
		return
	}
	if h.Args != nil {
		c.program(at, h, append([]string{h.Command}, h.Args...))
		return
	}
	for _, name := range unquoted(h.Command, c.Dialect.Variables(c.session(), h)) {
		c.add(at, Warning, fmt.Sprintf(`$%s is not quoted: write "$%s" or "${%s}" for directories with a space`, name, name, name))
	}
	c.program(at, h, firstCommand(h.Command))
}

func (c *check) session() hooks.Session { return hooks.Session{Cwd: c.Project} }

// program looks for the program of a command and, behind an interpreter, for its
// script. What depends on a variable nobody here knows is left alone.
func (c *check) program(at pointer, h hooks.Hook, words []string) {
	if len(words) == 0 {
		return
	}
	path, known := c.resolve(words[0], h)
	if !known {
		return
	}
	if problem := c.missing(path); problem != "" {
		c.add(at, Error, problem)
		return
	}
	if !isInterpreter(path) {
		return
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") {
			if word == "-c" || word == "-e" {
				return
			}
			continue
		}
		if script, known := c.resolve(word, h); known && strings.Contains(script, "/") {
			if _, err := os.Stat(c.absolute(script)); err != nil {
				c.add(at, Error, fmt.Sprintf("the script %s does not exist", script))
			}
		}
		return
	}
}

// missing says why a program cannot be started, "" if it can.
func (c *check) missing(program string) string {
	if !strings.Contains(program, "/") {
		if isBuiltin(program) {
			return ""
		}
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("the command %q is not found on PATH", program)
		}
		return ""
	}
	info, err := os.Stat(c.absolute(program))
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

func (c *check) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Project, path)
}

// resolve puts in the variables that the dialect sets, and HOME.
func (c *check) resolve(word string, h hooks.Hook) (path string, known bool) {
	for _, v := range append(c.Dialect.Variables(c.session(), h), hooks.Variable{Name: "HOME", Value: c.Getenv("HOME")}) {
		word = strings.ReplaceAll(word, "${"+v.Name+"}", v.Value)
		word = strings.ReplaceAll(word, "$"+v.Name, v.Value)
	}
	if strings.HasPrefix(word, "~/") {
		word = filepath.Join(c.Getenv("HOME"), word[2:])
	}
	return word, !strings.ContainsAny(word, "$`*?[{")
}

// firstCommand returns the words of a shell command's first simple command, nil
// if it does not begin with one.
func firstCommand(command string) []string {
	words := shellWords(command)
	for len(words) > 0 && (isAssignment(words[0]) || startsOthers(words[0])) {
		words = words[1:]
	}
	if len(words) > 0 && (isKeyword(words[0]) || strings.HasPrefix(words[0], "(")) {
		return nil
	}
	return words
}

// shellWords splits the first simple command into words, without their quotes.
func shellWords(command string) []string {
	var words []string
	var word strings.Builder
	inWord := false
	var quote rune
	end := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	for _, c := range command {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case strings.ContainsRune(";|&\n<>", c):
			end()
			return words
		case c == ' ' || c == '\t':
			end()
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	end()
	return words
}

// unquoted returns the variables that a shell command uses outside quotes.
func unquoted(command string, vars []hooks.Variable) []string {
	var names []string
	var quote byte
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\\':
			i++
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case c == '$' && quote == 0:
			for _, v := range vars {
				rest := command[i+1:]
				if refersTo(rest, v.Name) && !slices.Contains(names, v.Name) {
					names = append(names, v.Name)
				}
			}
		}
	}
	return names
}

// refersTo reports whether what follows a dollar sign is a variable's name.
func refersTo(rest, name string) bool {
	if strings.HasPrefix(rest, "{"+name+"}") {
		return true
	}
	after, ok := strings.CutPrefix(rest, name)
	return ok && !strings.ContainsFunc(after[:min(1, len(after))], func(c rune) bool {
		return c == '_' || c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c))
	})
}

// startsOthers reports whether a command runs the one that comes behind it.
func startsOthers(word string) bool {
	return slices.Contains([]string{"exec", "command", "env", "nohup"}, word)
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/$.-")
}

func isKeyword(word string) bool {
	return slices.Contains([]string{"if", "for", "while", "until", "case", "function", "{", "!", "[", "[["}, word)
}

func isInterpreter(path string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "python", "python3", "node", "bun", "deno", "ruby", "perl", "uv", "npx", "tsx"}, filepath.Base(path))
}

// isBuiltin reports whether the shell itself has the command.
func isBuiltin(word string) bool {
	return slices.Contains([]string{
		".", ":", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit", "export", "false", "getopts",
		"kill", "printf", "pwd", "read", "return", "set", "shift", "source", "test", "times", "trap", "true", "type", "ulimit",
		"umask", "unset", "wait",
	}, word)
}
