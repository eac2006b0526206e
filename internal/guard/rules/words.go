package rules

import (
	"strings"
	"unicode"

	segment "github.com/clipperhouse/uax29/v2/words"
)

// countWords counts the words of a text as Unicode divides it (UAX 29), up to a limit.
// A text in a language without spaces has as many words as one with them. What space
// does not separate counts once, "can't" and "a->b" too, unless it has letters of a
// script that is written without spaces.
func countWords(text string, limit int) int {
	n := 0
	for field := range strings.FieldsSeq(text) {
		if n >= limit {
			return limit
		}
		n += max(1, unspacedWords(field, limit-n))
	}
	return min(n, limit)
}

// unspacedWords counts the words of a field that has letters of a script without
// spaces, 0 for another.
func unspacedWords(field string, limit int) int {
	if !strings.ContainsFunc(field, unspaced) {
		return 0
	}
	n := 0
	for segments := segment.FromString(field); n < limit && segments.Next(); {
		if strings.ContainsFunc(segments.Value(), isWordRune) {
			n++
		}
	}
	return n
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
