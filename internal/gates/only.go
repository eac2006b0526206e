package gates

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
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
	step *state.RecordedStep
	text string
	rule permission.Rule
}

// rulesOf returns the rules that the steps list.
func rulesOf(all state.RecordedSteps) (list []listing) {
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
	doubt   error                      // why it is not known whether the line runs such a command
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
			switch {
			case !p.isCovered(l.rule, l.step.Workflow.Dir):
			case p.doubt == nil:
				p.listed = append(p.listed, l)
			case !slices.ContainsFunc(covered, func(o part) bool { return slices.Contains(o.listed, l) }): // for each rule by itself
				one := p
				one.listed = []listing{l}
				covered = append(covered, one)
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
	return slices.Equal(p.listed, o.listed)
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
	reading, err := shell.Look(x.Line)
	var all []part
	for _, words := range reading.Commands {
		all = append(all, part{call: x, name: strings.Join(words, " "), matches: func(r permission.Rule) bool { return runs(r, words) }})
	}
	return append(all, part{call: x, name: x.Line, doubt: cmp.Or(err, errNotPlain),
		matches: func(r permission.Rule) bool { return reading.MayRun(r.AllWords()) }})
}

// errNotPlain is the doubt about a line that may run a command which it does not plainly have.
var errNotPlain = errors.New("its words are where something may run them, or are computed")

// runs reports whether a rule covers a command as it is written, or with the name of the program in place of its path. This
// program's own commands are covered only by rules that name them: with them the agent works on the steps.
func runs(r permission.Rule, words []string) bool {
	name := filepath.Base(words[0])
	if r.Content == "" {
		return name != "fsmtx"
	}
	return r.MatchLine(strings.Join(words, " ")) || r.MatchLine(strings.Join(append([]string{name}, words[1:]...), " "))
}

// isAway returns an error if the call is about a file, and the directory is away below which files belong to steps.
func (x ToolCall) isAway(all state.RecordedSteps, list string) error {
	if x.Path == "" {
		return nil
	}
	for _, r := range all {
		if len(r.Only) > 0 && r.Workflow.Dir != "" {
			if away := state.AwayText(r.Workflow); away != "" {
				return errors.New(message.Sprintf("the directory %s %s; a person can say where it is now: %s", r.Workflow.Dir, away,
					moveCommand(list)))
			}
		}
	}
	return nil
}

// onPath reports whether the pattern of a rule matches the call's file, by the way in which the
// agent wrote the path, or by the file to which it leads. Patterns are those of .gitignore. dir is
// the project's directory.
func (x ToolCall) onPath(pattern, dir string) bool {
	if x.Path == "" {
		return false
	}
	root := workplace(dir, x.Cwd)
	file := safefile.Absolute(homely(x.Path), x.Cwd)
	if file == "" {
		file = safefile.Absolute(homely(x.Path), root)
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
		return message.Clip(message.Words(strings.Join(words, " ")), message.MaxSubject)
	}
	return message.Clip(message.Words(strings.ReplaceAll(p.name, shell.Unknown, "…")), message.MaxSubject)
}
