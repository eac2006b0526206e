package steps

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard/paths"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// ToolCall is a call of a tool that the agent is about to make.
type ToolCall struct {
	Tool  string
	Line  string // the command line, if the tool is a shell
	Path  string // the file, if the tool works on one; as the agent wrote it
	Agent string // the id of the subagent; empty for the session's own agent
	Cwd   string // the directory in which the agent is; empty if unknown
	Use   string // the id of the call; empty if unknown
}

// listing is a rule that a step lists.
type listing struct {
	step *recorded
	text string
	rule permission.Rule
}

// only returns the rules that the steps list.
func (all steps) only() (list []listing) {
	for i := range all {
		for _, text := range all[i].Only {
			rule, _ := permission.Parse(text) // ParseWorkflow has checked it
			list = append(list, listing{&all[i], text, rule})
		}
	}
	return list
}

// part is what one rule can cover: one command of a line, or a call as a whole.
type part struct {
	call    ToolCall
	name    string
	listed  []listing                  // the rules that cover it
	matches func(permission.Rule) bool // whether a rule that is not about paths covers it
	err     error                      // why the line cannot be read
}

// isCovered reports whether a rule covers the part. dir is the project's directory.
func (p part) isCovered(r permission.Rule, dir string) bool {
	if !covers(r, p.call.Tool) {
		return false
	}
	return p.matches(r) || r.Content != "" && permission.IsFileTool(r.Tool) && p.call.onPath(r.Content, dir)
}

// covered returns the parts of a call that rules cover.
func (x ToolCall) covered(list []listing) (covered []part) {
	list = slices.DeleteFunc(slices.Clone(list), func(l listing) bool { return !covers(l.rule, x.Tool) })
	if len(list) == 0 {
		return nil
	}
	for _, p := range x.parts() {
		for _, l := range list {
			if p.isCovered(l.rule, l.step.workflow.Dir) {
				p.listed = append(p.listed, l)
			}
		}
		if len(p.listed) > 0 && !slices.ContainsFunc(covered, p.same) {
			covered = append(covered, p)
		}
	}
	return covered
}

// same reports whether the same rules cover another part.
func (p part) same(o part) bool {
	return slices.Equal(p.listed, o.listed) && (p.err == nil) == (o.err == nil)
}

// covers reports whether a rule is about a tool: Edit is about every tool that changes a file.
func covers(r permission.Rule, tool string) bool {
	switch r.Tool {
	case "Bash":
		return tool == "Bash" || tool == "Monitor"
	case "Edit":
		return slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit"}, tool)
	}
	return r.MatchTool(tool)
}

// parts returns what rules can cover of the call.
func (x ToolCall) parts() []part {
	if x.Tool != "Bash" && x.Tool != "Monitor" {
		name := x.Tool
		if x.Path != "" {
			name += " of " + x.Path
		}
		return []part{{call: x, name: name, matches: func(r permission.Rule) bool { return r.Content == "" }}}
	}
	home, _ := os.UserHomeDir()
	commands, err := shell.Runs(x.Line, home)
	var all []part
	for _, words := range commands {
		all = append(all, part{call: x, name: strings.Join(words, " "), matches: func(r permission.Rule) bool { return runs(r, words) }})
	}
	if err != nil {
		all = append(all, part{call: x, name: x.Line, err: err, matches: func(r permission.Rule) bool { return mentions(x.Line, r) }})
	}
	return all
}

// runs reports whether a rule covers a command. This program's own commands are covered only by
// rules that name them: with them the agent works on the steps.
func runs(r permission.Rule, words []string) bool {
	if r.Content == "" {
		return filepath.Base(words[0]) != "fsmtx"
	}
	return slices.ContainsFunc(spellings(words), r.MatchLine) ||
		slices.ContainsFunc(words, isComputed) && slices.ContainsFunc(spellings(withoutComputed(words)), r.MatchLine)
}

func isComputed(word string) bool { return strings.Contains(word, shell.Unknown) }

// withoutComputed returns a command as it is if what is computed in it is empty, as variables often are.
func withoutComputed(words []string) (rest []string) {
	for i, word := range words {
		if text := strings.ReplaceAll(word, shell.Unknown, ""); text != "" || word == "" || i == 0 {
			rest = append(rest, text)
		}
	}
	return rest
}

// spellings returns a command as a rule may write it: as it is; with the program's name instead of
// its path; and without the options that stand before its other words, as in
// git -C dir push.
func spellings(words []string) []string {
	all := []string{strings.Join(words, " ")}
	name := filepath.Base(words[0])
	add := func(rest []string) {
		if text := strings.Join(append([]string{name}, rest...), " "); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	seen := map[int]bool{}
	var from func(i int)
	from = func(i int) {
		if i > min(len(words), maxOptions) || seen[i] {
			return
		}
		seen[i] = true
		add(words[i:])
		if i == len(words) || len(words[i]) < 2 || words[i][0] != '-' {
			return
		}
		if words[i] == "--" { // no options follow
			if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
				add(words[i+1:])
			}
			return
		}
		isGit := name == "git"
		if !isGit || !gitOption(words[i]) {
			from(i + 1)
		}
		if isGit && gitOption(words[i]) || !isGit && !strings.Contains(words[i], "=") && i+1 < len(words) && words[i+1] != "--" {
			from(i + 2) // its value is the next word
		}
	}
	from(1)
	return all
}

// maxOptions is how many words are tried as the first one behind the options.
const maxOptions = 50

// gitOption reports whether the value of an option of git is the next word.
func gitOption(word string) bool {
	return slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env",
		"--attr-source", "--shallow-file"}, word)
}

// mentions reports whether a line that cannot be parsed has the words of a rule, in their order.
func mentions(line string, r permission.Rule) bool {
	rest := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(line)
	for _, word := range r.Words() {
		_, after, found := strings.Cut(rest, word)
		if !found {
			return false
		}
		rest = after
	}
	return true
}

// onPath reports whether the pattern of a rule matches the call's file, by the way in which the
// agent wrote the path, or by the file to which it leads. Patterns are those of .gitignore. dir is
// the project's directory.
func (x ToolCall) onPath(pattern, dir string) bool {
	if x.Path == "" {
		return false
	}
	root := workplace(dir, x.Cwd)
	file := paths.Absolute(homely(x.Path), x.Cwd)
	if file == "" {
		file = paths.Absolute(homely(x.Path), root)
	}
	base := root
	switch {
	case strings.HasPrefix(pattern, "//"):
		base, pattern = "/", pattern[2:]
	case strings.HasPrefix(pattern, "~/"):
		base, pattern = homely("~"), pattern[2:]
	case strings.HasPrefix(pattern, "/"):
		pattern = pattern[1:]
	case strings.HasPrefix(pattern, "./"):
		pattern = pattern[2:]
	case !strings.Contains(strings.TrimSuffix(pattern, "/"), "/"):
		pattern = "**/" + pattern
	}
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
		_, inside := paths.Within(at, resolved)
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
	name, ok := paths.Within(dir, file)
	return ok && paths.Matches(pattern, filepath.ToSlash(name))
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

// homely returns a path with the home directory in the place of a leading ~.
func homely(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	home, err := os.UserHomeDir()
	if !ok || err != nil || rest != "" && rest[0] != '/' {
		return path
	}
	return home + rest
}

// subject returns what is refused, for a sentence.
func (p part) subject() string {
	if words := p.listed[0].rule.Words(); p.listed[0].rule.Tool == "Bash" && len(words) > 0 {
		return visible.Clip(visible.Words(strings.Join(words, " ")), maxSubject)
	}
	return visible.Clip(visible.Words(strings.ReplaceAll(p.name, shell.Unknown, "…")), maxSubject)
}
