package rules

import (
	"strings"
	"unicode"

	segment "github.com/clipperhouse/uax29/v2/words"

	"github.com/fsmtx/fsmtx/internal/claude/turn"
)

// countWords counts the words of a text, up to a limit. Words are separated by spaces; so
// "can't" and "a->b" count once. A field with letters of a script without spaces is divided
// by the rules of Unicode (UAX 29), so that a text in such a script has about as many words
// as its translation.
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

// unspacedWords counts the words of a field that has letters of a script without spaces. It
// returns 0 for any other field.
func unspacedWords(field string, limit int) int {
	if !strings.ContainsFunc(field, turn.Unspaced) {
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

// isWordRune reports whether r is a letter or a digit.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func notWordRune(r rune) bool { return !isWordRune(r) }
