package hooks_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// TestRegexpsMatchAsNodeDoes: the corpus has the results of Node.js 20 for each pattern and input. It does not have the
// patterns that docs/internals/hooks.md excepts.
func TestRegexpsMatchAsNodeDoes(t *testing.T) {
	data, err := os.ReadFile("testdata/node20.json")
	require.NoError(t, err)
	var corpus struct {
		Inputs   []string `json:"inputs"`
		Patterns []struct {
			Pattern string   `json:"pattern"`
			Invalid bool     `json:"invalid"`
			Matches []string `json:"matches"`
		} `json:"patterns"`
	}
	require.NoError(t, json.Unmarshal(data, &corpus))
	require.NotEmpty(t, corpus.Patterns)

	for _, p := range corpus.Patterns {
		match, err := hooks.CompileRegexp(p.Pattern)
		if p.Invalid {
			assert.Error(t, err, p.Pattern)
			continue
		}
		require.NoError(t, err, p.Pattern)
		for _, input := range corpus.Inputs {
			got, err := match(input)
			require.NoError(t, err, "%q on %q", p.Pattern, input)
			assert.Equal(t, slices.Contains(p.Matches, input), got, "%q on %q", p.Pattern, input)
		}
	}
}

// TestGroupsOfOtherLanguagesMatchOnlyTheirText: such a matcher is invalid.
func TestGroupsOfOtherLanguagesMatchOnlyTheirText(t *testing.T) {
	d := dialect.Gemini()
	event, _ := d.Event("BeforeTool")
	for _, pattern := range []string{"(?i)write", "(?>write)", "(?P<n>write)", "(?#x)write", "(?'n'write)", "(?(a)write)", "(?"} {
		assert.False(t, hooks.Matches(d, event, pattern, "write"), pattern)
		assert.True(t, hooks.Matches(d, event, pattern, pattern), pattern)
	}
	for _, pattern := range []string{"(?i:WRITE)", "[(?i)]", `\(?i?w`} {
		assert.True(t, hooks.Matches(d, event, pattern, "write"), pattern)
	}
}

// TestAMatcherThatBacktracksForTooLongLetsTheHookRun: a policy that is skipped protects nothing.
func TestAMatcherThatBacktracksForTooLongLetsTheHookRun(t *testing.T) {
	d := dialect.Gemini()
	event, _ := d.Event("BeforeTool")
	assert.True(t, hooks.Matches(d, event, `^(a+)+$`, strings.Repeat("a", 60)+"!"))
	assert.False(t, hooks.Matches(d, event, `^(a+)+$`, "a!"))
}
