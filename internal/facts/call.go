package facts

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Call is a call of a tool, as far as permission rules look at it.
type Call struct {
	Tool string
	Line string // the command line, if the tool is a shell
	Path string // the file, if the tool works on one; as the agent wrote it
	Cwd  string // the directory in which the agent is; empty if unknown
}

// Part is what one rule can cover: one command of a line, or a call as a whole.
type Part struct {
	Call    Call
	Name    string
	Matches func(permission.Rule) bool // whether a rule that is not about paths covers it
	Doubt   error                      // why it is not known whether the line runs such a command
}

// IsAbout reports whether a rule is about a tool: Edit is about every tool that changes a file.
func IsAbout(r permission.Rule, tool string) bool {
	switch r.Tool {
	case "Bash": // in whatever shell the line is
		return tool == "Bash" || tool == "Monitor" || tool == permission.PowerShell
	case "Edit":
		return slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit"}, tool)
	}
	return r.MatchTool(tool)
}

// Parts returns what rules can cover of the call.
func (x Call) Parts() []Part {
	look := shell.Look
	switch x.Tool {
	case "Bash", "Monitor":
	case permission.PowerShell:
		look = shell.LookPowerShell
	default:
		name := x.Tool
		if x.Path != "" {
			name += " of " + x.Path
		}
		return []Part{{Call: x, Name: name, Matches: func(r permission.Rule) bool { return r.Content == "" }}}
	}
	reading, err := look(x.Line)
	var all []Part
	for _, words := range reading.Commands {
		all = append(all, Part{Call: x, Name: strings.Join(words, " "), Matches: func(r permission.Rule) bool { return runs(r, words) }})
	}
	return append(all, Part{Call: x, Name: x.Line, Doubt: cmp.Or(err, errNotPlain),
		Matches: func(r permission.Rule) bool { return reading.MayRun(r.AllWords()) }})
}

// errNotPlain is the doubt about a line that may run a command which it does not plainly have.
var errNotPlain = errors.New("its words are where something may run them, or are computed")

// runs reports whether a rule covers a command as it is written, or with the name of the program in place of its path. This
// program's own commands are covered only by rules that name them: with them the agent works on the steps.
func runs(r permission.Rule, words []string) bool {
	name := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	if r.Content == "" {
		return name != "fsmtx"
	}
	return r.MatchLine(strings.Join(words, " ")) || r.MatchLine(strings.Join(append([]string{name}, words[1:]...), " "))
}

// OnPath reports whether the pattern of a rule matches the call's file, by the way in which the
// agent wrote the path, or by the file to which it leads. Patterns are those of .gitignore, but [ and ] stand for themselves, as in
// all patterns of a workflow. root is the directory to which they are relative.
func (x Call) OnPath(pattern, root string) bool {
	if x.Path == "" {
		return false
	}
	file := safefile.Absolute(Homely(x.Path), x.Cwd)
	if file == "" {
		file = safefile.Absolute(Homely(x.Path), root)
	}
	base := root
	pattern = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, `[`, `\[`).Replace(pattern)
	switch {
	case strings.HasPrefix(pattern, "//"):
		base, pattern = "/", pattern[2:]
	case strings.HasPrefix(pattern, "~/"):
		base, pattern = Homely("~"), pattern[2:]
	case strings.HasPrefix(pattern, "/"):
		pattern = pattern[1:]
	case strings.HasPrefix(pattern, "./"):
		pattern = pattern[2:]
	case !strings.Contains(strings.TrimSuffix(pattern, "/"), "/"):
		pattern = "**/" + pattern
	}
	file = safefile.AsOpened(file)
	resolved := safefile.Resolve(file)
	if below(base, filepath.Clean(file), pattern) || below(safefile.Resolve(base), resolved, pattern) {
		return true
	}
	fixed, rest := literalDir(strings.TrimPrefix(pattern, "**/"))
	if rest != "" {
		fixed, rest = literalDir(pattern)
	}
	at := safefile.Resolve(filepath.Join(base, fixed))
	if rest == "" {
		_, inside := safefile.Within(at, resolved)
		return inside || strings.EqualFold(at, resolved)
	}
	return below(at, resolved, rest)
}

// below reports whether a pattern, relative to dir, matches a file.
func below(dir, file, pattern string) bool {
	if dir == "" || !filepath.IsAbs(file) {
		return false
	}
	if len(file) > len(dir) && strings.EqualFold(file[:len(dir)], dir) {
		file = dir + file[len(dir):] // as on a file system that ignores case
	}
	name, ok := safefile.Within(dir, file)
	return ok && permission.MatchesPath(pattern, filepath.ToSlash(name))
}

// literalDir splits a pattern into the directories at its beginning that have no wildcards, and the
// rest. The rest is empty if nothing has any.
func literalDir(pattern string) (fixed, rest string) {
	pattern = strings.TrimSuffix(pattern, "/")
	at := strings.IndexAny(pattern, `*?[\`)
	if at < 0 {
		return pattern, ""
	}
	at = strings.LastIndex(pattern[:at], "/") + 1
	return strings.TrimSuffix(pattern[:at], "/"), pattern[at:]
}

// Homely returns a path with the home directory in the place of a leading ~.
func Homely(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	home, err := os.UserHomeDir()
	if !ok || err != nil || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	return home + rest
}
