package hooks

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// command reports what keeps the command of a hook from running, or from running as intended.
func (f *file) command(e dialect.Event, h Hook) {
	at := h.Pointer.AppendToken("command")
	if h.Command == "" || f.reported(at) || h.IsPowerShell(f.Dialect) {
		return
	}
	if why := agentRefusal(f.Dialect, h); why != "" {
		f.add(at, Error, why)
		return
	}
	c, err := f.read(h)
	if err != nil {
		f.add(at, Warning, fmt.Sprintf("the shell may not be able to run the command: %v", err))
		return
	}
	missing, elsewhere := f.missing(c.words), f.relative(e, h, c.words)
	switch {
	case elsewhere.Severity == Error:
		f.add(at, Error, elsewhere.Message)
	case len(c.unset) > 0 && missing != "":
		f.add(at, Error, f.notSet(h, c.unset)+"; "+missing)
	case len(c.unset) > 0:
		f.add(at, Warning, f.notSet(h, c.unset))
	case missing != "":
		f.add(at, Error, missing)
	case elsewhere.Severity != "":
		f.add(at, Warning, elsewhere.Message)
	}
	if echoes(h, c.calls) {
		f.add(at, Warning, "the command prints the event as its answer, which says nothing: redirect what it prints, to a file or to /dev/null")
	}
}

// command is a command as the agent starts it.
type command struct {
	words []word   // of the program that runs first, as far as it is known
	unset []string // variables that it needs and that are not set
	calls [][]shell.Word
}

type word struct {
	text  string
	known bool // the text does not depend on anything that is known only when the hook runs
}

// read returns the command of a hook. A variable that is not set is empty.
func (f *file) read(h Hook) (c command, err error) {
	vars := h.Variables(f.Dialect, Session{Cwd: f.Project})
	if h.Args != nil {
		for _, text := range append([]string{h.Command}, h.Args...) {
			text = substitute(text, vars)
			for _, m := range regexp.MustCompile(`\$\{([A-Za-z_]\w*)\}`).FindAllStringSubmatch(text, -1) {
				if !h.Sets(f.Dialect, m[1]) {
					c.unset = append(c.unset, m[1])
				}
			}
			c.words = append(c.words, word{text, !strings.Contains(text, "${") || len(c.unset) > 0})
		}
		return c, nil
	}
	script, err := shell.Parse(h.Command)
	if err != nil {
		return c, err
	}
	c.calls = script.Calls()
	values := map[string]string{"HOME": f.Getenv("HOME")}
	for _, v := range vars {
		values[v.Name] = v.Value
	}
	settings := jsonx.Member(f.text, cmp.Or(f.Dialect.Settings.Env, "\x00"))
	for _, name := range script.Needs() {
		if !h.Sets(f.Dialect, name) && f.Getenv(name) == "" && isUsual(name) {
			continue // the agent has it, though this process may not
		}
		if !h.Sets(f.Dialect, name) && f.Getenv(name) == "" && jsonx.Member(settings, name) == nil {
			c.unset, values[name] = append(c.unset, name), ""
		}
	}
	for _, w := range script.FirstCommand() {
		text, known := w.Text(func(name string) (string, bool) { value, known := values[name]; return value, known })
		c.words = append(c.words, word{text, known})
	}
	return c, nil
}

// isUsual reports whether a variable is one that a login, a shell or a desktop sets.
func isUsual(name string) bool {
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") || slices.Contains([]string{"HOME", "PATH", "USER", "LOGNAME",
		"SHELL", "TMPDIR", "EDITOR", "VISUAL", "PAGER", "BROWSER", "LANG", "LANGUAGE", "TERM", "COLORTERM", "PWD", "OLDPWD", "HOSTNAME",
		"DISPLAY", "WAYLAND_DISPLAY", "TZ", "SSH_AUTH_SOCK", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "IFS"}, name)
}

// notSet says that variables are not set, and which ones are.
func (f *file) notSet(h Hook, names []string) string {
	var sets []string
	for _, v := range f.Dialect.Hooks.Variables {
		if v.Value != dialect.ValueOther && h.Sets(f.Dialect, v.Name) {
			sets = append(sets, v.Name)
		}
	}
	text := fmt.Sprintf("%s is not set for this hook: %s sets %s", dialect.InWords(names), f.Dialect.Title,
		cmp.Or(dialect.InWords(sets), "no variable"))
	if h.Args == nil {
		text += ", and the event is on standard input"
	}
	return text
}

// missing returns why a command cannot be started: its program, or the script of an interpreter, does not exist or cannot run.
// It returns "" if it can, and for words that are not known.
func (f *file) missing(words []word) string {
	if len(words) == 0 || !words[0].known || words[0].text == "" {
		return ""
	}
	name := words[0].text
	if !strings.Contains(name, "/") {
		if _, err := exec.LookPath(name); err != nil && !isBuiltin(name) {
			return fmt.Sprintf("the command %q is not found on PATH", name)
		}
	} else if why := f.cannotRun(name); why != "" {
		return why
	}
	if script := scriptOf(words); strings.Contains(script, "/") && !exists(f.absolute(script)) {
		return fmt.Sprintf("the script %s does not exist", script)
	}
	return ""
}

// cannotRun returns why the system cannot start a program, "" if it can.
func (f *file) cannotRun(program string) string {
	info, err := os.Stat(f.absolute(program))
	switch {
	case err != nil:
		return fmt.Sprintf("the command %s does not exist", program)
	case info.IsDir():
		return fmt.Sprintf("the command %s is a directory", program)
	case info.Mode()&0o111 == 0:
		return fmt.Sprintf("the command %s is not executable: chmod +x it", program)
	}
	line := firstLine(f.absolute(program))
	interpreter, isScript := strings.CutPrefix(line, "#!")
	words := strings.Fields(interpreter)
	switch {
	case !isScript || len(words) == 0:
		return ""
	case strings.HasSuffix(line, "\r"):
		return fmt.Sprintf("the first line of %s ends with CRLF, so its interpreter is not found: save it with LF", program)
	}
	if filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
	}
	if len(words) == 0 {
		return ""
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return fmt.Sprintf("the interpreter of %s, %s, is not found", program, words[0])
	}
	return ""
}

// firstLine returns the first line of a script, without its end.
func firstLine(path string) string {
	data, _ := safefile.ReadFile(path, 1<<20, 0) // what is larger is not a script
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(line)
}

// relative returns the finding about a path that is found only from one directory.
func (f *file) relative(e dialect.Event, h Hook, words []word) (found Finding) {
	if len(words) == 0 || !words[0].known {
		return found
	}
	path := words[0].text
	if !strings.Contains(path, "/") {
		path = scriptOf(words)
	}
	isRooted := h.Root != "" && exists(filepath.Join(h.Root, path))
	why := "is found from one directory only, and a hook runs where the session is"
	switch {
	case path == "" || filepath.IsAbs(path) || !isRooted && !(f.Dialect.Hooks.Moves && exists(f.absolute(path))):
		return found
	case isRooted:
		found.Severity, why = Error, "is not found: the hook does not run in this directory"
	default:
		found.Severity = Warning
	}
	if program := words[0].text; e.Meanings.Exit2 == dialect.Block && e.Blocks &&
		slices.Contains(strings.Fields("sh dash perl python python3"), program) {
		why += fmt.Sprintf("; then %s exits with 2, which refuses every call", program)
	}
	found.Message = fmt.Sprintf("%s %s; write %s", path, why, f.rooted(isRooted, path))
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// rooted returns how to write a path so that the hook finds it.
func (f *file) rooted(inPlugin bool, path string) string {
	value, root := dialect.ValueProject, `"$(git rev-parse --show-toplevel)"`
	if inPlugin {
		value = dialect.ValuePluginRoot
	}
	if i := slices.IndexFunc(f.Dialect.Hooks.Variables, func(v dialect.Variable) bool { return v.Value == value }); i >= 0 {
		root = `"${` + f.Dialect.Hooks.Variables[i].Name + `}"`
	}
	return root + "/" + shell.Join(strings.TrimPrefix(path, "./"))
}

// scriptOf returns the script that an interpreter runs, "" if there is none or if it is not known.
func scriptOf(words []word) string {
	if !slices.Contains(strings.Fields("sh bash zsh dash python python3 node bun deno ruby perl uv npx tsx"), filepath.Base(words[0].text)) {
		return ""
	}
	for _, arg := range words[1:] {
		switch {
		case !arg.known || arg.text == "-c" || arg.text == "-e":
			return ""
		case !strings.HasPrefix(arg.text, "-"):
			return arg.text
		}
	}
	return ""
}

// echoes reports whether a command does nothing but print what it reads.
func echoes(h Hook, calls [][]shell.Word) bool {
	for _, call := range calls {
		name, _ := call[0].Literal()
		last, _ := call[len(call)-1].Literal()
		if name != "tee" && !(name == "cat" && len(call) == 1) && !(name == "jq" && last == ".") {
			return false
		}
	}
	return len(calls) > 0 && !strings.ContainsAny(h.Command, "<>")
}

func (f *file) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.Project, path)
}

// isBuiltin reports whether the shell itself has the command.
func isBuiltin(word string) bool {
	return slices.Contains(strings.Fields(". : [ alias bg break cd command continue echo eval exec exit export false getopts hash jobs kill "+
		"local printf pwd read readonly return set shift source test times trap true type ulimit umask unalias unset wait"), word)
}
