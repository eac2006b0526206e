package jsregex

import (
	"slices"
	"time"
)

// match is one try to match an input.
type match struct {
	input    []uint16
	groups   []span // what each group has captured
	deadline time.Time
	steps    int
	depth    int // repetitions within one another
	gaveUp   bool
}

// span is a part of the input; from is negative if a group has captured nothing.
type span struct{ from, to int }

func none() span { return span{-1, -1} }

// maxDepth bounds the repetitions within one another, and so the stack.
const maxDepth = 50_000

// matcher reports whether a part of the pattern matches at a position and next accepts the position
// behind it; within a lookbehind, which is matched backwards, the position before it. If it returns
// false the groups are as they were.
type matcher func(m *match, at int, next func(at int) bool) bool

// tick counts a step. It reports whether the match has to be given up; then its result does not count.
func (m *match) tick() bool {
	if m.steps++; m.steps%1024 == 0 && time.Now().After(m.deadline) {
		m.gaveUp = true
	}
	return m.gaveUp
}

// empty matches the empty text.
func empty(_ *match, at int, next func(int) bool) bool { return next(at) }

// sequence matches the parts one after the other, backwards from the last.
func sequence(parts []matcher, back bool) matcher {
	if back {
		slices.Reverse(parts)
	}
	if len(parts) == 0 {
		return empty
	}
	all := parts[len(parts)-1]
	for _, first := range slices.Backward(parts[:len(parts)-1]) {
		rest := all
		all = func(m *match, at int, next func(int) bool) bool {
			return first(m, at, func(at int) bool { return rest(m, at, next) })
		}
	}
	return all
}

// either matches one of the alternatives, the first that lets the rest match.
func either(alternatives []matcher) matcher {
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return func(m *match, at int, next func(int) bool) bool {
		for _, a := range alternatives {
			if a(m, at, next) {
				return true
			}
		}
		return false
	}
}

// one matches a code unit of a set.
func one(s set, back bool) matcher {
	return func(m *match, at int, next func(int) bool) bool {
		after, ok := s.step(m.input, at, back)
		return ok && !m.tick() && next(after)
	}
}

// step returns the position behind a code unit of the set.
func (s set) step(input []uint16, at int, back bool) (after int, ok bool) {
	if back {
		return at - 1, at > 0 && s.has(input[at-1])
	}
	return at + 1, at < len(input) && s.has(input[at])
}

// capturing captures in group i what inner matches.
func capturing(i int, inner matcher, back bool) matcher {
	return func(m *match, at int, next func(int) bool) bool {
		return inner(m, at, func(end int) bool {
			before := m.groups[i]
			m.groups[i] = span{at, end}
			if back {
				m.groups[i] = span{end, at}
			}
			if next(end) {
				return true
			}
			m.groups[i] = before
			return false
		})
	}
}

// again matches what group i has captured, and the empty text if it has captured nothing.
func again(i int, back, anyCase bool) matcher {
	return func(m *match, at int, next func(int) bool) bool {
		g := m.groups[i]
		if g.from < 0 {
			return next(at)
		}
		text := m.input[g.from:g.to]
		from, to := at, at+len(text)
		if back {
			from, to = at-len(text), at
		}
		if from < 0 || to > len(m.input) || m.tick() || !slices.EqualFunc(m.input[from:to], text, func(a, b uint16) bool {
			return a == b || anyCase && canonical(rune(a)) == canonical(rune(b))
		}) {
			return false
		}
		if back {
			return next(from)
		}
		return next(to)
	}
}

// look matches the empty text where inner matches, or does not match. Once inner has matched, no
// other way to match it is tried.
func look(inner matcher, want bool) matcher {
	return func(m *match, at int, next func(int) bool) bool {
		before := slices.Clone(m.groups)
		found := inner(m, at, func(int) bool { return true })
		if found && !want {
			copy(m.groups, before)
		}
		if found == want && next(at) {
			return true
		}
		copy(m.groups, before)
		return false
	}
}

// where matches the empty text at the positions for which holds returns true.
func where(holds func(input []uint16, at int) bool) matcher {
	return func(m *match, at int, next func(int) bool) bool { return holds(m.input, at) && next(at) }
}

func atStart(_ []uint16, at int) bool { return at == 0 }
func atEnd(in []uint16, at int) bool  { return at == len(in) }

func atBoundary(input []uint16, at int) bool {
	before := at > 0 && isWord(input[at-1])
	after := at < len(input) && isWord(input[at])
	return before != after
}

// repeat is a part of the pattern with a quantifier.
type repeat struct {
	inner       matcher
	single      *set // that inner matches one unit of; nil if it matches something else
	min, max    int  // max is -1 if there is none
	lazy, back  bool
	first, last int // the groups within are those from first to before last
}

func (r repeat) matcher() matcher {
	if r.single != nil {
		return r.units
	}
	return func(m *match, at int, next func(int) bool) bool { return r.from(m, at, r.min, r.max, next) }
}

// units repeats a single code unit, without going deeper for each.
func (r repeat) units(m *match, at int, next func(int) bool) bool {
	ends, n := at, 0
	grow := func() bool {
		after, ok := r.single.step(m.input, ends, r.back)
		if !ok || n == r.max || m.tick() {
			return false
		}
		ends, n = after, n+1
		return true
	}
	for n < r.min {
		if !grow() {
			return false
		}
	}
	if r.lazy {
		for !next(ends) {
			if !grow() {
				return false
			}
		}
		return true
	}
	for grow() {
	}
	for {
		if next(ends) {
			return true
		}
		if n == r.min || m.tick() {
			return false
		}
		n--
		if ends--; r.back {
			ends += 2
		}
	}
}

// from repeats inner at least min times more and at most max. A repetition that is not required and
// matches the empty text does not count. Each forgets what its groups have captured before.
func (r repeat) from(m *match, at, min, max int, next func(int) bool) bool {
	if m.depth >= maxDepth {
		m.gaveUp = true
	}
	if max == 0 {
		return next(at)
	}
	if m.tick() {
		return false
	}
	m.depth++
	defer func() { m.depth-- }()
	if min == 0 && r.lazy && next(at) {
		return true
	}
	before := slices.Clone(m.groups[r.first:r.last])
	for i := range before {
		m.groups[r.first+i] = none()
	}
	if r.inner(m, at, func(end int) bool {
		return (min > 0 || end != at) && r.from(m, end, max0(min-1), less(max), next)
	}) {
		return true
	}
	copy(m.groups[r.first:r.last], before)
	return min == 0 && !r.lazy && next(at)
}

func max0(n int) int { return max(n, 0) }

// less returns max less one; no limit stays none.
func less(max int) int {
	if max < 0 {
		return max
	}
	return max - 1
}
