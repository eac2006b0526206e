package hooks

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/guard/paths"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// ruleCall is an event, as the permission rule in the field "if" of a hook sees it.
type ruleCall struct {
	event   dialect.Event
	fields  js.Object
	session Session
}

// mismatch returns why the rule of a hook does not match the call, "" if it does.
func (c ruleCall) mismatch(d dialect.Dialect, h Hook) string {
	if why := h.IfNeverMatches(c.event); why != "" {
		return why
	}
	r, _ := parseRule(h.If)
	name := c.fields.Text("tool_name")
	switch {
	case r.Tool != name && !slices.Contains(d.Aliases[name], r.Tool) && !(name == "Monitor" && r.Tool == "Bash"):
		return fmt.Sprintf("its \"if\" %q is a rule for another tool", h.If)
	case r.Content == "" || c.matches(r.Content):
		return ""
	}
	return fmt.Sprintf("its \"if\" %q does not match the call", h.If)
}

// IfNeverMatches returns why the rule of a hook matches no call at an event, "" if there is
// no rule or it can match.
func (h Hook) IfNeverMatches(e dialect.Event) string {
	if h.If == "" {
		return ""
	}
	if e.Subject != dialect.ToolName {
		return fmt.Sprintf(`its "if" is a rule for calls of tools: on %s the hook never runs`, e.Name)
	}
	r, ok := parseRule(h.If)
	switch {
	case !ok:
		return fmt.Sprintf("its \"if\" %q is not a permission rule, such as Bash(git *): the hook never runs", h.If)
	case r.Content != "" && !hasContent(r.Tool):
		return fmt.Sprintf("its \"if\" %q never matches: only rules for %s may have something in parentheses; "+
			"write %s and test the input in the hook",
			h.If, dialect.InWords(ruledTools()), r.Tool)
	}
	return ""
}

// parseRule parses a permission rule for one tool. ok is false for a text that is no rule.
func parseRule(text string) (r permission.Rule, ok bool) {
	r, ok = permission.Parse(text)
	return r, ok && permission.IsToolName(r.Tool)
}

// ruledTools lists the tools whose rules may have a content.
func ruledTools() []string {
	return []string{"Bash", "Monitor", "PowerShell", "Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep"}
}

func hasContent(tool string) bool { return slices.Contains(ruledTools(), tool) }

// matches reports whether the content of a rule matches the input of the tool.
func (c ruleCall) matches(content string) bool {
	input := c.fields.Object("tool_input")
	switch c.fields.Text("tool_name") {
	case "Bash", "Monitor", "PowerShell":
		home, _ := os.UserHomeDir()
		return matchesLine(content, shell.Look(input.Text("command"), home))
	case "Read", "Edit", "Write":
		return c.matchesPath(content, input.Text("file_path"))
	case "NotebookEdit":
		return c.matchesPath(content, input.Text("notebook_path"))
	case "Glob", "Grep":
		return matchesText(content, input.Text("pattern"))
	}
	return false
}

// matchesLine reports whether a rule matches one of the commands of a line, or cannot be tested
// on it.
func matchesLine(content string, line shell.View) bool {
	prefix, isPrefix := strings.CutSuffix(content, ":*")
	isPrefix = isPrefix && prefix != "" && !strings.Contains(prefix, "\n")
	if line.Sight == shell.SeesNothing || line.Sight == shell.SeesPrograms && !namesProgram(content, prefix, isPrefix) {
		return true
	}
	return slices.ContainsFunc(line.Commands, func(command string) bool {
		if isPrefix {
			command = strings.TrimPrefix(command, "xargs ")
			return command == prefix || strings.HasPrefix(command, prefix+" ")
		}
		blanks := regexp.MustCompile(`[ \t]+`)
		content, command := blanks.ReplaceAllString(js.Trim(content), " "), blanks.ReplaceAllString(command, " ")
		return matchesText(content, command) || matchesText("xargs "+content, command)
	})
}

// namesProgram reports whether a rule consists of the name of a program: git:*, git * or git*.
func namesProgram(content, prefix string, isPrefix bool) bool {
	if isPrefix {
		return !strings.ContainsFunc(prefix, unicode.IsSpace)
	}
	return regexp.MustCompile(`^[^\s*?\[]+\s?\*$`).MatchString(content)
}

// matchesText reports whether a rule matches a text.
func matchesText(content, text string) bool { return permission.MatchText(js.Trim(content), text) }

// matchesPath reports whether a rule for files matches a path. Patterns are those of
// .gitignore, whatever the case of letters. They are relative to the working directory; a prefix
// changes that: / to the project, // to the root, ~/ to the home. A rule that is a whole path, or
// begins with *, is tested on the whole path too.
func (c ruleCall) matchesPath(rule, file string) bool {
	home, _ := os.UserHomeDir()
	if below, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(home, below)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.session.Cwd, file)
	}
	file = filepath.Clean(file)
	if (strings.HasPrefix(rule, "*") || !strings.Contains(rule, "*")) && matchesText(rule, file) {
		return true
	}
	switch {
	case strings.HasPrefix(rule, "//"):
		return matchesBelow("/", rule[2:], file)
	case strings.HasPrefix(rule, "~/"):
		return home != "" && matchesBelow(home, rule[2:], file)
	case strings.HasPrefix(rule, "/"):
		return matchesBelow(cmp.Or(c.session.Project, c.session.Cwd), rule[1:], file)
	}
	rule = strings.TrimPrefix(rule, "./")
	if !strings.Contains(strings.TrimSuffix(rule, "/"), "/") {
		rule = "**/" + rule
	}
	return matchesBelow(c.session.Cwd, rule, file)
}

// matchesBelow reports whether a pattern, relative to dir, matches a file or a directory
// that contains the file.
func matchesBelow(dir, pattern, file string) bool {
	name, err := filepath.Rel(dir, file)
	if err != nil || name == ".." || strings.HasPrefix(name, "../") {
		return false
	}
	return paths.Matches(pattern, filepath.ToSlash(name))
}
