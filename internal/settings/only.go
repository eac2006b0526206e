package settings

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/permission"
)

// Only is the tools whose calls belong to steps, as far as they have no other hook.
type Only struct {
	Shell bool     // every command, not only this program's
	Tools []string // regular expressions for the names of other tools, sorted
}

// OnlyOf returns the tools of permission rules.
func OnlyOf(rules []string) (only Only) {
	for _, text := range rules {
		r, ok := permission.Parse(text)
		switch {
		case !ok, slices.Contains([]string{"Write", "Edit", "NotebookEdit"}, r.Tool):
		case permission.IsShell(r.Tool), r.Tool == "Monitor":
			only.Shell = true
		default:
			only.Tools = append(only.Tools, toolPattern(r.Tool))
		}
	}
	return only.With(Only{})
}

// toolPattern returns the regular expression for the tool of a rule.
func toolPattern(tool string) string {
	if permission.IsMCP(tool) && !strings.Contains(strings.TrimPrefix(tool, "mcp__"), "__") && !strings.Contains(tool, "*") {
		tool += "__*"
	}
	return strings.ReplaceAll(regexp.QuoteMeta(tool), `\*`, ".*")
}

// EveryOnly returns the tools that any rule may name.
func EveryOnly() Only {
	rules := []string{"mcp__*"}
	for _, tool := range permission.Tools() {
		if permission.CanBelong(tool) {
			rules = append(rules, tool)
		}
	}
	return OnlyOf(rules)
}

// With returns the tools of both.
func (o Only) With(more Only) Only {
	o.Shell = o.Shell || more.Shell
	o.Tools = slices.Concat(o.Tools, more.Tools)
	slices.Sort(o.Tools)
	o.Tools = slices.Compact(o.Tools)
	return o
}

// FindOnly returns the tools for which the settings have hooks of the steps, beyond those that
// they have without rules.
//
// Errors: those of Inspect.
func FindOnly(data []byte) (only Only, err error) {
	doc, err := parse(data)
	if err != nil {
		return only, err
	}
	found, err := doc.entries(Hooks(Program, nil, Duty{}))
	for _, e := range found {
		switch _, rest, hasMore := strings.Cut(e.matcher, listTools+"|"); {
		case e.event != client.PreToolUse:
		case e.matcher == "Bash", strings.HasPrefix(e.matcher, "Bash|Monitor"):
			only.Shell = only.Shell || e.condition == ""
		case hasMore:
			only.Tools = append(only.Tools, strings.Split(strings.TrimSuffix(rest, ")$"), "|")...)
		}
	}
	return only.With(Only{}), err
}

// Missing returns the tools of o that are not among those of have.
func (o Only) Missing(have Only) (tools []string) {
	if o.Shell && !have.Shell {
		tools = append(tools, "Bash")
	}
	for _, tool := range o.Tools {
		if !slices.Contains(have.Tools, tool) && !slices.ContainsFunc(have.Tools,
			func(h string) bool { return h == "mcp__.*" && strings.HasPrefix(tool, "mcp__") }) {
			tools = append(tools, tool)
		}
	}
	return tools
}
