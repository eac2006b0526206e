package jsonx

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Decode turns bytes into text as TextDecoder does: each ill-formed sequence, and each
// truncated character as a whole, becomes one U+FFFD. Call it once for a whole stream, because
// a chunk may end within a character.
func Decode(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			size = illFormed(b)
		}
		out.WriteRune(r)
		b = b[size:]
	}
	return out.String()
}

// illFormed returns the length of the longest prefix of b that could have become a
// character, at least one byte.
func illFormed(b []byte) int {
	for n := min(len(b), utf8.UTFMax-1); n > 1; n-- {
		if !utf8.FullRune(b[:n]) {
			return n
		}
	}
	return 1
}

// Trim trims as String.prototype.trim does. Unlike strings.TrimSpace it removes a byte order
// mark, and keeps U+0085.
func Trim(s string) string { return strings.TrimFunc(s, isScriptSpace) }

func isScriptSpace(r rune) bool {
	return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
}

// Excerpt returns a JSON value for a message: without white space, and cut to 40 characters. An
// absent value, nil, is "missing".
func Excerpt(value jsontext.Value) string {
	if value == nil {
		return "missing"
	}
	if compact, ok := Parse(value); ok {
		value = compact
	}
	text := []rune(string(value))
	if len(text) > 40 {
		return string(text[:40]) + "…"
	}
	return string(text)
}

// Compare orders texts as JavaScript sorts strings: by UTF-16 code unit, which
// differs from the order of bytes beyond the basic multilingual plane.
func Compare(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}
