package fsmspec

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// members yields the members of the JSON object that data begins with, as they
// are spelled. It trusts data to be valid, so that it needs no grammar but
// brackets and quotes.
func members(data []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		at := skip(data, bytes.IndexByte(data, '{')+1)
		for data[at] == '"' {
			key := data[at:quoteEnd(data, at)]
			at = skip(data, at+len(key))
			value := data[at:valueEnd(data, at)]
			if !yield(key, value) {
				return
			}
			at = skip(data, at+len(value))
		}
	}
}

// skip returns the offset after what may lie between two tokens.
func skip(data []byte, at int) int {
	for isSpace(data[at]) || data[at] == ',' || data[at] == ':' {
		at++
	}
	return at
}

// quoteEnd returns the offset after the string at an offset.
func quoteEnd(data []byte, at int) int {
	for {
		at += 1 + bytes.IndexByte(data[at+1:], '"')
		if !isEscaped(data, at) {
			return at + 1
		}
	}
}

// isEscaped reports whether an odd number of backslashes precedes an offset.
func isEscaped(data []byte, at int) bool {
	start := at
	for data[start-1] == '\\' {
		start--
	}
	return (at-start)%2 == 1
}

// valueEnd returns the offset after the value at an offset.
func valueEnd(data []byte, at int) int {
	depth := 0
	for {
		switch data[at] {
		case '"':
			at = quoteEnd(data, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		default:
			at++
		}
		if depth == 0 && isEnd(data[at]) {
			return at
		}
	}
}

func isEnd(b byte) bool { return isSpace(b) || b == ',' || b == '}' || b == ']' }

// means reports whether a key, as it is spelled, is name.
func means(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key[1:len(key)-1]) == name
	}
	return unquoted(key) == name
}

// unquoted returns what a value means if it is a string, else "". What is no
// UTF-8 in it is replaced, as the client does.
func unquoted(value []byte) string {
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
		return string(value[1 : len(value)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, value) // the error only says that something was replaced
	return string(text)
}
