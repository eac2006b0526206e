package lint

import (
	"fmt"
	"strings"
	"time"

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
	case unit == time.Second && h.Timeout >= 1000*time.Second && h.Timeout%(1000*time.Second) == 0:
		c.add(at, Warning, fmt.Sprintf("the timeout is %v: %s counts in seconds, not milliseconds", h.Timeout, c.Dialect.Title))
	case unit == time.Millisecond && h.Timeout < time.Second:
		c.add(at, Warning, fmt.Sprintf("the timeout is %v: %s counts in milliseconds, not seconds", h.Timeout, c.Dialect.Title))
	}
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
	if !strings.Contains(pattern, "mcp_") && !c.matchesAny(h) {
		c.add(at, Warning, fmt.Sprintf("the matcher %q matches no tool of %s%s", pattern, c.Dialect.Title, c.meant(pattern)))
	}
}

func (c *check) matchesAny(h hooks.Hook) bool {
	for _, tool := range append(c.Dialect.Tools(), "mcp__server__tool") {
		if h.Matches(tool) {
			return true
		}
	}
	return false
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
