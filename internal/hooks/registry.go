package hooks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Registry holds the valid hooks of a configuration, event by event in the order
// of their sources, and what was wrong with the rest.
type Registry struct {
	hooks    map[string][]Hook
	order    []string
	problems []Problem
}

// Events returns the events that have hooks, in the order they were met.
func (r *Registry) Events() []string { return slices.Clone(r.order) }

// Hooks returns the hooks of an event: project first, extensions last.
func (r *Registry) Hooks(event string) []Hook { return slices.Clone(r.hooks[event]) }

// Problems returns what was wrong, in the order it was met.
func (r *Registry) Problems() []Problem { return slices.Clone(r.problems) }

// Total returns the number of hooks of all events.
func (r *Registry) Total() int {
	total := 0
	for _, hooks := range r.hooks {
		total += len(hooks)
	}
	return total
}

// NewRegistry reads the sources. Whatever is wrong is left out by itself, hook by
// hook and group by group, and never takes the rest with it; except in a strict
// source, where a fatal problem takes all of it.
func NewRegistry(d Dialect, sources []Source) *Registry {
	r := &Registry{hooks: make(map[string][]Hook)}
	for _, s := range sources {
		reader := &sourceReader{dialect: d, source: s}
		reader.read()
		r.problems = append(r.problems, reader.problems...)
		if s.Strict && slices.ContainsFunc(reader.problems, func(p Problem) bool { return p.Fatal }) {
			r.problems = append(r.problems, Problem{Source: s.Name, Dropped: true, Message: "the whole file is dropped for that"})
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

func (r *Registry) add(h Hook) {
	if !slices.Contains(r.order, h.Event) {
		r.order = append(r.order, h.Event)
	}
	r.hooks[h.Event] = append(r.hooks[h.Event], h)
}

// sourceReader reads one source.
type sourceReader struct {
	dialect  Dialect
	source   Source
	found    []Hook
	problems []Problem
}

func (s *sourceReader) read() {
	if len(s.source.Hooks) == 0 || s.source.Hooks.Kind() == 'n' {
		return
	}
	events, ok := parseObject(s.source.Hooks)
	if !ok {
		s.drop("", fatal, "hooks is no object of event names")
		return
	}
	for _, m := range events.members {
		s.event(m.name, m.value)
	}
}

func (s *sourceReader) event(name string, value jsontext.Value) {
	at := jsontext.Pointer("").AppendToken(name)
	groups, isArray := arrayOf(value)
	_, known := s.dialect.rules[name]
	switch {
	case !known && s.dialect.isSetting(name):
		return
	case !known:
		s.drop(at, fatal, fmt.Sprintf("unknown event %q: its hooks never run%s", name, s.dialect.suggest(name)))
		return
	case !isArray:
		s.drop(at, fatal, "the value of an event is no array of groups")
		return
	}
	for i, group := range groups {
		s.group(name, at.AppendToken(fmt.Sprint(i)), group)
	}
}

func (s *sourceReader) group(event string, at jsontext.Pointer, value jsontext.Value) {
	group, ok := parseObject(value)
	if !ok {
		s.drop(at, fatal, "a group is no object")
		return
	}
	entries, ok := arrayOf(group.get("hooks"))
	if !ok {
		s.drop(at, fatal, "a group has no array of hooks")
		return
	}
	pattern := group.get("matcher")
	if pattern != nil && pattern.Kind() != 'n' && pattern.Kind() != '"' {
		s.drop(at.AppendToken("matcher"), fatal, "the matcher is no string; its group never runs")
		return
	}
	if sequential := group.get("sequential"); s.dialect.sequential && sequential != nil && sequential.Kind() != 't' && sequential.Kind() != 'f' {
		s.note(at.AppendToken("sequential"), "sequential is neither true nor false and counts as false")
	}
	shared := Hook{
		Event:      event,
		Matcher:    group.text("matcher"),
		Scope:      s.source.Scope,
		Source:     s.source.Name,
		Root:       s.source.Root,
		Data:       s.source.Data,
		sequential: s.dialect.sequential && group.isTrue("sequential"),
		match:      compile(group.text("matcher"), s.dialect.matcherOf(event)),
	}
	for i, entry := range entries {
		s.hook(at.AppendToken("hooks").AppendToken(fmt.Sprint(i)), shared, entry)
	}
}

func (s *sourceReader) hook(at jsontext.Pointer, h Hook, value jsontext.Value) {
	entry, ok := parseObject(value)
	if !ok {
		s.drop(at, fatal, "a hook is no object")
		return
	}
	h.Pointer = at
	h.Type, h.Name, h.Command = entry.text("type"), entry.text("name"), entry.text("command")
	if !slices.Contains(s.dialect.types, h.Type) {
		s.drop(at, fatal, fmt.Sprintf("the type of a hook is %s; known are %s", shown(entry.get("type")), inWords(s.dialect.types)))
		return
	}
	if h.Type == commandType && h.Command == "" {
		s.drop(at, fatal, "a hook of type command has no command")
		return
	}
	if slices.Contains(s.source.Disabled, h.Name) && h.Name != "" || slices.Contains(s.source.Disabled, h.Command) && h.Command != "" {
		s.drop(at, harmless, "the hook is disabled in the settings")
		return
	}
	s.options(at, &h, entry)
	s.found = append(s.found, h)
}

// options reads the fields that a hook can do without.
func (s *sourceReader) options(at jsontext.Pointer, h *Hook, entry object) {
	h.Timeout = s.dialect.timeout
	if value := entry.get("timeout"); value != nil && value.Kind() != 'n' {
		timeout, ok := parseTimeout(value, s.dialect.timeoutUnit)
		switch {
		case !ok:
			s.mistyped(at.AppendToken("timeout"), fmt.Sprintf("the timeout %s is no number of %s; %v is used", shown(value), s.dialect.unitName(), h.Timeout))
		case value.Kind() == '"':
			h.Timeout = timeout
			s.mistyped(at.AppendToken("timeout"), "the timeout is a string")
		default:
			h.Timeout = timeout
		}
	}
	if s.dialect.execForm && entry.has("args") {
		h.Args = s.args(at.AppendToken("args"), entry.get("args"))
	}
	if s.dialect.handlerEnv {
		h.Env = texts(entry.object("env"))
	}
	h.Async = s.dialect.async && (entry.isTrue("async") || entry.isTrue("asyncRewake"))
}

func (s *sourceReader) args(at jsontext.Pointer, value jsontext.Value) []string {
	items, ok := arrayOf(value)
	if !ok {
		s.mistyped(at, "args is no array")
		return nil
	}
	args := make([]string, len(items))
	for i, item := range items {
		if args[i], ok = stringOf(item); !ok {
			s.mistyped(at.AppendToken(fmt.Sprint(i)), "an argument is no string")
			args[i] = string(item)
		}
	}
	return args
}

const (
	fatal    = true  // in a strict source the whole of it is dropped
	harmless = false // never
)

// drop records that what at points to will not run.
func (s *sourceReader) drop(at jsontext.Pointer, isFatal bool, message string) {
	s.problems = append(s.problems, Problem{s.source.Name, at, message, true, isFatal})
}

// note records what is odd and has no consequence.
func (s *sourceReader) note(at jsontext.Pointer, message string) {
	s.problems = append(s.problems, Problem{s.source.Name, at, message, false, harmless})
}

// mistyped records a wrong type that only a strict source minds.
func (s *sourceReader) mistyped(at jsontext.Pointer, message string) {
	s.problems = append(s.problems, Problem{s.source.Name, at, message, false, fatal})
}

// texts returns the members of o that are strings.
func texts(o object) map[string]string {
	found := make(map[string]string, len(o.members))
	for _, m := range o.members {
		if s, ok := stringOf(m.value); ok {
			found[m.name] = s
		}
	}
	return found
}

func shown(value jsontext.Value) string {
	if value == nil {
		return "missing"
	}
	return firstLine(string(value), 40)
}

func inWords(names []string) string {
	words := ""
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			words += " and "
		default:
			words += ", "
		}
		words += name
	}
	return words
}
