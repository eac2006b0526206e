package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/hooks/settings"
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
			if _, hasHooks := js.Array(group.Get("hooks")); !hasHooks {
				continue // reported
			}
			f.unknown(at, group, groupFields, nil)
			for j, entry := range group.Array("hooks") {
				o, _ := js.ParseObject(entry)
				place := at.AppendToken("hooks").AppendToken(fmt.Sprint(j))
				if f.Dialect.Hooks.Once && o.Has("once") && f.source.Skill == "" {
					f.add(place.AppendToken("once"), Warning, "once counts only in the frontmatter of a skill: here the hook runs every time")
				}
				fields, elsewhere := f.Dialect.EntryFields(o.Text("type"))
				if slices.Contains(f.Dialect.Hooks.Types, o.Text("type")) {
					f.unknown(place, o, fields, elsewhere)
				}
			}
		}
	}
}

func (f *file) unknown(at jsontext.Pointer, o js.Object, known []string, elsewhere map[string][]string) {
	for name := range o.All() {
		if slices.Contains(known, name) || isRemark(name) || elsewhere != nil && elsewhere[name] == nil && isForOther(name) {
			continue
		}
		what := fmt.Sprintf("%s does not know %q and ignores it", f.Dialect.Title, name)
		if types := elsewhere[name]; types != nil {
			what = fmt.Sprintf("%q counts only in hooks of type %s: %s ignores it here", name, dialect.InWords(types), f.Dialect.Title)
		}
		f.add(at.AppendToken(name), Warning, what)
	}
}

// isForOther reports whether an agent knows a field: agents share files of plugins.
func isForOther(name string) bool {
	return slices.ContainsFunc(dialect.All(), func(d dialect.Dialect) bool {
		fields, _ := d.EntryFields(dialect.CommandType)
		return slices.Contains(fields, name)
	})
}

// isRemark reports whether a member is obviously for readers of the file, and not for the agent.
func isRemark(name string) bool {
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, "$") || strings.HasPrefix(name, "//") || strings.HasPrefix(name, "#") ||
		slices.Contains([]string{"description", "comment", "comments", "note", "notes", "name", "id", "title", "label", "purpose"},
			strings.ToLower(name))
}

// outside reports events that stand beside the member hooks and not in it.
func (f *file) outside() {
	if f.text == nil {
		return
	}
	o, _ := js.ParseObject(f.text)
	for name, value := range o.All() {
		groups, isList := js.Array(value)
		if _, isEvent := f.Dialect.Event(name); isEvent && isList && len(groups) > 0 {
			f.addAt(f.offsets[jsontext.Pointer("").AppendToken(name)], Error,
				fmt.Sprintf("the event %s stands outside the member \"hooks\": its hooks never run", name))
		}
	}
}

// switches warns of a file that turns its own hooks off, or that has the switch of another agent.
func (f *file) switches() {
	if f.text == nil || settings.IsHooksFile(f.path) {
		return
	}
	if path, off := f.Dialect.TurnsOff(f.text); off {
		f.addAt(f.offsets[pointerTo(path)], Warning, fmt.Sprintf("%s turns hooks off: none of the hooks in this file runs",
			strings.Join(path, ".")))
	}
	for _, path := range f.Dialect.Settings.NotSwitches {
		if offset, ok := f.offsets[pointerTo(path)]; ok {
			f.addAt(offset, Warning, fmt.Sprintf("%s does not read %s: hooks run only with %s", f.Dialect.Title, strings.Join(path, "."),
				f.Dialect.Settings.ToEnable))
		}
	}
}

func pointerTo(path dialect.Path) jsontext.Pointer {
	at := jsontext.Pointer("")
	for _, name := range path {
		at = at.AppendToken(name)
	}
	return at
}

// condition reports a permission rule that matches no call.
func (f *file) condition(event string, h hooks.Hook) {
	e, _ := f.Dialect.Event(event)
	at := h.Pointer.AppendToken("if")
	switch why := h.IfNeverMatches(e); {
	case why != "":
		f.add(at, Error, why)
	case regexp.MustCompile(`\)\s*(?:or|OR|and|AND|\|\|?|&&|,|;)?\s*[A-Za-z_]+\(`).MatchString(h.If):
		f.add(at, Warning, fmt.Sprintf("an \"if\" is one rule: %q is read as one, up to the last parenthesis; write a hook for each rule", h.If))
	case regexp.MustCompile(`^(?:Read|Edit|Write|NotebookEdit)\(.*\{[^}]*,[^}]*\}`).MatchString(h.If):
		f.add(at, Warning, fmt.Sprintf("the \"if\" %q has braces, which stand for themselves in patterns of files; write a hook for each pattern",
			h.If))
	}
}

// server warns of a matcher that names an MCP server as if it were a tool.
func (f *file) server(at jsontext.Pointer, pattern string) {
	for _, name := range strings.FieldsFunc(pattern, func(c rune) bool { return c == '|' || c == ',' || c == ' ' }) {
		parts := strings.Split(name, "__")
		if len(parts) == 2 && parts[0] == "mcp" && parts[1] != "" && f.Dialect.Hooks.ToolMatcher.IsNameList(pattern) {
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
	f.add(at, Warning, fmt.Sprintf("the matcher %q matches no %s of %s; known are %s", pattern, e.Subject, e.Name, dialect.InWords(e.Values)))
}
