package jsregex_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks/jsregex"
)

// The corpora have the results of Node.js 20 for each pattern and input: one was written by hand,
// the other by random.js.
func TestMatchesAsNodeDoes(t *testing.T) {
	for _, corpus := range []string{"node20", "random"} {
		t.Run(corpus, func(t *testing.T) { matchesAsNodeDoes(t, "testdata/"+corpus+".json") })
	}
}

func matchesAsNodeDoes(t *testing.T, path string) {
	data, err := os.ReadFile(path)
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
		re, err := jsregex.Compile(p.Pattern)
		if p.Invalid {
			require.ErrorIs(t, err, jsregex.ErrSyntax, "%q", p.Pattern)
			continue
		}
		require.NoError(t, err, "%q", p.Pattern)
		for _, input := range corpus.Inputs {
			got, err := re.Match(input)
			require.NoError(t, err, "%q on %q", p.Pattern, input)
			require.Equal(t, slices.Contains(p.Matches, input), got, "%q on %q", p.Pattern, input)
		}
	}
}

func TestMatchTimesOut(t *testing.T) {
	re, err := jsregex.Compile(`^(a+)+$`)
	require.NoError(t, err)
	_, err = re.Match(strings.Repeat("a", 60) + "!")
	require.ErrorIs(t, err, jsregex.ErrGaveUp)
}

// TestMatchGivesUpBeforeTheStackIsTooDeep: a repetition of a group goes deeper for each time.
func TestMatchGivesUpBeforeTheStackIsTooDeep(t *testing.T) {
	re, err := jsregex.Compile(`^(?:ab)*$`)
	require.NoError(t, err)
	matched, err := re.Match(strings.Repeat("ab", 200))
	require.NoError(t, err)
	require.True(t, matched)
	_, err = re.Match(strings.Repeat("ab", 100_000))
	require.ErrorIs(t, err, jsregex.ErrGaveUp)
	long, err := jsregex.Compile(`^.*[b]+?$`)
	require.NoError(t, err)
	matched, err = long.Match(strings.Repeat("a", 400) + "b")
	require.NoError(t, err)
	require.True(t, matched)
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"write", "^(?!read_).*", "a[", "[[:alpha:]]", `(?<n>.)\k<n>`, "(?i)x", "\xff", `\`, "😀?"} {
		f.Add(seed, "write_file")
	}
	f.Fuzz(func(t *testing.T, pattern, input string) {
		re, err := jsregex.Compile(pattern)
		if err != nil {
			require.ErrorIs(t, err, jsregex.ErrSyntax)
			return
		}
		matched, err := re.Match(input)
		if err != nil {
			require.ErrorIs(t, err, jsregex.ErrGaveUp)
			require.False(t, matched)
			return
		}
		anywhere, err := jsregex.Compile("(?:" + pattern + ")")
		require.NoError(t, err, "a pattern that compiles is one in a group, too")
		grouped, err := anywhere.Match(input)
		require.True(t, err != nil || grouped == matched, "%q on %q: %v, and in a group %v", pattern, input, matched, grouped)
	})
}
