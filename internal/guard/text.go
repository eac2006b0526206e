package guard

import (
	"strings"
	"unicode"
)

// OneLine replaces every run of control characters by one space, so that the
// content of a file can neither forge a line of a log nor break out of the line it
// is put in.
func OneLine(s string) string {
	if strings.IndexFunc(s, BreaksLine) < 0 {
		return s
	}
	var b strings.Builder
	pending := false
	for _, r := range s {
		if BreaksLine(r) {
			pending = true
			continue
		}
		if pending {
			b.WriteByte(' ')
			pending = false
		}
		b.WriteRune(r)
	}
	if pending {
		b.WriteByte(' ')
	}
	return b.String()
}

// BreaksLine reports whether r is a control character or one of the two
// separators that some readers take for the end of a line.
func BreaksLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// Truncate returns the first n characters of s.
func Truncate(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
