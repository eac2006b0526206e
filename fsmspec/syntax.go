package fsmspec

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// explain says where the text after the last good token stops being JSON, and
// what was expected there. The decoder stops at the same place, but speaks of
// its grammar; this speaks of the file. The message is empty if the text is JSON.
func (r *reader) explain() (at int, message string) {
	at = r.skipSpace(r.end)
	top := r.open[len(r.open)-1]
	switch {
	case top.kind == '[':
		return r.explainElement(at, top)
	case top.kind == '{' && top.count%2 == 0:
		return r.explainKey(at, top)
	case top.kind == '{':
		return r.explainMember(at)
	default:
		return r.explainValue(at, r.root)
	}
}

func (r *reader) explainElement(at int, array frame) (int, string) {
	if array.count == 0 {
		return r.explainValue(at, "a value or ']'")
	}
	if r.byteAt(at) != ',' {
		return at, r.expected(at, "',' or ']' after the previous value") + r.glued(at)
	}
	return r.explainValue(r.skipSpace(at+1), "a value after ','")
}

func (r *reader) explainKey(at int, object frame) (int, string) {
	wanted := "a key in double quotes or '}'"
	if object.count > 0 {
		if r.byteAt(at) != ',' {
			return at, r.expected(at, "',' or '}' after the previous value") + r.glued(at)
		}
		at, wanted = r.skipSpace(at+1), "a key in double quotes after ','"
	}
	if r.byteAt(at) == '"' {
		return r.explainString(at)
	}
	return at, r.expected(at, wanted)
}

func (r *reader) explainMember(at int) (int, string) {
	if r.byteAt(at) != ':' {
		return at, r.expected(at, "':' after the key")
	}
	return r.explainValue(r.skipSpace(at+1), "a value after ':'")
}

func (r *reader) explainValue(at int, wanted string) (int, string) {
	switch c := r.byteAt(at); {
	case c == '{' || c == '[':
		return at, ""
	case c == '"':
		return r.explainString(at)
	case c == '-' || isDigit(c):
		return r.explainNumber(at)
	default:
		return r.explainWord(at, wanted)
	}
}

// explainWord is for what begins like no value, or like true, false or null.
func (r *reader) explainWord(at int, wanted string) (int, string) {
	word := r.word(at)
	switch word {
	case "true", "false", "null":
		return at, ""
	case "":
		return at, r.expected(at, wanted)
	}
	if at+len(word) == len(r.data) && isCut(word) {
		return len(r.data), r.expected(len(r.data), fmt.Sprintf("the rest of %q", word))
	}
	message := fmt.Sprintf("expected %s, found the word %s", wanted, quoted(word))
	if known := near(word, []string{"true", "false", "null"}); known != "" {
		return at, message + fmt.Sprintf(" (did you mean %s?)", known)
	}
	return at, message + " (a string is written in double quotes)"
}

func isCut(word string) bool {
	return strings.HasPrefix("true", word) || strings.HasPrefix("false", word) || strings.HasPrefix("null", word)
}

// explainString finds what ends the string at start too early, or never.
func (r *reader) explainString(start int) (int, string) {
	where := "in the string that begins at " + r.pos.At(start).String()
	for i := start + 1; i < len(r.data); i++ {
		switch c := r.data[i]; {
		case c == '"':
			return start, ""
		case c == '\n' || c == '\r':
			return i, "line break " + where + `: expected '"' before it, or \n in its place`
		case c < ' ':
			return i, fmt.Sprintf("control character U+%04X %s: write it as \\u%04x", c, where, c)
		case c == '\\':
			if message := r.escape(i); message != "" {
				return i, message + " " + where
			}
			i++
		}
	}
	return len(r.data), `unexpected end of file: expected '"' to close the string that begins at ` + r.pos.At(start).String()
}

// escape says what is wrong with the escape that begins at the backslash at i;
// one that the end of the file cuts off is not wrong but unclosed.
func (r *reader) escape(i int) string {
	rest := r.data[i+1:]
	if len(rest) == 0 || strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0 {
		return ""
	}
	if rest[0] != 'u' {
		return fmt.Sprintf(`invalid escape: expected one of " \ / b f n r t u after \, found %s`, found(r.data, i+1))
	}
	for n := 1; n <= 4 && n < len(rest); n++ {
		if !isHex(rest[n]) {
			return fmt.Sprintf(`invalid escape: expected four hexadecimal digits after \u, found %s`, found(r.data, i+1+n))
		}
	}
	return ""
}

// explainNumber finds where the number at start lacks a digit.
func (r *reader) explainNumber(start int) (int, string) {
	i := start
	if r.byteAt(i) == '-' {
		i++
	}
	if i = r.digits(i); !isDigit(r.data[i-1]) {
		return i, r.expected(i, "a digit after '-'")
	}
	if r.byteAt(i) == '.' {
		if i = r.digits(i + 1); !isDigit(r.data[i-1]) {
			return i, r.expected(i, "a digit after the decimal point")
		}
	}
	if c := r.byteAt(i); c != 'e' && c != 'E' {
		return start, ""
	}
	i++
	if sign := r.byteAt(i); sign == '+' || sign == '-' {
		i++
	}
	if i = r.digits(i); !isDigit(r.data[i-1]) {
		return i, r.expected(i, "a digit in the exponent")
	}
	return start, ""
}

// digits returns the offset after the digits at an offset.
func (r *reader) digits(at int) int {
	for isDigit(r.byteAt(at)) {
		at++
	}
	return at
}

// expected is the message for something else at an offset than what was wanted.
func (r *reader) expected(at int, wanted string) string {
	if at < len(r.data) {
		return fmt.Sprintf("expected %s, found %s", wanted, found(r.data, at))
	}
	message := "unexpected end of file: expected " + wanted
	switch top := r.open[len(r.open)-1]; top.kind {
	case '{':
		message += "; the object that begins at " + r.pos.At(top.at).String() + " is not closed"
	case '[':
		message += "; the array that begins at " + r.pos.At(top.at).String() + " is not closed"
	}
	return message
}

// glued adds to a message what is wrong if there is nothing at all between a
// value and what follows it.
func (r *reader) glued(at int) string {
	if at == r.end && r.end > 0 && r.data[r.end-1] == '0' && isDigit(r.byteAt(at)) {
		return " (a number may not begin with 0)"
	}
	return ""
}

// found names what stands at an offset.
func found(data []byte, at int) string {
	if at >= len(data) {
		return "the end of the file"
	}
	rest := data[at:]
	c, size := utf8.DecodeRune(rest)
	switch {
	case c == utf8.RuneError && size == 1:
		return fmt.Sprintf("the byte 0x%02x, which is no UTF-8", data[at])
	case bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")):
		return "a comment, which JSON does not have"
	case c == '\'':
		return "a single quote (a string is written in double quotes)"
	case c == '\uFEFF':
		return "a byte order mark"
	case unicode.IsGraphic(c) && !unicode.IsSpace(c):
		return fmt.Sprintf("'%c'", c)
	default:
		return fmt.Sprintf("the character U+%04X", c)
	}
}

// word returns the letters, digits and underscores at an offset.
func (r *reader) word(at int) string {
	end := at
	for isLetter(r.byteAt(end)) || isDigit(r.byteAt(end)) {
		end++
	}
	return string(r.data[at:end])
}

// byteAt returns 0 past the end; a NUL in the file is no token either.
func (r *reader) byteAt(at int) byte {
	if at < len(r.data) {
		return r.data[at]
	}
	return 0
}

func isDigit(b byte) bool  { return '0' <= b && b <= '9' }
func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' || b == '_' }
func isHex(b byte) bool    { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }
