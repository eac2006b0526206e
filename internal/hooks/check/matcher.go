package check

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/jsregex"
)

// timeout warns of a timeout in another dialect's unit: a minute as 60000 seconds, or as 60
// milliseconds.
func (f *file) timeout(h hooks.Hook) {
	at := h.Pointer.AppendToken("timeout")
	if _, present := f.offsets[f.base+at]; !present || f.reported(at) {
		return
	}
	switch unit := f.Dialect.Hooks.TimeoutUnit; {
	case unit == time.Second && inMilliseconds(h.Timeout):
		f.add(at, Warning, fmt.Sprintf("the timeout is %v: %s counts in seconds, not milliseconds", h.Timeout, f.Dialect.Title))
	case unit == time.Millisecond && h.Timeout < time.Second:
		f.add(at, Warning, fmt.Sprintf("the timeout is %v: %s counts in milliseconds, not seconds", h.Timeout, f.Dialect.Title))
	}
}

// inMilliseconds reports whether a timeout in seconds was probably meant in milliseconds: it
// is at least 1000, and it is either a multiple of 1000 or not a whole number of minutes.
func inMilliseconds(timeout time.Duration) bool {
	return timeout >= 1000*time.Second && (timeout%(1000*time.Second) == 0 || timeout%time.Minute != 0)
}

// matcher warns of a matcher that matches nothing or is ignored.
func (f *file) matcher(event string, h hooks.Hook) {
	e, _ := f.Dialect.Event(event)
	pattern := h.Matcher
	if f.Dialect.Hooks.ToolMatcher == dialect.MatchRegexp {
		pattern = strings.TrimSpace(pattern)
	}
	at := h.Pointer.Parent().Parent().AppendToken("matcher")
	switch {
	case pattern != "" && strings.TrimSpace(pattern) == "":
		f.add(at, Warning, "a matcher of white space matches nothing; leave it out to match everything")
		return
	case pattern == "" || pattern == "*" || f.reported(at):
		return
	case e.Subject == "":
		f.add(at, Warning, fmt.Sprintf("%s ignores matchers: the hook runs on every %s", f.Dialect.Title, event))
		return
	case e.Subject != dialect.ToolName:
		f.value(at, e, pattern)
		return
	}
	compile := jsregex.Compile
	if f.Dialect.Hooks.ToolMatcher == dialect.MatchNames {
		compile = jsregex.CompileNew
	}
	if _, err := compile(pattern); err != nil && f.Dialect.Hooks.ToolMatcher != dialect.MatchRustNames {
		f.add(at, Warning, fmt.Sprintf("the matcher %q is not a regular expression and matches only a tool of exactly that name", pattern))
		return
	}
	if strings.Contains(pattern, "mcp_") {
		f.server(at, pattern)
		return // the tools of a server are not known here
	}
	if !f.matchesAny(e, pattern) {
		f.add(at, Warning, fmt.Sprintf("the matcher %q matches no tool of %s%s", pattern, f.Dialect.Title, f.spellingHint(pattern)))
		return
	}
	for _, name := range alternatives(pattern) {
		if !f.matchesAny(e, name) {
			f.add(at, Warning, fmt.Sprintf("%q in the matcher matches no tool of %s%s", name, f.Dialect.Title, f.spellingHint(name)))
		}
	}
}

func (f *file) matchesAny(e dialect.Event, pattern string) bool {
	known := slices.Concat(f.Dialect.Tools, f.Dialect.Former, []string{"mcp__server__tool"})
	return slices.ContainsFunc(known, func(tool string) bool {
		return hooks.Matches(f.Dialect, e, pattern, tool)
	})
}

// alternatives returns the names in a matcher of names separated by |, nil for any other
// matcher.
func alternatives(pattern string) []string {
	isName := func(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }
	if strings.ContainsFunc(pattern, func(c rune) bool { return c != '|' && !isName(c) }) {
		return nil
	}
	return strings.FieldsFunc(pattern, func(c rune) bool { return c == '|' })
}

// spellingHint returns a hint, which begins with a semicolon, if a matcher is a tool's name in
// another case.
func (f *file) spellingHint(pattern string) string {
	for _, tool := range f.Dialect.Tools {
		if strings.EqualFold(tool, pattern) {
			return fmt.Sprintf("; its name is %s", tool)
		}
	}
	return ""
}
