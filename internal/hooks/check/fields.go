package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
)

// fields warns of members that the agent does not know. It ignores them without a message,
// and most of them are misspelt.
func (f *file) fields() {
	events, _ := js.ParseObject(f.source.Hooks)
	groupFields := []string{"matcher", "hooks", "description"}
	if f.Dialect.Hooks.Sequential {
		groupFields = append(groupFields, "sequential")
	}
	for event, value := range events.All() {
		groups, _ := js.Array(value)
		for i, raw := range groups {
			at := jsontext.Pointer("").AppendToken(event).AppendToken(fmt.Sprint(i))
			group, _ := js.ParseObject(raw)
			f.unknown(at, group, groupFields)
			for j, entry := range group.Array("hooks") {
				o, _ := js.ParseObject(entry)
				place := at.AppendToken("hooks").AppendToken(fmt.Sprint(j))
				if f.Dialect.Hooks.Once && o.Has("once") && f.source.Skill == "" {
					f.add(place.AppendToken("once"), Warning, "once counts only in the frontmatter of a skill: here the hook runs every time")
				}
				f.unknown(place, o, f.Dialect.Hooks.Fields)
			}
		}
	}
}

func (f *file) unknown(at jsontext.Pointer, o js.Object, known []string) {
	for name := range o.All() {
		if slices.Contains(known, name) {
			continue
		}
		what := fmt.Sprintf("%s does not know %q and ignores it", f.Dialect.Title, name)
		if near := dialect.Near(name, known); near != "" {
			what += fmt.Sprintf("; did you mean %q", near)
		}
		f.add(at.AppendToken(name), Warning, what)
	}
}

// condition reports a permission rule that matches no call.
func (f *file) condition(event string, h hooks.Hook) {
	e, _ := f.Dialect.Event(event)
	if why := h.IfNeverMatches(e); why != "" {
		f.add(h.Pointer.AppendToken("if"), Error, why)
	}
}

// server warns of a matcher that names an MCP server as if it were a tool.
func (f *file) server(at jsontext.Pointer, pattern string) {
	for _, name := range strings.FieldsFunc(pattern, func(c rune) bool { return c == '|' || c == ',' || c == ' ' }) {
		parts := strings.Split(name, "__")
		if f.Dialect.Hooks.ToolMatcher == dialect.MatchNames && len(parts) == 2 && parts[0] == "mcp" && parts[1] != "" && dialect.IsNameList(pattern) {
			f.add(at, Warning, fmt.Sprintf("%q is a server, not a tool: the matcher matches nothing; write %s__.*", name, name))
		}
	}
}

// value warns of a matcher that matches none of the known values of its subject.
func (f *file) value(at jsontext.Pointer, e dialect.Event, pattern string) {
	matches := func(value string) bool { return hooks.Matches(f.Dialect, e, pattern, value) }
	if len(e.Values) == 0 || slices.ContainsFunc(e.Values, matches) {
		return
	}
	what := fmt.Sprintf("the matcher %q matches no %s of %s; known are %s", pattern, e.Subject, e.Name, dialect.InWords(e.Values))
	if near := dialect.Near(pattern, e.Values); near != "" {
		what += fmt.Sprintf("; did you mean %q", near)
	}
	f.add(at, Warning, what)
}
