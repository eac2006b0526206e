package permission

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Rule{
		"Bash(git push *)":    {"Bash", "git push *"},
		"Bash":                {"Bash", ""},
		"Bash(*)":             {"Bash", ""},
		`Bash(f \(a\) *)`:     {"Bash", "f (a) *"},
		"mcp__github__*":      {"mcp__github__*", ""},
		"mcp__a-b__create_pr": {"mcp__a-b__create_pr", ""},
		"Write(src/**)":       {"Write", "src/**"},
	} {
		r, ok := Parse(text)
		require.True(t, ok, text)
		require.Equal(t, want, r, text)
	}
	for _, text := range []string{"", "Bash(", "Bash)", "(x)", "Ba sh", "Bash(x", `Bash(x\)`, "Write*", "mcp__a b", "Bash(x) y"} {
		_, ok := Parse(text)
		require.False(t, ok, text)
	}
}

func TestMatchTool(t *testing.T) {
	for _, c := range []struct {
		rule, tool string
		want       bool
	}{
		{"WebFetch", "WebFetch", true},
		{"WebFetch", "WebSearch", false},
		{"mcp__github__*", "mcp__github__create_pr", true},
		{"mcp__github__*", "mcp__github2__create_pr", false},
		{"mcp__github", "mcp__github__create_pr", true},
		{"mcp__github", "mcp__github2__create_pr", false},
		{"mcp__*__delete_*", "mcp__db__delete_row", true},
		{"mcp__*__delete_*", "mcp__db__read_row", false},
		{"mcp__github__create_pr", "mcp__github__create_pr2", false},
	} {
		r, ok := Parse(c.rule)
		require.True(t, ok)
		require.Equal(t, c.want, r.MatchTool(c.tool), c)
	}
}

func TestMatchLine(t *testing.T) {
	for _, c := range []struct {
		content, command string
		want             bool
	}{
		{"git push *", "git push", true},
		{"git push *", "git push -f", true},
		{"git push *", "git pushx", false},
		{"git push:*", "git push -f", true},
		{"git push:*", "git pushx", false},
		{"git push*", "git pushx", true},
		{"git push", "git push -f", false},
		{"git  push", "git push", true},
		{"git push", " git\t push", true},
		{"* --force *", "git push --force", false}, // only a single * may stand for nothing
		{"* --force*", "git push --force", true},
		{`echo \*`, "echo *", true},
		{`echo \*`, "echo x", false},
		{"", "anything", true},
	} {
		require.Equal(t, c.want, Rule{"Bash", c.content}.MatchLine(c.command), c)
	}
	require.Equal(t, []string{"git", "push"}, Rule{"Bash", "git push *"}.Words())
	require.Equal(t, []string{"git", "push"}, Rule{"Bash", "git push:*"}.Words())
}

// TestMatchTextIsARegularExpression compares with one.
func TestMatchTextIsARegularExpression(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab *")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern, text := text.Draw(t, "pattern"), text.Draw(t, "text")
		re := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
		if bare, ok := strings.CutSuffix(re, " .*"); ok && strings.Count(pattern, "*") == 1 {
			re = bare + "( .*)?"
		}
		require.Equal(t, regexp.MustCompile("(?s)^(?:"+re+")$").MatchString(text), MatchText(pattern, text), "%q %q", pattern, text)
	})
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"src/**", "src/a.go", true},
		{"src/**", "SRC/a/b.go", true},
		{"src/**", "src/a\nb.go", true},
		{"src/**", "lib/a.go", false},
		{"src/*", "src/a/b.go", true}, // in a directory that matches
		{"src/*.go", "src/a/b.go", false},
		{"**/b.go", "b.go", true},
		{"**/b.go", "a/b.go", true},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"[!a]bc", "abc", false},
		{"[ab]bc", "abc", true},
		{`a\*c`, "a*c", true},
		{`a\*c`, "abc", false},
		{"src", "src/a/b.go", true},
		{"src/", "srcs/a.go", false},
	} {
		require.Equal(t, c.want, MatchesPath(c.pattern, c.name), "%s %q", c.pattern, c.name)
	}
}
