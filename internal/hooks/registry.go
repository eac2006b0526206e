package hooks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Registry holds the valid hooks of a configuration, and the problems of the invalid ones.
type Registry struct {
	hooks    map[string][]Hook
	order    []string
	problems []Problem
}

// Events returns the events that have hooks, in the order of the configuration.
func (r *Registry) Events() []string { return slices.Clone(r.order) }

// Hooks returns the hooks of an event, ordered by scope.
func (r *Registry) Hooks(event string) []Hook { return slices.Clone(r.hooks[event]) }

// Problems returns the problems in the order of the configuration.
func (r *Registry) Problems() []Problem { return slices.Clone(r.problems) }

// Total returns the number of hooks of all events.
func (r *Registry) Total() int {
	total := 0
	for _, hooks := range r.hooks {
		total += len(hooks)
	}
	return total
}

// NewRegistry reads the sources. An invalid hook or group is dropped, and the others of its
// source are kept, unless the problem is fatal: then the source is dropped as a whole.
func NewRegistry(d dialect.Dialect, sources []Source) *Registry {
	r := &Registry{hooks: make(map[string][]Hook)}
	for _, s := range sources {
		reader := &sourceReader{dialect: d, source: s}
		reader.read()
		r.problems = append(r.problems, reader.problems...)
		if reader.dropsSource() {
			r.problems = append(r.problems, Problem{Source: s.Name, Dropped: true, Message: s.lost(d, len(reader.found))})
			continue
		}
		for _, h := range reader.found {
			r.add(h)
		}
	}
	for _, hooks := range r.hooks {
		slices.SortStableFunc(hooks, func(a, b Hook) int { return cmp.Compare(a.Scope, b.Scope) })
	}
	return r
}

// dropsFile reports whether an agent drops a whole source because of a mistake in it.
func dropsFile(d dialect.Dialect, s Source) bool {
	reader := &sourceReader{dialect: d, source: s}
	reader.read()
	return reader.dropsSource()
}

func (r *Registry) add(h Hook) {
	if !slices.Contains(r.order, h.Event) {
		r.order = append(r.order, h.Event)
	}
	r.hooks[h.Event] = append(r.hooks[h.Event], h)
}

// sourceReader reads one source.
type sourceReader struct {
	dialect  dialect.Dialect
	source   Source
	found    []Hook
	problems []Problem
	fatal    bool // a mistake in the current event drops the whole source
}

// dropsSource reports whether one of the problems is fatal to the whole source.
func (s *sourceReader) dropsSource() bool {
	return !s.source.Lenient && slices.ContainsFunc(s.problems, func(p Problem) bool { return p.Fatal })
}

func (s *sourceReader) read() {
	for _, what := range s.source.Mistakes {
		s.drop("", true, what)
	}
	if len(s.source.Hooks) == 0 || s.source.Hooks.Kind() == 'n' {
		return
	}
	events, ok := jsonx.ParseObject(s.source.Hooks)
	if !ok {
		s.drop("", s.fatal, "hooks: "+jsonx.Got(s.source.Hooks.Kind(), "an object of event names"))
		return
	}
	for name, value := range events.All() {
		s.event(name, value)
	}
}

func (s *sourceReader) event(name string, value jsontext.Value) {
	at := jsontext.Pointer("").AppendToken(name)
	groups, isArray := jsonx.Array(value)
	e, known := s.dialect.Event(name)
	s.fatal = e.DropsFile
	switch {
	case !known && (slices.Contains(s.dialect.Settings.NotEvent, name) || isComment(name, isArray)):
		return
	case !known:
		s.drop(at, false, fmt.Sprintf("unknown event %q: its hooks never run", name))
		return
	case !isArray:
		s.drop(at, s.fatal, jsonx.Got(value.Kind(), "an array of groups"))
		return
	}
	for i, group := range groups {
		s.group(e, at.AppendToken(fmt.Sprint(i)), group)
	}
}

// isComment reports whether a member beside the events is a comment: agents ignore what is not an
// event, whatever it is (measured with Claude Code 2.1.329, fact 170).
func isComment(name string, isArray bool) bool {
	return !isArray && strings.ContainsAny(name[:min(len(name), 1)], "_$/#")
}

func (s *sourceReader) group(e dialect.Event, at jsontext.Pointer, value jsontext.Value) {
	group, ok := jsonx.ParseObject(value)
	if !ok {
		s.drop(at, s.fatal, "a group: "+jsonx.Got(value.Kind(), "an object"))
		return
	}
	entries, ok := jsonx.Array(group.Get("hooks"))
	if !ok {
		s.drop(at, s.fatal && (group.Get("hooks") != nil || !s.dialect.Hooks.EmptyGroups), "a group has no array of hooks")
		return
	}
	pattern := group.Get("matcher")
	nullIsAbsent := s.dialect.Hooks.Entries == nil || s.dialect.Hooks.NullIsAbsent
	if pattern != nil && pattern.Kind() != '"' && (pattern.Kind() != 'n' || !nullIsAbsent) {
		s.drop(at.AppendToken("matcher"), s.fatal, "matcher: "+jsonx.Got(pattern.Kind(), "a string")+"; its group never runs")
		return
	}
	if sequential := group.Get("sequential"); s.dialect.Hooks.Sequential && sequential != nil && sequential.Kind() != 't' &&
		sequential.Kind() != 'f' {
		s.problems = append(s.problems, Problem{Source: s.source.Name, Pointer: at.AppendToken("sequential"), // the hook still runs
			Message: "sequential: " + jsonx.Got(sequential.Kind(), "a boolean") + "; it is read as false"})
	}
	shared := Hook{
		Event:      e.Name,
		Matcher:    group.Text("matcher"),
		Scope:      s.source.Scope,
		Source:     s.source.Name,
		Root:       s.source.Root,
		Data:       s.source.Data,
		Skill:      s.source.Skill,
		Options:    s.source.Options,
		inactive:   s.source.Inactive,
		sequential: s.dialect.Hooks.Sequential && group.IsTrue("sequential"),
		match:      matcherOf(s.dialect, e, group.Text("matcher")),
	}
	for i, entry := range entries {
		s.hook(at.AppendToken("hooks").AppendToken(fmt.Sprint(i)), shared, entry)
	}
}

func (s *sourceReader) hook(at jsontext.Pointer, h Hook, value jsontext.Value) {
	entry, ok := jsonx.ParseObject(value)
	if !ok {
		s.drop(at, s.fatal, "a hook: "+jsonx.Got(value.Kind(), "an object"))
		return
	}
	h.Pointer = at
	h.Type, h.Name, h.Command = entry.Text("type"), entry.Text("name"), entry.Text("command")
	h.Target = cmp.Or(entry.Text("url"), entry.Text("prompt"), entry.Text("tool"))
	if types := s.dialect.Hooks.Types; !slices.Contains(types, h.Type) {
		s.drop(at, s.fatal, fmt.Sprintf("the type of a hook is %s; known are %s", jsonx.Excerpt(entry.Get("type")), dialect.InWords(types)))
		return
	}
	if text, isText := jsonx.String(entry.Get("command")); h.Type == dialect.CommandType && text == "" {
		s.drop(at, s.fatal && !isText, "a hook of type command has no command")
		return
	}
	if field, why := s.dialect.EntryViolation(h.Type, entry); why != "" {
		place := at
		if entry.Has(field) {
			place = at.AppendToken(field)
		}
		s.drop(place, s.fatal, why+"; the hook never runs")
		return
	}
	if h.Type == dialect.RequestType && h.Target == "" {
		s.drop(at, s.fatal, "a hook of type http has no url")
		return
	}
	if slices.Contains(s.source.Disabled, h.Name) && h.Name != "" || slices.Contains(s.source.Disabled, h.Command) && h.Command != "" {
		s.drop(at, false, "the hook is disabled in the settings")
		return
	}
	if s.options(at, &h, entry) {
		s.found = append(s.found, h)
	}
}

// options reads the optional fields of a hook. It returns false if the hook is dropped.
func (s *sourceReader) options(at jsontext.Pointer, h *Hook, entry jsonx.Object) (kept bool) {
	rules := s.dialect.Hooks
	if h.Timeout, kept = s.timeout(at.AppendToken("timeout"), *h, entry.Get("timeout")); !kept {
		return false
	}
	h.Timeout = max(h.Timeout, rules.MinTimeout)
	if rules.Args && entry.Has("args") {
		h.Args = s.args(at.AppendToken("args"), entry.Get("args"))
	}
	if rules.Env {
		h.Env = environment(entry.Object("env"))
	}
	h.Shell = entry.Text("shell")
	h.Async = rules.Async && entry.IsTrue("async")
	h.Rewake = rules.Async && entry.IsTrue("asyncRewake")
	if rules.If {
		h.If = entry.Text("if")
	}
	if rules.OnFailure {
		h.OnFailure = entry.Text("onFailure")
	}
	h.Headers, h.AllowedEnv = entry.Object("headers"), entry.Strings("allowedEnvVars")
	return true
}

// timeout reads the field timeout; value is nil if there is none. It returns false if the
// hook is dropped.
func (s *sourceReader) timeout(at jsontext.Pointer, h Hook, value jsontext.Value) (timeout time.Duration, kept bool) {
	rules := s.dialect.Hooks
	e, _ := s.dialect.Event(h.Event)
	timeout = cmp.Or(e.Timeout, rules.Timeout)
	given, ok := parseTimeout(value, rules.TimeoutUnit)
	switch {
	case value == nil:
		return timeout, true
	case rules.PositiveTimeout && (!ok || value.Kind() != '0' || given == 0):
		s.drop(at, s.fatal, fmt.Sprintf("the timeout %s is not a positive number of %s; the hook never runs", jsonx.Excerpt(value),
			s.dialect.UnitName()))
		return 0, false
	case value.Kind() == 'n':
		return timeout, true
	case rules.WholeTimeout && rules.Entries[h.Type]["timeout"].Type == '0' && value.Kind() == '0' &&
		strings.ContainsAny(string(value), "-.eE"):
		s.drop(at, s.fatal, fmt.Sprintf("the timeout %s is not a whole number of %s", jsonx.Excerpt(value), s.dialect.UnitName()))
		return 0, false
	case !ok && rules.TimerLimit > 0:
		s.mistyped(at, fmt.Sprintf("the timeout %s is not a positive number of %s; it expires at once",
			jsonx.Excerpt(value), s.dialect.UnitName()))
		return 0, true
	case !ok:
		s.mistyped(at, fmt.Sprintf("the timeout %s is not a number of %s; %v is used", jsonx.Excerpt(value), s.dialect.UnitName(), timeout))
		return timeout, true
	case rules.TimerLimit > 0 && given > rules.TimerLimit:
		s.mistyped(at, fmt.Sprintf("the timeout %s is longer than a timer of %s can be, %d %s; it expires at once", jsonx.Excerpt(value),
			s.dialect.Title, rules.TimerLimit/rules.TimeoutUnit, s.dialect.UnitName()))
		return 0, true
	case value.Kind() == '"':
		s.mistyped(at, fmt.Sprintf("the timeout %s is a string, want a number; %v is used", jsonx.Excerpt(value), given))
	}
	return given, true
}

func (s *sourceReader) args(at jsontext.Pointer, value jsontext.Value) []string {
	items, ok := jsonx.Array(value)
	if !ok {
		s.mistyped(at, "args: "+jsonx.Got(value.Kind(), "an array"))
		return nil
	}
	args := make([]string, len(items))
	for i, item := range items {
		if args[i], ok = jsonx.String(item); !ok {
			s.mistyped(at.AppendToken(fmt.Sprint(i)), "an argument: "+jsonx.Got(item.Kind(), "a string"))
			args[i] = string(item)
		}
	}
	return args
}

// drop records that what at points to does not run.
func (s *sourceReader) drop(at jsontext.Pointer, isFatal bool, message string) {
	s.problems = append(s.problems, Problem{Source: s.source.Name, Pointer: at, Message: message, Dropped: true, Fatal: isFatal})
}

// mistyped records a wrong type, which matters only in an event whose mistakes are fatal.
func (s *sourceReader) mistyped(at jsontext.Pointer, message string) {
	s.problems = append(s.problems, Problem{Source: s.source.Name, Pointer: at, Message: message, Fatal: s.fatal})
}

// environment returns the members of o as variables.
func environment(o jsonx.Object) map[string]string {
	found := make(map[string]string, o.Len())
	for name, value := range o.All() {
		if s, ok := dialect.VariableText(value); ok {
			found[name] = s
		}
	}
	return found
}
