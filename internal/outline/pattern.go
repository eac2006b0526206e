package outline

import (
	"regexp"
	"sync"
)

// pattern is an expression that is compiled at its first use: most runs of the program, which
// is also a hook, use none of them. As a variable it needs no initialisation.
type pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

func (p *pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re
}

// find returns the match and its groups, or nil.
func (p *pattern) find(text string) []string { return p.compiled().FindStringSubmatch(text) }

func (p *pattern) in(text string) bool { return p.compiled().MatchString(text) }

// without returns a text without what matches.
func (p *pattern) without(text string) string { return p.compiled().ReplaceAllString(text, "") }
