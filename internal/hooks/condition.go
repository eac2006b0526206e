package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
)

// Call is an event, as the permission rule in the field "if" of a hook sees it.
type Call struct {
	Event   dialect.Event
	Fields  js.Object
	Session Session
}

// mismatch returns why the rule of a hook does not match the call, "" if it does.
func (c Call) mismatch(d dialect.Dialect, h Hook) string {
	if why := h.IfNeverMatches(c.Event); why != "" {
		return why
	}
	tool, inside, hasInside, _ := splitRule(h.If)
	name := c.Fields.Text("tool_name")
	switch {
	case tool != name && !slices.Contains(d.Aliases[name], tool):
		return fmt.Sprintf("its \"if\" %q is a rule for another tool", h.If)
	case !hasInside || inside == "*" || inside == "" || c.matches(inside):
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
	if _, _, _, ok := splitRule(h.If); !ok {
		return fmt.Sprintf("its \"if\" %q is not a permission rule, such as Bash(git *): the hook never runs", h.If)
	}
	return ""
}

// splitRule splits a permission rule, Tool or Tool(inside). ok is false if it is neither.
func splitRule(rule string) (tool, inside string, hasInside, ok bool) {
	tool, rest, hasInside := strings.Cut(js.Trim(rule), "(")
	if hasInside {
		inside, ok = strings.CutSuffix(rest, ")")
		return tool, inside, true, ok && tool != ""
	}
	return tool, "", false, tool != "" && !strings.Contains(tool, ")")
}

// matches reports whether the inside of a rule matches the input of the tool.
func (c Call) matches(inside string) bool {
	input := c.Fields.Object("tool_input")
	if command := input.Text("command"); input.Has("command") {
		return slices.ContainsFunc(append(simpleCommands(command), command), func(one string) bool { return matchesCommand(inside, one) })
	}
	for _, field := range []string{"file_path", "notebook_path", "path"} {
		if input.Has(field) {
			return c.matchesPath(inside, input.Text(field))
		}
	}
	if domain, ok := strings.CutPrefix(inside, "domain:"); ok {
		host := regexp.MustCompile(`^\w+://([^/:?#]+)`).FindStringSubmatch(input.Text("url"))
		return host != nil && (host[1] == domain || strings.HasSuffix(host[1], "."+domain))
	}
	for _, value := range input.All() { // such as Skill(name) and Agent(type)
		if text, isText := js.String(value); isText && matchesCommand(inside, text) {
			return true
		}
	}
	return false
}

// matchesCommand reports whether a rule matches a command. "git push" matches only itself,
// "git:*" the words that begin with git, and * stands for any text.
func matchesCommand(rule, command string) bool {
	command = js.Trim(command)
	if prefix, ok := strings.CutSuffix(rule, ":*"); ok {
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	}
	if bare, ok := strings.CutSuffix(rule, " *"); ok && command == bare {
		return true
	}
	parts := strings.Split(rule, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	matched, err := regexp.MatchString(`(?s)^`+strings.Join(parts, ".*")+`$`, command)
	return matched && err == nil
}

// simpleCommands returns the commands of a command line, split at the shell's separators
// outside quotes, and without assignments before them.
func simpleCommands(line string) []string {
	var found []string
	var current strings.Builder
	end := func() {
		if text := js.Trim(current.String()); text != "" {
			found = append(found, regexp.MustCompile(`^(?:\w+=\S*\s+)+`).ReplaceAllString(text, ""))
		}
		current.Reset()
	}
	quote := rune(0)
	for _, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.ContainsRune(";&|\n()", c):
			end()
			continue
		}
		current.WriteRune(c)
	}
	end()
	return found
}

// matchesPath reports whether a rule for files matches a path. Patterns are those of
// .gitignore. They are relative to the working directory; a prefix changes that: / to the
// project, // to the root, ~/ to the home.
func (c Call) matchesPath(rule, file string) bool {
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Session.Cwd, file)
	}
	project := c.Session.Project
	if project == "" {
		project = c.Session.Cwd
	}
	switch {
	case strings.HasPrefix(rule, "//"):
		return matchesBelow("/", rule[2:], file)
	case strings.HasPrefix(rule, "~/"):
		home, err := os.UserHomeDir()
		return err == nil && matchesBelow(home, rule[2:], file)
	case strings.HasPrefix(rule, "/"):
		return matchesBelow(project, rule[1:], file) || matchesBelow("/", rule[1:], file)
	}
	rule = strings.TrimPrefix(rule, "./")
	if !strings.Contains(strings.TrimSuffix(rule, "/"), "/") {
		rule = "**/" + rule
	}
	return matchesBelow(c.Session.Cwd, rule, file)
}

// matchesBelow reports whether a pattern, relative to dir, matches a file or a directory
// that contains the file.
func matchesBelow(dir, pattern, file string) bool {
	name, err := filepath.Rel(dir, file)
	if err != nil || name == ".." || strings.HasPrefix(name, "../") {
		return false
	}
	var re strings.Builder
	for rest := strings.TrimSuffix(pattern, "/"); rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**/"):
			re.WriteString("(?:.*/)?")
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			re.WriteString(".*")
			rest = rest[2:]
		case rest[0] == '*':
			re.WriteString("[^/]*")
			rest = rest[1:]
		case rest[0] == '?':
			re.WriteString("[^/]")
			rest = rest[1:]
		default:
			re.WriteString(regexp.QuoteMeta(rest[:1]))
			rest = rest[1:]
		}
	}
	matched, err := regexp.MatchString("^"+re.String()+"(?:/.*)?$", filepath.ToSlash(name))
	return matched && err == nil
}
