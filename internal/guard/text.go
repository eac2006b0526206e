package guard

import (
	"strings"
	"unicode"
)

// oneLine turns every run of control characters into one space, so that what a
// file holds can neither forge a line of a log nor leave the line it is put in.
func oneLine(s string) string {
	if strings.IndexFunc(s, breaksLine) < 0 {
		return s
	}
	var b strings.Builder
	space := false
	for _, r := range s {
		if breaksLine(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// breaksLine holds for control characters and for the two separators that some
// readers take for a line's end.
func breaksLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// quotable makes a value safe inside the quoted lines of the state summary.
func quotable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '<' || r == '>' || r == '"' {
			return -1
		}
		return r
	}, oneLine(s))
}

// cutRunes returns the first n characters of s.
func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// units is the length of s as the client measures it, in UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
