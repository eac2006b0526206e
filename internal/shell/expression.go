package shell

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled at its first use: most runs of the
// program, which is also a hook, use none of them. As a variable it needs no initialisation.
type expression struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// in reports whether it matches somewhere in the text.
func (e *expression) in(text string) bool {
	e.once.Do(func() { e.re = regexp.MustCompile(e.text) })
	return e.re.MatchString(text)
}
