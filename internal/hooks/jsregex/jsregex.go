// Package jsregex compiles regular expressions as JavaScript's new RegExp(pattern) does:
// agents that are written in JavaScript read matchers in this way.
//
// A pattern without flags is what ECMA-262 describes with its Annex B: no Unicode properties, no
// case folding, characters are UTF-16 code units. That is little enough to be matched here, by
// backtracking as the standard describes it. A library for it would build its tables of Unicode at
// each start of a hook, which matches nothing (docs/architecture.md, "One program for everything").
//
// Compile knows what Node.js 20 knows, CompileNew also what newer engines do: modifiers such as (?i:x),
// and one name for groups in different alternatives. Flags and positions of matches are not supported.
package jsregex

import (
	"errors"
	"time"
	"unicode/utf16"
)

// matchTimeout is the time limit of one match, because a pattern can backtrack for
// exponential time.
const matchTimeout = 250 * time.Millisecond

var (
	// ErrSyntax is returned when JavaScript would throw a SyntaxError.
	ErrSyntax = errors.New("not a valid JavaScript regular expression")
	// ErrGaveUp is returned when a match takes longer than matchTimeout, or more repetitions within
	// one another than maxDepth.
	ErrGaveUp = errors.New("the regular expression backtracks for too long")
)

// Regexp is a compiled pattern. It is safe for concurrent use.
type Regexp struct {
	match  matcher
	groups int // that capture
}

// Compile compiles a pattern. ErrSyntax is returned when it is invalid.
func Compile(pattern string) (*Regexp, error) { return compile(pattern, false) }

// CompileNew compiles a pattern of ECMAScript 2025.
func CompileNew(pattern string) (*Regexp, error) { return compile(pattern, true) }

func compile(pattern string, isNew bool) (*Regexp, error) {
	p := &parser{text: utf16.Encode([]rune(pattern)), isNew: isNew}
	p.countGroups()
	m, err := p.pattern()
	if err != nil {
		return nil, err
	}
	return &Regexp{match: m, groups: p.groups}, nil
}

// Match reports whether the pattern matches anywhere in s. The only error is
// ErrGaveUp.
func (r *Regexp) Match(s string) (bool, error) {
	m := &match{input: utf16.Encode([]rune(s)), groups: make([]span, r.groups), deadline: time.Now().Add(matchTimeout)}
	for at := 0; at <= len(m.input) && !m.gaveUp; at++ {
		for i := range m.groups {
			m.groups[i] = none()
		}
		if r.match(m, at, func(int) bool { return true }) && !m.gaveUp {
			return true, nil
		}
	}
	if m.gaveUp {
		return false, ErrGaveUp
	}
	return false, nil
}
