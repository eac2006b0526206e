package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/jsregex"
)

// timeout looks for the other dialects' unit: a minute written as 60000 seconds,
// or as 60 milliseconds.
func (c *check) timeout(h hooks.Hook) {
	at := h.Pointer.AppendToken("timeout")
	if _, given := c.places["/hooks"+at]; !given {
		return
	}
	switch unit := c.Dialect.TimeoutUnit(); {
	case unit == time.Second && inMilliseconds(h.Timeout):
		c.add(at, Warning, fmt.Sprintf("the timeout is %v: %s counts in seconds, not milliseconds", h.Timeout, c.Dialect.Title))
	case unit == time.Millisecond && h.Timeout < time.Second:
		c.add(at, Warning, fmt.Sprintf("the timeout is %v: %s counts in milliseconds, not seconds", h.Timeout, c.Dialect.Title))
	}
}

// inMilliseconds reports whether a timeout in seconds looks like another unit's:
// a thousand and more, and round as milliseconds or not as minutes.
func inMilliseconds(timeout time.Duration) bool {
	return timeout >= 1000*time.Second && (timeout%(1000*time.Second) == 0 || timeout%time.Minute != 0)
}

// matcher looks for one that picks nothing, or is not looked at.
func (c *check) matcher(event string, h hooks.Hook) {
	pattern := strings.TrimSpace(h.Matcher)
	at := h.Pointer.Parent().Parent().AppendToken("matcher")
	switch {
	case pattern == "" || pattern == "*" || c.seen(at):
		return
	case c.Dialect.Subject(event) == "":
		c.add(at, Warning, fmt.Sprintf("%s ignores matchers: the hook runs on every %s", c.Dialect.Title, event))
		return
	case !c.Dialect.IsToolEvent(event):
		return
	}
	if _, err := jsregex.Compile(pattern); err != nil {
		c.add(at, Warning, fmt.Sprintf("the matcher %q is no regular expression and matches only a tool of exactly that name", pattern))
		return
	}
	if strings.Contains(pattern, "mcp_") {
		return // whatever servers there are
	}
	if !c.matchesAny(event, pattern) {
		c.add(at, Warning, fmt.Sprintf("the matcher %q matches no tool of %s%s", pattern, c.Dialect.Title, c.meant(pattern)))
		return
	}
	for _, name := range alternatives(pattern) {
		if !c.matchesAny(event, name) {
			c.add(at, Warning, fmt.Sprintf("%q in the matcher matches no tool of %s%s", name, c.Dialect.Title, c.meant(name)))
		}
	}
}

func (c *check) matchesAny(event, pattern string) bool {
	return slices.ContainsFunc(append(c.Dialect.Tools(), "mcp__server__tool"), func(tool string) bool {
		return c.Dialect.Matches(event, pattern, tool)
	})
}

// alternatives returns the names of a matcher that is a list of them, nil of any
// other.
func alternatives(pattern string) []string {
	isName := func(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }
	if strings.ContainsFunc(pattern, func(c rune) bool { return c != '|' && !isName(c) }) {
		return nil
	}
	return strings.FieldsFunc(pattern, func(c rune) bool { return c == '|' })
}

// meant names the tool that a matcher spells in another case.
func (c *check) meant(pattern string) string {
	for _, tool := range c.Dialect.Tools() {
		if strings.EqualFold(tool, pattern) {
			return fmt.Sprintf("; its name is %s", tool)
		}
	}
	return ""
}
