package permission

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
