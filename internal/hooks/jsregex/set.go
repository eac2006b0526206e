package jsregex

import (
	"math"
	"unicode"
)

// set is a set of UTF-16 code units: ranges, each with its first and last unit, or all others.
type set struct {
	ranges []unitRange
	not    bool

	anyCase bool // the modifier i
}

type unitRange struct{ first, last uint16 }

func (s set) has(unit uint16) bool {
	if s.anyCase {
		s.anyCase = false
		for c := unicode.SimpleFold(rune(unit)); c != rune(unit); c = unicode.SimpleFold(c) {
			if c <= math.MaxUint16 && canonical(c) == canonical(rune(unit)) && s.has(uint16(c)) != s.not {
				return !s.not
			}
		}
	}
	for _, r := range s.ranges {
		if r.first <= unit && unit <= r.last {
			return !s.not
		}
	}
	return s.not
}

func unit(c uint16) set { return set{ranges: []unitRange{{c, c}}} }

func digits() set { return set{ranges: []unitRange{{'0', '9'}}} }

func words() set {
	return set{ranges: []unitRange{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}}
}

func spaces() set {
	return set{ranges: []unitRange{
		{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029},
		{0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff},
	}}
}

func notNewline() set {
	return set{ranges: []unitRange{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}, not: true}
}

func isDigit(unit uint16) bool { return '0' <= unit && unit <= '9' }

func isWord(unit uint16) bool {
	return isDigit(unit) || unit == '_' || 'A' <= unit && unit <= 'Z' || 'a' <= unit && unit <= 'z'
}

// class returns the set of an escape such as \d, and whether it is one.
func class(letter uint16) (s set, ok bool) {
	switch letter | 0x20 {
	case 'd':
		s = digits()
	case 'w':
		s = words()
	case 's':
		s = spaces()
	default:
		return set{}, false
	}
	s.not = letter&0x20 == 0
	return s, true
}

// positive returns the ranges of a set that has no "not".
func (s set) positive() []unitRange {
	if !s.not {
		return s.ranges
	}
	var all []unitRange
	next := 0
	for _, r := range s.ranges { // in order
		if next < int(r.first) {
			all = append(all, unitRange{uint16(next), r.first - 1})
		}
		next = int(r.last) + 1
	}
	if next <= 0xffff {
		all = append(all, unitRange{uint16(next), 0xffff})
	}
	return all
}

// canonical returns the character that stands for c where case does not count. A character outside
// ASCII does not stand for one of ASCII.
func canonical(c rune) rune {
	if upper := unicode.ToUpper(c); c < unicode.MaxASCII || upper > unicode.MaxASCII {
		return upper
	}
	return c
}
