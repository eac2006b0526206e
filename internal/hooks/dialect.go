package hooks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const commandType = "command"

// ErrDialect means that there is no dialect of that name.
var ErrDialect = errors.New("unknown dialect")

// Dialect is everything in which agents differ. The zero value is of no use; the
// dialects there are come from LLxprt, Gemini and Claude.
type Dialect struct {
	Name  string
	Title string // for people

	rules map[string]rule

	// The configuration.

	files      func(Where) []Place  // settings files, the one that counts most first
	extensions func(Where) []string // directories of extensions
	plugins    bool                 // there is a registry of plugins
	comments   bool                 // settings files may hold comments
	tools      []string             // the names of the agent's own tools

	enabled     func(settings object) bool // whether settings switch hooks on
	toEnable    string                     // what to write into settings for that
	disabled    func(settings object) []string
	settings    []string // members of hooks that are no event
	types       []string // handler types that are accepted
	timeout     time.Duration
	timeoutUnit time.Duration
	sequential  bool // groups may ask for sequence
	execForm    bool // args make command a program
	handlerEnv  bool // a hook may add to the environment
	async       bool // a hook may be started and not waited for
	matcher     func(string) matcher
	otherwise   func(string) matcher // for subjects that are no tool
	identity    func(Hook) string    // hooks with the same one run once

	// The process.

	variables  func(Session, Hook) []Variable // set for the hook, and expanded in its command
	timestamps bool                           // standard input has a timestamp

	// What a hook said.

	interpret      func(rule, outcome) (said Output, isSaid bool, notes []string)
	inputField     string                         // where a changed tool input is
	applyInput     func(given, new object) object // how it is applied
	toModel        bool                           // system messages are for the model
	context        func(string) string            // how context is shown to the model
	tool           toolEvents
	answersUnasked bool // BeforeModel may answer without blocking
}

// toolEvents are the events around a tool, and what becomes of its result when a
// hook blocks after it ran.
type toolEvents struct {
	before, after string
	blockedAfter  func(result, reason string) string
}

// Named returns the dialect of a name: llxprt, gemini or claude.
func Named(name string) (Dialect, error) {
	dialects := map[string]func() Dialect{"llxprt": LLxprt, "gemini": Gemini, "claude": Claude}
	if dialect, ok := dialects[name]; ok {
		return dialect(), nil
	}
	return Dialect{}, fmt.Errorf("%w %q: there are llxprt, gemini and claude", ErrDialect, name)
}

// Events returns the names of the events the dialect knows, sorted.
func (d Dialect) Events() []string { return slices.Sorted(maps.Keys(d.rules)) }

// Knows reports whether the dialect has the event.
func (d Dialect) Knows(event string) bool { _, ok := d.rules[event]; return ok }

// Subject returns the field of the event's input that matchers are tested on,
// "" if the event ignores them.
func (d Dialect) Subject(event string) string { return d.rules[event].subject }

// Tools returns the names of the agent's own tools.
func (d Dialect) Tools() []string { return slices.Clone(d.tools) }

// Variables returns what is set for a hook, and expanded in its command.
func (d Dialect) Variables(s Session, h Hook) []Variable { return d.variables(s, h) }

// Same reports whether two hooks are one handler, which runs once.
func (d Dialect) Same(a, b Hook) bool { return d.identity(a) == d.identity(b) }

// ToEnable says what settings must hold for hooks to run.
func (d Dialect) ToEnable() string { return d.toEnable }

// SystemMessagesReach says who reads system messages: the model or the user.
func (d Dialect) SystemMessagesReach() string {
	if d.toModel {
		return "the model"
	}
	return "the user"
}

// IsToolEvent reports whether matchers of the event are tested on a tool's name.
func (d Dialect) IsToolEvent(event string) bool { return d.rules[event].subject == "tool_name" }

// TimeoutUnit returns what a timeout of 1 is.
func (d Dialect) TimeoutUnit() time.Duration { return d.timeoutUnit }

func (d Dialect) isSetting(name string) bool { return slices.Contains(d.settings, name) }

func (d Dialect) unitName() string {
	if d.timeoutUnit == time.Second {
		return "seconds"
	}
	return "milliseconds"
}

// matcherOf returns how matchers of an event are read.
func (d Dialect) matcherOf(event string) func(string) matcher {
	if subject := d.rules[event].subject; subject != "" && subject != "tool_name" {
		return d.otherwise
	}
	return d.matcher
}

// Matches reports whether a matcher of an event is for a subject, such as a
// tool's name.
func (d Dialect) Matches(event, pattern, subject string) bool {
	matched, _ := compile(pattern, d.matcherOf(event))(subject)
	return matched
}

// sameEvent returns the names by which dialects call the same event.
func sameEvent(event string) []string {
	for _, names := range [][]string{
		{BeforeTool, "PreToolUse"},
		{AfterTool, "PostToolUse"},
		{"BeforeAgent", "UserPromptSubmit"},
		{"AfterAgent", "Stop"},
		{"PreCompress", "PreCompact"},
	} {
		if slices.Contains(names, event) {
			return names
		}
	}
	return nil
}

// suggest names the event that was probably meant.
func (d Dialect) suggest(event string) string {
	for _, name := range sameEvent(event) {
		if d.Knows(name) {
			return fmt.Sprintf("; %s calls it %s", d.Title, name)
		}
	}
	for _, known := range d.Events() {
		if strings.EqualFold(known, event) {
			return fmt.Sprintf("; it is spelled %s", known)
		}
	}
	return ""
}

// rulesOf indexes rules by their names.
func rulesOf(all ...rule) map[string]rule {
	byName := make(map[string]rule, len(all))
	for _, r := range all {
		byName[r.name] = r
	}
	return byName
}

// stringsIn returns the strings of an array member.
func stringsIn(o object, name string) []string {
	var found []string
	for _, item := range o.array(name) {
		if s, ok := stringOf(item); ok {
			found = append(found, s)
		}
	}
	return found
}
