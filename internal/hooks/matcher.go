package hooks

import (
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/jsregex"
)

// matcher decides whether a hook is for a subject, such as a tool's name. An
// error means that it could not be decided; the hook runs then, for it can look
// at the subject itself and a policy that is skipped protects nothing.
type matcher func(subject string) (bool, error)

func matchAll(string) (bool, error) { return true, nil }

func matchOnly(names ...string) matcher {
	return func(subject string) (bool, error) {
		for _, name := range names {
			if name == subject {
				return true, nil
			}
		}
		return false, nil
	}
}

// regexMatcher is LLxprt's and Gemini's: an unanchored JavaScript regular
// expression, the exact name where it is not valid.
func regexMatcher(pattern string) matcher {
	re, err := jsregex.Compile(pattern)
	if err != nil {
		return matchOnly(pattern)
	}
	return func(subject string) (bool, error) {
		matched, err := re.Match(subject)
		return matched || err != nil, err
	}
}

// exactMatcher is Gemini's for subjects that are no tool.
func exactMatcher(pattern string) matcher { return matchOnly(pattern) }

// namesMatcher is Claude Code's: names, or a list of them, are exact; anything
// with another character is an unanchored JavaScript regular expression.
func namesMatcher(pattern string) matcher {
	if strings.ContainsFunc(pattern, func(c rune) bool { return !isNameChar(c) }) {
		return regexMatcher(pattern)
	}
	names := strings.FieldsFunc(pattern, func(c rune) bool { return c == '|' || c == ',' })
	for i := range names {
		names[i] = trim(names[i])
	}
	return matchOnly(names...)
}

func isNameChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_- ,|", c)
}

// compile returns the matcher of a group, whose pattern is trimmed first.
func compile(pattern string, as func(string) matcher) matcher {
	pattern = trim(pattern)
	if pattern == "" || pattern == "*" {
		return matchAll
	}
	return as(pattern)
}
