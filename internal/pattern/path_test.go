package pattern_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	} {
		require.Equal(t, c.want, pattern.Path(c.pattern, c.name), "%s %s", c.pattern, c.name)
	}
}
