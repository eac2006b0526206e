package message

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text escapes the characters of a text that are not safe to show: control characters other
// than line feed and tab, line and paragraph separators, invisible characters such as those
// that change the display order, and bytes that are not UTF-8.
//
// Two invisible characters are kept, U+200C and U+200D: several languages and emoji need
// them.
func Text(text string) string { return escape(text, isHarmful) }

// Line is like Text but also escapes line feeds and tabs, for a text that must stay on one
// line or in one cell of a table.
func Line(text string) string {
	return escape(text, func(r rune) bool { return r == '\n' || r == '\t' || isHarmful(r) })
}

// Block is like Text for a text that is inserted into a message of this program: it indents
// all lines but the first, so that none looks like a line of the message.
func Block(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	return strings.ReplaceAll(Text(text), "\n", "\n    ")
}

// Words is like Line but replaces each run of white space by one space. It is for prose,
// whose line breaks have no meaning.
func Words(text string) string { return Text(strings.Join(strings.Fields(text), " ")) }

// Clip returns the first n characters of a text, followed by "…" if that is not all of it.
// It escapes nothing.
func Clip(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i] + "…"
		}
		n--
	}
	return text
}

// FirstLine returns the first line of a text, clipped to n characters. It ends with "…" if
// that is not all of the text. It escapes nothing.
func FirstLine(text string, n int) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	clipped := Clip(line, n)
	if more && clipped == line {
		return line + " …"
	}
	return clipped
}

// JSON escapes the same characters as Text in a JSON text, as \u and four digits, so that
// the parsed values do not change. The strings of the JSON text must be valid UTF-8. Only
// strings can contain such characters; line feeds between the values are kept.
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

// isHarmful reports whether Text escapes a character.
func isHarmful(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7F
	case r == '\u200C', r == '\u200D':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
