package permission

import (
	"regexp"
	"strings"
)

// MatchesPath reports whether a pattern of .gitignore, whatever the case of letters, matches a
// path or a directory that contains it. Both are relative to the same directory, with slashes.
func MatchesPath(pattern, name string) bool {
	matched, err := regexp.MatchString("(?is)^"+ignorePattern(strings.TrimSuffix(pattern, "/"))+"(?:/.*)?$", name)
	return matched && err == nil
}

// ignorePattern returns the regular expression for a pattern of .gitignore.
func ignorePattern(pattern string) string {
	var re strings.Builder
	for rest := pattern; rest != ""; {
		size := 1
		switch {
		case strings.HasPrefix(rest, "**/"):
			re.WriteString("(?:.*/)?")
			size = 3
		case strings.HasPrefix(rest, "**"):
			re.WriteString(".*")
			size = 2
		case rest[0] == '*':
			re.WriteString("[^/]*")
		case rest[0] == '?':
			re.WriteString("[^/]")
		case rest[0] == '[' && strings.Contains(rest, "]"):
			size = strings.Index(rest, "]") + 1
			re.WriteString(strings.Replace(rest[:size], "[!", "[^", 1))
		case rest[0] == '\\' && len(rest) > 1:
			re.WriteString(regexp.QuoteMeta(rest[1:2]))
			size = 2
		default:
			re.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[size:]
	}
	return re.String()
}
