package facts

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPathsOfCalls: without a path, from home, and without the directory of the agent.
func TestPathsOfCalls(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, c := range []struct {
		pattern, path, cwd string
		want               bool
	}{
		{"*", "", home, false},
		{"~/a", "~/a", "", true},
		{"~/a", "~a", "", false},
		{"~/a", "~/b", "", false},
		{"/a", "a", "", true},
		{"/a", "b/a", "", false},
		{"b/", "b/a", "", true},
	} {
		assert.Equal(t, c.want, Call{Tool: "Write", Path: c.path, Cwd: c.cwd}.OnPath(c.pattern, home), "%+v", c)
	}
}
