// Package jsregex compiles regular expressions as JavaScript's new RegExp(pattern) does:
// agents that are written in JavaScript read matchers in this way.
//
// The engine is regexp2 in ECMAScript mode. This package adds what that mode lacks:
// it rejects the groups that JavaScript rejects, and it matches by UTF-16 code unit,
// so that a character outside the basic multilingual plane counts as two.
//
// Flags and positions of matches are not supported. An escape from \uD800 to \uDFFF in a
// pattern matches nothing.
package jsregex

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/dlclark/regexp2/v2"
)

// matchTimeout is the time limit of one match, because a pattern can backtrack for
// exponential time.
const matchTimeout = 250 * time.Millisecond

var (
	// ErrSyntax is returned when JavaScript would throw a SyntaxError.
	ErrSyntax = errors.New("not a valid JavaScript regular expression")
	// ErrGaveUp is returned when a match takes longer than matchTimeout.
	ErrGaveUp = errors.New("the regular expression backtracks for too long")
)

// Regexp is a compiled pattern. It is safe for concurrent use.
type Regexp struct {
	literal string // the pattern, if it has no metacharacter
	engine  *regexp2.Regexp
}

// Compile compiles a pattern. ErrSyntax is returned when it is invalid.
func Compile(pattern string) (*Regexp, error) {
	if isLiteral(pattern) {
		return &Regexp{literal: pattern}, nil
	}
	if group := nonScriptGroup(pattern); group != "" {
		return nil, fmt.Errorf("%w: invalid group %q", ErrSyntax, group)
	}
	engine, err := regexp2.Compile(codeUnits(pattern), regexp2.ECMAScript)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	engine.MatchTimeout = matchTimeout
	return &Regexp{engine: engine}, nil
}

// Match reports whether the pattern matches anywhere in s. The only error is
// ErrGaveUp.
func (r *Regexp) Match(s string) (bool, error) {
	if r.engine == nil {
		return strings.Contains(s, r.literal), nil
	}
	matched, err := r.engine.MatchString(codeUnits(s))
	if err != nil {
		return false, ErrGaveUp
	}
	return matched, nil
}

// isLiteral reports whether a pattern has no metacharacter. Most matchers are the name of a
// tool, and compiling one with regexp2 costs more than the match.
func isLiteral(pattern string) bool {
	return !strings.ContainsFunc(pattern, func(c rune) bool {
		word := c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		return !word
	})
}

// nonScriptGroup returns the opening of the first group that regexp2 accepts and JavaScript
// rejects, such as (?i), (?P<n>, (?> or (?#. It returns "" if there is none.
func nonScriptGroup(pattern string) string {
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
			if rest := pattern[i:]; !inClass && strings.HasPrefix(rest, "(?") && !isScriptGroup(rest[2:]) {
				return rest[:min(len(rest), 4)]
			}
		}
	}
	return ""
}

func isScriptGroup(afterQuestionMark string) bool {
	return afterQuestionMark != "" && strings.ContainsRune(":=!<", rune(afterQuestionMark[0]))
}

// codeUnits maps every UTF-16 code unit of s to one rune. Halves of surrogate pairs, which
// UTF-8 cannot represent, become private-use runes of plane 16.
func codeUnits(s string) string {
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
