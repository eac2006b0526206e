package pattern_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

func TestPatternsOfPaths(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"**", "", false},
		{"**", "a", true}, {"**", "a/b", true}, {"docs/**", "docs/a/b", true}, {"docs/**", "docs", false}, {"docs/**", "xdocs/a", false},
		{"**/*.md", "a.md", true}, {"**/*.md", "a/b/c.md", true}, {"**/*.md", "a/b/c.go", false}, {"*.md", "a/b.md", false},
		{"a/**/c", "a/c", true}, {"a/**/c", "a/b/b/c", true}, {"a/**/c", "a/b/c/d", false}, {"a/*", "a/b", true}, {"a/*", "a/b/c", false},
		{"a", "a/b", false}, {"A", "a", false}, {"**/a", "xa", false},
		{"app/[slug]/page.tsx", "app/[slug]/page.tsx", true}, {"app/[slug]/page.tsx", "app/s/page.tsx", false},
		{"app/[slug]/**", "app/[slug]/a/b", true}, {"[...rest]", "[...rest]", true}, {"[", "[", true}, {"[!a]", "b", false},
		{"?", "é", true}, {"?", "", false}, {"?", "ab", false}, {"a?c", "abc", true}, {"*", "", true}, {"a*b*c", "axxbyyc", true},
		{"a*b*c", "axxbyy", false}, {"*a", "aaab", false}, {"*ab", "aab", true}, {`\*`, "*", true}, {`\*`, "a", false}, {`\\`, `\`, true},
		{"{a,b}", "{a,b}", true}, {"a*", "b", false},
	} {
		require.Equal(t, c.want, pattern.Path(c.pattern, c.name), "%s %s", c.pattern, c.name)
	}
}

func TestANameIsItsOwnPattern(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom([]rune(`\*?[]{}!a-zé`)), 0, 8, -1).Draw(t, "name")
		other := rapid.StringOfN(rapid.RuneFrom([]rune(`\*?[]{}!a-zé`)), 0, 8, -1).Draw(t, "other")
		require.Equal(t, name == other, pattern.Name(pattern.Literal(name), other), "%q %q", name, other)
		require.True(t, pattern.Name("*"+pattern.Literal(name)+"*", other+name+other))
	})
}

func TestFaultsOfPatterns(t *testing.T) {
	for text, want := range map[string]string{
		"app/[slug]/page.tsx": "", "[a-z].md": "[a-z] is no class of characters", "a/*.md": "", "a\\*b": "", "a!b": "", "a}": "",
		"**": "** is not supported",
		"!a": "a pattern cannot be negated", "a/{b,c}": "braces are not expanded: list each pattern",
		"a/": "this is a directory",
		".":  "this is a directory", "": "the path is blank", "\u200b": "the path is blank",
		"/a": "want a path relative",
		"~a": "want a path relative", "c:/a": "want a path relative", "../a": ".. is not allowed", "a\\b": "write / between directories",
		"a\\":   "write / between directories",
		`\[a\]`: "[ and ] stand for themselves", "${A}": "variables are not expanded", "a\nb": "a path cannot have control",
	} {
		require.Regexp(t, "^"+regexp.QuoteMeta(want), pattern.Fault(text), text)
		require.Equal(t, want == "", pattern.Fault(text) == "", text)
	}
	for text, want := range map[string]string{
		"**": "", "a/**": "", "**/*.md": "",
		"a/": "this is a directory: write a/** for what is in it", "./": "this is a directory: write ./**",
		"a**": "** has to stand alone", "a/**.md": "** has to stand alone", "": "the path is blank",
		"!**": "** has to stand alone", "{": "braces", "[a-z]*": "[a-z] is no class", "app/[slug]/**": "", "a[!b]": "[!b] is no class",
	} {
		require.Regexp(t, "^"+regexp.QuoteMeta(want), pattern.DeepFault(text), text)
		require.Equal(t, want == "", pattern.DeepFault(text) == "", text)
	}
	for text, want := range map[string]string{"[slug]": "", "[a-z]": "[a-z]", "x[^0-9a-f].md": "[^0-9a-f]", "[a-zA-Z0-9_-]": "[a-zA-Z0-9_-]",
		"[!a]": "[!a]", "[!a]*": "[!a]", "[!]": "", "[^ab]": "[^ab]", "[_a-z.]": "[_a-z.]", "[...slug]": "", "[[...slug]]": "",
		"[z-a]": "", "[]": "", "[post-id]": "", "[e-mail]": "", "[2024-2025]": "", "[-]": "", "[ab]": "",
		"[x]/[0-9]": "[0-9]", "[a-": "", "a-z": ""} {
		if want != "" {
			want += " is no class of characters here: write ? for any character (? stands for a [ in a name, too)"
		}
		require.Equal(t, want, pattern.ClassFault(text), text)
	}
}
