package rules

import (
	"strings"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/client"
)

// countWords counts the words of a text, up to a limit. Words are separated by spaces; so
// "can't" and "a->b" count once. In a script without spaces two letters count as a word, so
// that a text in such a script has about as many words as its translation.
func countWords(text string, limit int) int {
	n := 0
	for field := range strings.FieldsSeq(text) {
		letters := 0
		for _, r := range field {
			if client.Unspaced(r) {
				letters++
			}
		}
		if n += max(1, letters/2); n >= limit {
			return limit
		}
	}
	return n
}

// isWordRune reports whether r is a letter or a digit.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func notWordRune(r rune) bool { return !isWordRune(r) }
