package permission

import (
	"slices"
	"strings"
	"unicode"
)

// Rule is a permission rule: Tool or Tool(Content).
type Rule struct {
	Tool    string
	Content string // what is in parentheses, without escapes; "" if every call of the tool matches
}

// Parse parses a permission rule. In the content a backslash escapes parentheses. ok is false
// for a text that is not a rule. The name of an MCP tool may have *.
func Parse(text string) (r Rule, ok bool) {
	if !strings.ContainsAny(text, "()") {
		return Rule{Tool: text}, IsToolName(text) || IsMCP(text) && IsToolName(strings.ReplaceAll(text, "*", "x"))
	}
	tool, rest, found := strings.Cut(text, "(")
	content, closed := strings.CutSuffix(rest, ")")
	if !found || !closed || strings.HasSuffix(content, `\`) || !IsToolName(tool) {
		return Rule{}, false
	}
	if content == "*" {
		content = ""
	}
	return Rule{tool, strings.NewReplacer(`\(`, "(", `\)`, ")", `\\`, `\`).Replace(content)}, true
}

// IsToolName reports whether a text can be the name of a tool.
func IsToolName(text string) bool {
	return text != "" && !strings.ContainsFunc(text,
		func(c rune) bool { return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// IsMCP reports whether a tool is one of an MCP server.
func IsMCP(tool string) bool { return strings.HasPrefix(tool, "mcp__") }

// Tools lists the tools that a rule can name, without those of MCP servers: those of Claude
// Code 2.1.329.
func Tools() []string {
	return []string{
		"Agent", "Artifact", "AskUserQuestion", "Bash", "ClaudeDesign", "CronCreate", "CronDelete", "CronList", "Edit", "EndConversation",
		"EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "ListAgents", "ListMcpResourcesTool", "LSP",
		"Monitor", "NotebookEdit", "OfferChromeSetup", "PowerShell", "Projects", "propose_skills", "PushNotification", "Read",
		"ReadMcpResourceDirTool", "ReadMcpResourceTool", "ReadNotifications", "RemoteTrigger", "ReportFindings", "ScheduleWakeup",
		"SendFeedback", "SendMessage", "SendUserFile", "SendUserMessage", "SetGoal", "ShareOnboardingGuide", "ShowOnboardingRolePicker",
		"Skill", "StructuredOutput", "SubagentHandback", "TaskCreate", "TaskGet", "TaskList", "TaskStop", "TaskUpdate", "TodoWrite",
		"ToolSearch", "WaitForMcpServers", "WebFetch", "WebSearch", "Workflow", "Write",
	}
}

// MatchTool reports whether the name of a tool matches that of a rule. A rule with the name of
// an MCP server alone is one for all its tools.
func (r Rule) MatchTool(tool string) bool {
	if !IsMCP(r.Tool) {
		return r.Tool == tool
	}
	if !strings.Contains(strings.TrimPrefix(r.Tool, "mcp__"), "__") && strings.HasPrefix(tool, r.Tool+"__") {
		return true
	}
	return MatchText(r.Tool, tool)
}

// MatchLine reports whether a rule for a shell matches a command: its words, joined by
// spaces. In the content * stands for any text; "git push:*" and "git push *" are git push with
// or without more words.
func (r Rule) MatchLine(command string) bool {
	if prefix, ok := strings.CutSuffix(r.Content, ":*"); ok && prefix != "" && !strings.Contains(prefix, "\n") {
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	}
	return r.Content == "" || MatchText(oneSpaced(r.Content), oneSpaced(command))
}

// oneSpaced returns a text with one space for several blanks, and none at its ends.
func oneSpaced(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' }), " ")
}

// MatchText reports whether a pattern matches a text. In a pattern * stands for any text, and a
// * that is its only one behind a space for any further words, or none. A backslash escapes a
// * and a backslash.
func MatchText(pattern, text string) bool {
	parts := literals(pattern)
	if last := len(parts) - 1; last == 1 && parts[1] == "" && strings.HasSuffix(parts[0], " ") && text == strings.TrimSuffix(parts[0], " ") {
		return true
	}
	return matchParts(parts, text)
}

// literals returns the texts between the stars of a pattern.
func literals(pattern string) []string {
	parts := []string{""}
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '*':
			parts = append(parts, "")
			continue
		case c == '\\' && i+1 < len(pattern) && (pattern[i+1] == '*' || pattern[i+1] == '\\'):
			i++
			c = pattern[i]
		}
		parts[len(parts)-1] += string([]byte{c})
	}
	return parts
}

// matchParts reports whether a text consists of the parts, with any text between them.
func matchParts(parts []string, text string) bool {
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return text == first
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// Words returns the words of the content before its first *: by them a person knows what the
// rule is about.
func (r Rule) Words() []string {
	return strings.Fields(strings.TrimSuffix(literals(r.Content)[0], ":"))
}

// AllWords returns the words between the stars of the content.
func (r Rule) AllWords() (words []string) {
	for _, text := range literals(strings.TrimSuffix(r.Content, ":*")) {
		words = append(words, strings.Fields(text)...)
	}
	return words
}

// MayHaveContent reports whether a rule for the tool may have something in parentheses here: a
// command, or a pattern for paths.
func MayHaveContent(tool string) bool { return IsShell(tool) || IsFileTool(tool) }

// IsShell reports whether a rule for the tool is about commands.
func IsShell(tool string) bool { return tool == "Bash" || tool == PowerShell }

// PowerShell is the tool that is the only shell where Windows has no Bash. A rule for Bash is about it, too.
const PowerShell = "PowerShell"

// IsFileTool reports whether a rule for the tool is about paths.
func IsFileTool(tool string) bool { return slices.Contains(FileTools(), tool) }

// FileTools lists the tools whose rules are about paths.
func FileTools() []string { return []string{"Write", "Edit", "NotebookEdit", "Read"} }

// CanBelong reports whether calls of a tool can belong to a step: not those of the tools without
// which a workflow cannot go on.
func CanBelong(tool string) bool {
	return !slices.Contains([]string{"AskUserQuestion", "Skill", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "ToolSearch"}, tool)
}
