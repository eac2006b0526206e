package jsonx

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// white holds the white space of JSON.
const white = " \t\r\n"

// hint returns how to correct a common mistake at the offset of a syntax error, "" if the
// mistake is not known.
func hint(data []byte, offset int) string {
	offset = min(offset, len(data))
	rest, before := data[offset:], bytes.TrimRight(data[:offset], white)
	char, _ := utf8.DecodeRune(rest)
	switch {
	case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("/*")):
		return "JSON has no comments: remove this one"
	case char == '\uFEFF':
		return "remove the byte order mark"
	case endsWith(before, ",") && (char == '}' || char == ']'):
		return "a trailing comma before it: remove that"
	case char == ',' && (len(bytes.TrimLeft(rest[1:], white)) == 0 || beginsWith(bytes.TrimLeft(rest[1:], white), "]}")):
		return "a trailing comma: remove it"
	case endsWith(before, "0") && len(before) == offset && unicode.IsDigit(char):
		return "a number cannot begin with 0"
	case (len(before) == 0 || endsWith(before, "[{,:")) && strings.ContainsRune("\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb", char):
		return `strings need straight double quotes (")`
	case (len(before) == 0 || endsWith(before, "[{,:")) && (unicode.IsLetter(char) || char == '\''):
		return "strings need double quotes"
	case unicode.IsLetter(char) && beginsWord(data[:offset]): // as in {fsm: 2}, whose f could begin false
		return "strings need double quotes"
	}
	return ""
}

// inString returns how to correct a string with the character at offset, which no string may contain, "" if
// that is not known.
func inString(data []byte, offset int) string {
	switch {
	case beginsWith(data[min(offset, len(data)):], "\r\n"):
		return `the string is not closed in its line: close it with a quote, or write the line break as \n`
	case beginsWith(data[min(offset, len(data)):], "\t"):
		return `in a string, write a tab as \t`
	case beginsWith(data[min(offset, len(data)):], `\`) && !beginsWith(data[min(offset+1, len(data)):], "u"):
		return `write / between the parts of a path, and a backslash as \\`
	}
	return ""
}

// unseparated returns how to correct the text at offset, which follows a value without a comma or
// the end of what the value is in, "" if that is not known.
func unseparated(data []byte, offset int) string {
	offset = min(offset, len(data))
	char, _ := utf8.DecodeRune(data[offset:])
	switch {
	case char == '}':
		return "remove it, or close the array before it with ]"
	case char == ']':
		return "remove it, or close the object before it with }"
	case endsWith(data[:offset], `"`) && (unicode.IsLetter(char) || unicode.IsDigit(char)):
		return `in a string, write a quote as \"`
	case unicode.IsDigit(char), strings.ContainsRune(`"[{-tfn`, char):
		return "a comma is missing before it"
	}
	return ""
}

// endOfFile returns the error for a text that ends too early. It names the string, or else the
// innermost array or object, that is not closed, if there is one.
func endOfFile(data []byte) error {
	var open []int // where strings, arrays and objects begin
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case quoted && c != '"':
		case c == '"' && quoted, c == ']' || c == '}':
			open, quoted = open[:max(len(open)-1, 0)], false
		case c == '"' || c == '[' || c == '{':
			open, quoted = append(open, i), c == '"'
		}
	}
	const what = "unexpected end of file"
	if len(open) == 0 {
		return errors.New(what)
	}
	last := open[len(open)-1]
	if quoted {
		return fmt.Errorf("%s: the string that begins at %s is not closed", what, PositionAt(data, last))
	}
	return fmt.Errorf("%s: the %c at %s is not closed", what, data[last], PositionAt(data, last))
}

// beginsWord reports whether a text ends in the beginning of true, false or null where a value may
// begin.
func beginsWord(text []byte) bool {
	rest := bytes.TrimRightFunc(text, unicode.IsLetter)
	before, word := bytes.TrimRight(rest, white), string(text[len(rest):])
	return word != "" && word != "true" && word != "false" && word != "null" && (len(before) == 0 || endsWith(before, "[{,:"))
}

func endsWith(text []byte, chars string) bool {
	return len(text) > 0 && strings.IndexByte(chars, text[len(text)-1]) >= 0
}

func beginsWith(text []byte, chars string) bool {
	return len(text) > 0 && strings.IndexByte(chars, text[0]) >= 0
}
