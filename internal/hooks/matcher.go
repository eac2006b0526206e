package hooks

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// matcher decides whether a hook runs for a subject, such as a tool's name. If it
// returns an error, the hook runs: it can check the subject itself, whereas a policy that
// is skipped protects nothing.
type matcher func(subject string) (bool, error)

// subjectOf returns what matchers of an event are tested on.
func subjectOf(e dialect.Event, fields jsonx.Object) string {
	subject := fields.Text(e.Subject)
	if e.BaseName {
		return path.Base(filepath.ToSlash(subject))
	}
	return subject
}

// Matches reports whether a matcher of an event matches a subject.
func Matches(d dialect.Dialect, e dialect.Event, pattern, subject string) bool {
	matched, _ := matcherOf(d, e, pattern)(subject)
	return matched
}

// matcherOf returns the matcher of a group of an event. The former names of a tool match
// as well.
func matcherOf(d dialect.Dialect, e dialect.Event, pattern string) matcher {
	match := compile(pattern, d.MatchingOf(e))
	if e.Subject != dialect.ToolName || len(d.Aliases) == 0 {
		return match
	}
	return func(subject string) (bool, error) {
		matched, err := match(subject)
		for _, former := range d.Aliases[subject] {
			if !matched {
				matched, err = match(former)
			}
		}
		return matched, err
	}
}

// compile returns the matcher for a pattern.
func compile(pattern string, as dialect.Matching) matcher {
	if as == dialect.MatchRegexp || as == dialect.MatchExact {
		pattern = jsonx.Trim(pattern)
	}
	switch {
	case pattern == "" || pattern == "*":
		return func(string) (bool, error) { return true, nil }
	case as == dialect.MatchExact:
		return matchOnly(pattern)
	case as.IsNameList(pattern):
		names := strings.FieldsFunc(pattern, func(c rune) bool { return c == '|' || c == ',' })
		for i := range names {
			names[i] = jsonx.Trim(names[i])
		}
		return matchOnly(names...)
	}
	if as == dialect.MatchRustNames {
		return matchRust(pattern)
	}
	return matchRegexp(pattern)
}

// matchRust matches an unanchored regular expression of Rust, read as one of Go. An invalid one
// matches nothing.
func matchRust(pattern string) matcher {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return matchOnly()
	}
	return func(subject string) (bool, error) { return re.MatchString(subject), nil }
}

func matchOnly(names ...string) matcher {
	return func(subject string) (bool, error) { return slices.Contains(names, subject), nil }
}

func matchRegexp(pattern string) matcher {
	match, err := CompileRegexp(pattern)
	if err != nil {
		return matchOnly(pattern)
	}
	return func(subject string) (bool, error) {
		matched, err := match(subject)
		return matched || err != nil, err
	}
}
