package fsmspec

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/permission"
)

// Limits of only.
const (
	// MaxRules is the largest number of rules of a step.
	MaxRules = 50
	// MaxRuleLength is the largest length of a rule, in characters.
	MaxRuleLength = 500
)

// onlyType is an array of permission rules.
type onlyType struct{}

func (onlyType) read(p *parser, e *entry, name string, t token) {
	e.mark(t.start, name)
	rules := &e.task.Only
	only := texts{`permission rules such as ["Bash(git push *)"]`, `permission rules such as "Bash(git push *)"`, "rules", MaxRules}
	if !p.texts(only, name, t, func(t token) { p.rule(rules, name, t) }) {
		return
	}
	if len(*rules) == 0 && !p.broken {
		p.emptyOnly(name, t)
	}
}

// emptyOnly notes that there is no rule, unless there was one that is wrong.
func (p *parser) emptyOnly(name string, t token) {
	if strings.Trim(string(p.data[t.start:p.end]), "[] \t\r\n") == "" {
		p.problem(t.start, "%s is empty: leave it out, or name the calls that belong to this step", name)
	}
}

// rule adds a permission rule.
func (p *parser) rule(rules *[]string, name string, t token) {
	text := p.text(t)
	wrong, suspect := ruleFault(text)
	if tool, empty := strings.CutSuffix(text, "()"); empty && wrong == "" { // older records may have it
		wrong = fmt.Sprintf("nothing is in the parentheses: write %s for all its calls", tool)
	}
	if r, ok := permission.Parse(text); ok && wrong == "" && permission.IsShell(r.Tool) && r.Content != "" && r.MatchLine("fsmtx complete 1") {
		wrong = "an agent without task tools works on the steps with these commands of fsmtx, so they cannot belong to one step"
	}
	p.ruleUses(name, text, t)
	switch {
	case wrong != "":
		p.problem(t.start, "%s: %s: %s", name, quoted(text), wrong)
	case slices.Contains(*rules, text):
		p.warn(t.start, "%s lists %s more than once", name, quoted(text))
	default:
		if suspect != "" {
			p.warn(t.start, "%s: %s: %s", name, quoted(text), suspect)
		}
		*rules = append(*rules, text)
	}
}

// RuleFault returns why a text is not a permission rule for calls that can belong to a step, or
// "".
func RuleFault(text string) string {
	wrong, _ := ruleFault(text)
	return wrong
}

// ruleFault returns why a text is not a rule for only, and what is suspicious about one that
// is.
func ruleFault(text string) (wrong, suspect string) {
	r, ok := permission.Parse(text)
	switch {
	case len([]rune(text)) > MaxRuleLength:
		return fmt.Sprintf("a rule may have at most %d characters", MaxRuleLength), ""
	case strings.ContainsFunc(text, unicode.IsControl) || strings.TrimSpace(text) != text:
		return "a rule cannot have control characters, or white space at its ends", ""
	case !ok && strings.HasPrefix(text, "mcp__") && strings.Contains(text, "("):
		return "a rule for an MCP tool is its name, such as mcp__github__create_issue or mcp__github__*, without parentheses", ""
	case !ok && !strings.ContainsAny(text, "()") && !isBlank(text):
		return fmt.Sprintf("want Tool, Tool(…) or mcp__server__tool; a command is written Bash(%s *)", strings.TrimRight(text, ":* ")), ""
	case !ok:
		return "want Tool, Tool(…) or mcp__server__tool, such as Bash(git push *)", ""
	}
	return toolFault(r)
}

// toolFault returns what is wrong with the tool of a rule, or with what is in its parentheses.
func toolFault(r permission.Rule) (wrong, suspect string) {
	meant := nearTool(r)
	switch {
	case permission.IsMCP(r.Tool) && r.Content == "":
		return mcpFault(r.Tool), ""
	case !permission.CanBelong(r.Tool):
		return "the workflow itself needs this tool, so it cannot belong to one step", ""
	case r.Tool == "MultiEdit":
		return "write Edit, which covers every tool that edits a file", ""
	case !slices.Contains(permission.Tools(), r.Tool) && meant != "":
		return fmt.Sprintf("there is no tool %s%s", quoted(r.Tool), didYouMean(meant)), ""
	case r.Content != "" && !permission.MayHaveContent(r.Tool):
		return fmt.Sprintf("only rules for Bash, PowerShell, %s may have something in parentheses: write %s for all its calls",
			strings.Join(permission.FileTools(), ", "), r.Tool), ""
	case permission.IsFileTool(r.Tool) && r.Content != "":
		return rulePathFault(r.Content), ""
	case permission.IsShell(r.Tool) && r.Content != "" && len(r.Words()) == 0 && strings.Trim(r.Content, "*: ") == "":
		return "write " + r.Tool + " for every command", ""
	case !slices.Contains(permission.Tools(), r.Tool):
		return "", "no tool is known by this name; one of an MCP server is written mcp__server__tool"
	}
	return "", ""
}

func mcpFault(tool string) string {
	server, _, _ := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	if strings.Trim(server, "_") == "" {
		return "want mcp__server__tool, or mcp__server__* for all tools of a server"
	}
	return ""
}

// rulePathFault returns why the text is not a pattern for the paths of a rule, or "".
func rulePathFault(text string) string {
	switch {
	case isBlank(text):
		return "the path is blank"
	case strings.Contains("/"+text+"/", "/../"):
		return ".. is not allowed: write the path from the project's directory, //path for one from the root, or ~/path"
	case strings.Contains(text, "$"):
		return "variables are not expanded: want a path from the project's directory (? stands for a $ in a name)"
	case strings.HasPrefix(text, "!"):
		return "a pattern cannot be negated: list what belongs to the step (? stands for a ! in a name)"
	case strings.Contains(text, "{"):
		return "nothing is replaced or expanded in a rule: write * for it, or a rule for each path (? stands for a { in a name)"
	}
	return pattern.ClassFault(text)
}

// nearTool returns the tool that the name in a rule probably means, or "". If the rule has
// something in parentheses, there are few that it can mean.
func nearTool(r permission.Rule) string {
	switch fold(cut(r.Tool)) {
	case "shell", "sh", "command", "run", "exec", "terminal":
		return "Bash"
	case "pwsh":
		return permission.PowerShell
	case "file", "writefile", "create":
		return "Write"
	case "task", "subagent":
		return "Agent"
	case "fetch", "http", "curl":
		return "WebFetch"
	}
	if meant := near(r.Tool, permission.Tools()); meant != "" || r.Content == "" {
		return meant
	}
	for _, tool := range append(permission.FileTools(), "Bash") {
		if message.Distance(fold(cut(r.Tool)), fold(tool), 3) < 3 {
			return tool
		}
	}
	return ""
}

// unreachedOnly warns that the calls of a step are refused until the workflow is over.
func (p *parser) unreachedOnly(e *entry, why string) {
	if len(e.task.Only) == 0 {
		return
	}
	at := e.places["only"]
	p.warnings.note(at, e, changesMeaning, func() (pointer, text string) {
		return e.pointer("only"), fmt.Sprintf("only: this step %s, so it never lets these calls through: unless another step lists them, "+
			"they are refused until the workflow is over", why)
	})
}

// onlyHere returns the line that tells the agent which calls belong to the step, or "".
func (t Task) onlyHere() string {
	if len(t.Only) == 0 {
		return ""
	}
	return "Only while this step is in progress: " + strings.Join(t.Only, ", ") + "."
}
