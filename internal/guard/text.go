package guard

import (
	"strings"
	"unicode"
)

// OneLine replaces every run of control characters by one space, as the requirements
// prescribe for logs and messages. The content of a file can then neither forge a line of
// a log nor break out of its line.
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

// BreaksLine reports whether r is a control character or U+2028 or U+2029, which some
// programs treat as the end of a line.
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
