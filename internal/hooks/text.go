package hooks

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// decode turns bytes into text as a browser does: each ill-formed sequence, and
// each truncated one as a whole, is one U+FFFD. It is called once per stream,
// never per chunk, so that a character split over two writes survives.
func decode(b []byte) string {
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

// illFormed returns the length of the longest beginning of b that could have
// become a character, at least one byte.
func illFormed(b []byte) int {
	for n := min(len(b), utf8.UTFMax-1); n > 1; n-- {
		if !utf8.FullRune(b[:n]) {
			return n
		}
	}
	return 1
}

// trim removes what String.prototype.trim removes: a byte order mark too, and
// not U+0085.
func trim(s string) string { return strings.TrimFunc(s, isScriptSpace) }

func isScriptSpace(r rune) bool {
	return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
}

// firstLine shortens text to what fits into one line of a report.
func firstLine(s string, width int) string {
	s, _, cut := strings.Cut(strings.TrimSpace(s), "\n")
	if runes := []rune(s); len(runes) > width {
		return string(runes[:width]) + "…"
	}
	if cut {
		s += " …"
	}
	return s
}

// plural returns the ending of a noun that n things share.
func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// compareCodeUnits orders texts as JavaScript sorts strings: by UTF-16 code
// unit, which differs from the order of bytes beyond the basic plane.
func compareCodeUnits(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// listOfTexts returns the texts as a JSON array.
func listOfTexts(texts []string) jsontext.Value {
	values := make([]jsontext.Value, len(texts))
	for i, t := range texts {
		values[i] = quote(t)
	}
	return list(values)
}
