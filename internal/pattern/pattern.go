// Package pattern has patterns of paths, and regular expressions that are compiled when they are first used: a hook links
// every command, and would compile the expressions of all of them at each start.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression for a variable of a package. It is safe for concurrent use.
type Pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// New returns the pattern of a regular expression. The compiler makes the value, so the start of
// the program does nothing for it.
func New(text string) *Pattern { return &Pattern{text: text} }

// Regexp returns the compiled expression. It panics if the text is not a regular expression.
func (p *Pattern) Regexp() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}
