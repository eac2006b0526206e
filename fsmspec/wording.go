package fsmspec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many code points of the file's own text a message repeats.
const longest = 40

// quoted repeats text of the file in a message: on one line, and not all of it
// if it is long.
func quoted(text string) string { return strconv.QuoteToGraphic(short(text)) }

func short(text string) string {
	n := 0
	for i := range text {
		if n == longest {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// oneLine spells out whatever would break a line or a terminal.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var line []byte
	for _, r := range text {
		if unprintable(r) {
			escape := strconv.AppendQuoteRune(nil, r)
			line = append(line, escape[1:len(escape)-1]...)
			continue
		}
		line = utf8.AppendRune(line, r)
	}
	return string(line)
}

func unprintable(r rune) bool { return !unicode.IsGraphic(r) }

// called is a task in a message: task 3 ("Deploy").
func called(id int64, subject string) string {
	if subject == "" {
		return fmt.Sprintf("task %d", id)
	}
	return fmt.Sprintf("task %d (%s)", id, quoted(subject))
}

// value is a JSON value in a message, by its kind and its spelling.
func value(kind byte, raw string) string {
	switch kind {
	case 'n':
		return "null"
	case 't':
		return "true"
	case 'f':
		return "false"
	case '0':
		return "the number " + short(raw)
	case '"':
		return "the string " + oneLine(short(raw))
	case '{':
		return "an object"
	default:
		return "an array"
	}
}
