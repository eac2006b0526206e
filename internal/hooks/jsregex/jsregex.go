// Package jsregex compiles regular expressions as JavaScript's
// new RegExp(pattern), without flags, reads them: that is what users of agents
// written in JavaScript put into a matcher.
//
// The engine is regexp2 in ECMAScript mode. This package adds what that mode
// lacks: the groups that JavaScript refuses are refused, and text is matched by
// UTF-16 code unit, so that a character outside the basic plane counts as two.
//
// It is NOT for patterns with flags, NOT for finding where a match is, and a
// \uD800 to \uDFFF escape in a pattern matches nothing.
package jsregex

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/dlclark/regexp2/v2"
)

// Patience bounds one match: a backtracking pattern can take longer than
// anyone waits.
const Patience = 250 * time.Millisecond

var (
	// ErrSyntax means that JavaScript would throw a SyntaxError.
	ErrSyntax = errors.New("not a valid JavaScript regular expression")
	// ErrGaveUp means that a match took longer than Patience.
	ErrGaveUp = errors.New("the regular expression backtracks for too long")
)

// Regexp is a compiled pattern. It may be used by several goroutines.
type Regexp struct {
	literal string // all of a pattern that has no metacharacter
	engine  *regexp2.Regexp
}

// Compile returns the compiled pattern, or ErrSyntax with the reason.
func Compile(pattern string) (*Regexp, error) {
	if isLiteral(pattern) {
		return &Regexp{literal: pattern}, nil
	}
	if group := foreignGroup(pattern); group != "" {
		return nil, fmt.Errorf("%w: invalid group %q", ErrSyntax, group)
	}
	engine, err := regexp2.Compile(units(pattern), regexp2.ECMAScript)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	engine.MatchTimeout = Patience
	return &Regexp{engine: engine}, nil
}

// Match reports whether the pattern matches anywhere in s. The only error is
// ErrGaveUp.
func (r *Regexp) Match(s string) (bool, error) {
	if r.engine == nil {
		return strings.Contains(s, r.literal), nil
	}
	matched, err := r.engine.MatchString(units(s))
	if err != nil {
		return false, ErrGaveUp
	}
	return matched, nil
}

// isLiteral spares the common matcher, a tool's name, the engine and its clock.
func isLiteral(pattern string) bool {
	return !strings.ContainsFunc(pattern, func(c rune) bool {
		word := c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		return !word
	})
}

// foreignGroup returns the opening of the first group that other dialects know
// and JavaScript does not, such as (?i), (?P<n>, (?> or (?#.
func foreignGroup(pattern string) string {
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '(':
			if rest := pattern[i:]; !inClass && strings.HasPrefix(rest, "(?") && !nativeGroup(rest[2:]) {
				return rest[:min(len(rest), 4)]
			}
		}
	}
	return ""
}

func nativeGroup(afterQuestionMark string) bool {
	return afterQuestionMark != "" && strings.ContainsRune(":=!<", rune(afterQuestionMark[0]))
}

// units maps every UTF-16 code unit of s to a rune of its own: the halves of a
// surrogate pair, which no UTF-8 text can hold, to private runes of plane 16.
func units(s string) string {
	if isBasic(s) {
		return s
	}
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		if utf16.IsSurrogate(rune(unit)) {
			b.WriteRune(0x100000 + rune(unit))
			continue
		}
		b.WriteRune(rune(unit))
	}
	return b.String()
}

func isBasic(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c > 0xFFFF })
}
