package hooks

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// ruleCall is an event, as the permission rule in the field "if" of a hook sees it.
type ruleCall struct {
	event   dialect.Event
	fields  jsonx.Object
	session Session
}

// mismatch returns why the rule of a hook does not match the call, "" if it does. With a note that says so, the rule cannot be
// tested on the call; then the hook runs.
func (c ruleCall) mismatch(d dialect.Dialect, h Hook) (why, note string) {
	if why := h.IfNeverMatches(c.event); why != "" {
		return why, ""
	}
	r, _ := parseRule(h.If)
	name := c.fields.Text("tool_name")
	switch {
	case r.Tool != name && !slices.Contains(d.Aliases[name], r.Tool) && !(name == "Monitor" && r.Tool == "Bash"):
		return fmt.Sprintf("its \"if\" %q is a rule for another tool", h.If), ""
	case r.Content == "":
		return "", ""
	}
	switch matches, sure := c.matches(r); {
	case matches:
		return "", ""
	case !sure:
		return "", fmt.Sprintf("\"if\" %q of hook %s cannot be tested on this command line, which is more than plain commands; the hook runs",
			h.If, h.label())
	}
	return fmt.Sprintf("its \"if\" %q does not match the call", h.If), ""
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
	case r.Content != "" && !slices.Contains(ruledTools(), r.Tool):
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

// matches reports whether a rule matches the input of the tool, and whether that is sure.
func (c ruleCall) matches(r permission.Rule) (matches, sure bool) {
	input := c.fields.Object("tool_input")
	switch c.fields.Text("tool_name") {
	case "Bash", "Monitor", "PowerShell":
		return matchesLine(r, input.Text("command"))
	case "Read", "Edit", "Write":
		return c.matchesPath(r.Content, input.Text("file_path")), true
	case "NotebookEdit":
		return c.matchesPath(r.Content, input.Text("notebook_path")), true
	case "Glob", "Grep":
		return matchesText(r.Content, input.Text("pattern")), true
	}
	return false, true
}

// matchesLine reports whether a rule matches one of the commands of a line, itself or behind xargs. sure is false where it does not,
// but Claude Code may not look into the line: it runs the hook then.
func matchesLine(rule permission.Rule, line string) (matches, sure bool) {
	reading, _ := shell.Look(line)
	for _, words := range reading.Commands {
		command := strings.Join(words, " ")
		if rule.MatchLine(command) || rule.MatchLine(strings.TrimPrefix(command, "xargs ")) {
			return true, true
		}
	}
	return false, reading.Plain
}

// matchesText reports whether a rule matches a text.
func matchesText(content, text string) bool { return permission.MatchText(jsonx.Trim(content), text) }

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
	return err == nil && filepath.IsLocal(name) && permission.MatchesPath(pattern, filepath.ToSlash(name))
}
