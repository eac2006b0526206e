// Package visible is the one place that makes text safe to show: to a person in a
// terminal, to the model, in a log. Text that came from files, events, the environment
// and other programs may hold sequences that control a terminal, change the order in
// which text is shown, cannot be seen at all, or begin a line that looks like one of this
// program's own. Such characters are shown as escapes: \n, \x1b, \u202e.
//
// It has no state and imports no other package of this program.
package visible

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text escapes what must not be shown as it is in a text that may have several lines:
// control characters other than line feed and tab, characters that separate lines or
// paragraphs, invisible ones that change the order of text or stand for nothing, and
// bytes that are not UTF-8.
//
// Two invisible characters are kept, U+200C and U+200D: words of several languages, and
// emoji, are spelled with them.
func Text(text string) string { return escape(text, isHarmful) }

// Line is Text for what has to stay on one line and in one cell of a table: it escapes
// line feeds and tabs as well.
func Line(text string) string {
	return escape(text, func(r rune) bool { return r == '\n' || r == '\t' || isHarmful(r) })
}

// Block is Text for what is put into a text of this program's own: all lines but the first
// are indented, so that none can be taken for a line of that text.
func Block(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	return strings.ReplaceAll(Text(text), "\n", "\n    ")
}

// Words is Line for prose whose line breaks mean nothing: every run of white space
// becomes one space.
func Words(text string) string { return Text(strings.Join(strings.Fields(text), " ")) }

// JSON escapes the same characters in a JSON text whose strings are valid UTF-8, as \u
// followed by four digits, so that whoever parses it gets the true value. A JSON text has
// them in strings only, with the exception of its own line feeds, which stay.
func JSON(text []byte) []byte {
	if isPlain(string(text)) {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		switch {
		case !isHarmful(r):
			b = utf8.AppendRune(b, r)
		case r > 0xFFFF:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

func escape(text string, harmful func(rune) bool) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, harmful) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case harmful(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isPlain reports whether a text is ASCII without harmful characters.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf || isHarmful(rune(text[i])) {
			return false
		}
	}
	return true
}

func isHarmful(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7F
	case r == '\u200C', r == '\u200D':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
