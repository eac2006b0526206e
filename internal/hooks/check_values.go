package hooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// timeout warns of a timeout in another dialect's unit: a minute as 60000 seconds, or as 60
// milliseconds.
func (f *file) timeout(h Hook) {
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
func (f *file) matcher(e dialect.Event, h Hook) {
	matcher := h.Matcher
	if f.Dialect.Hooks.ToolMatcher == dialect.MatchRegexp {
		matcher = strings.TrimSpace(matcher)
	}
	at := h.Pointer.Parent().Parent().AppendToken("matcher")
	switch {
	case matcher != "" && strings.TrimSpace(matcher) == "":
		f.add(at, Warning, "a matcher of white space matches nothing; leave it out to match everything")
		return
	case matcher == "" || matcher == "*" || f.reported(at):
		return
	case e.Subject == "":
		f.add(at, Warning, fmt.Sprintf("%s ignores matchers: the hook runs on every %s", f.Dialect.Title, e.Name))
		return
	case e.Subject != dialect.ToolName: // its values are not known here
		return
	}
	if _, err := CompileRegexp(matcher); err != nil && f.Dialect.Hooks.ToolMatcher != dialect.MatchRustNames {
		f.add(at, Warning, fmt.Sprintf("the matcher %q is not a regular expression and matches only a tool of exactly that name", matcher))
		return
	}
	if misses(matcher) {
		f.add(at, Warning, fmt.Sprintf("the matcher %q misses servers with an underscore in their name; write mcp__.+__", matcher))
	}
	isServer := strings.Contains(matcher, "mcp_") // whose tools are not known here
	if !isServer && !f.matchesAny(e, matcher) {
		f.add(at, Warning, fmt.Sprintf("the matcher %q matches no tool of %s", matcher, f.Dialect.Title))
	}
}

// misses reports whether the part of a matcher for the name of any MCP server has no underscore in it.
func misses(matcher string) bool {
	class := regexp.MustCompile(`mcp__\(?(\[[^\]]+\])[+*]`).FindStringSubmatch(matcher)
	if class == nil {
		return false
	}
	match, err := CompileRegexp(class[1])
	if err != nil {
		return false
	}
	matched, _ := match("_")
	return !matched
}

func (f *file) matchesAny(e dialect.Event, matcher string) bool {
	known := slices.Concat(f.Dialect.Tools, f.Dialect.Former, []string{"mcp__server__tool"})
	return slices.ContainsFunc(known, func(tool string) bool {
		return Matches(f.Dialect, e, matcher, tool)
	})
}
