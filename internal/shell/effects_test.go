package shell_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/shell"
)

// TestEffects: what a script declares, writes and leaves running.
func TestEffects(t *testing.T) {
	for line, want := range map[string]struct {
		writes, detaches bool
		functions        []string
	}{
		"a >/dev/null 2>&1 <x":       {},
		"a <<E\nb\nE\n":              {},
		"a > b":                      {writes: true},
		"(a; if b; then c >> d; fi)": {writes: true},
		"a &> b":                     {writes: true},
		"a >&b":                      {writes: true},
		"a & b":                      {detaches: true},
		"f() { a; }; g() { b; }; f":  {functions: []string{"f", "g"}},
	} {
		s, err := shell.Parse(line)
		require.NoError(t, err, line)
		assert.Equal(t, want.writes, s.Writes(), line)
		assert.Equal(t, want.detaches, s.Detaches(), line)
		assert.Equal(t, want.functions, s.Functions(), line)
	}
}
