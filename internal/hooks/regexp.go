package hooks

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/dlclark/regexp2"
)

// CompileRegexp compiles a regular expression as JavaScript's new RegExp(pattern) does. Its characters are UTF-16 code units.
func CompileRegexp(pattern string) (match func(string) (bool, error), err error) {
	if pattern, err = withoutDotNET(pattern); err != nil {
		return nil, err
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = 250 * time.Millisecond // a pattern can backtrack for exponential time
	return func(s string) (bool, error) {
		var units []rune
		for _, unit := range utf16.Encode([]rune(s)) {
			units = append(units, rune(unit))
		}
		return re.MatchRunes(units)
	}, nil
}

// withoutDotNET returns the pattern without what the library, which follows .NET, reads otherwise than JavaScript: \A is
// an A there, [ in a class is itself, and a character may be two code units. A group that only .NET has is an error.
func withoutDotNET(pattern string) (string, error) {
	var b strings.Builder
	escaped, class := false, false
	for i, c := range pattern {
		switch rest := pattern[i:]; {
		case escaped && (c > 0xffff || strings.ContainsRune("AGZzpPae", c)): // without the backslash
		case escaped || c == '[' && class:
			b.WriteByte('\\')
		case c == '[' || c == ']':
			class = c == '['
		case !class && strings.HasPrefix(rest, "(?") && !isGroup(rest[2:]):
			return "", fmt.Errorf("no group of JavaScript begins like %.4s", rest)
		}
		switch escaped = c == '\\' && !escaped && i+1 < len(pattern); {
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case !escaped:
			b.WriteRune(c)
		}
	}
	return b.String(), nil
}

// isGroup reports whether JavaScript has a group that begins with "(?" and text.
func isGroup(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, "ims-"), ":") || strings.ContainsAny(text[:min(1, len(text))], "=!<")
}
