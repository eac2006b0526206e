package guard

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
)

func TestReset(t *testing.T) {
	budget := func(s Session) string { return s.File("budget-", ".json") }
	rules := map[string]Rule{
		"H01": {ID: "H01", Name: "H01_test", Event: client.PreToolUse},
		"H03": {ID: "H03", Name: "H03_test", Event: client.PreToolUse, Keeps: []Kept{{"research budget", budget}}},
		"H07": {ID: "H07", Name: "H07_test", Event: client.SubagentStop},
	}
	all := slices.Collect(maps.Values(rules))
	dir := t.TempDir()
	s := SessionOf("s", stateIn(dir))
	fill := func() {
		for path, text := range map[string]string{
			s.Breaker(): `{"H03_test":2,"H07_test":3}`,
			budget(s):   `{"session_total":5}`,
			s.Blocks():  `{"H07:a":2,"H07:main":1,"H07x:main":3}`,
			s.Log():     "kept\n",
		} {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
	text := func(path string) string { data, _ := os.ReadFile(path); return string(data) }

	assert.Empty(t, must(Reset(s, all)), "nothing is there")
	assert.Empty(t, must(ResetRule(s, rules["H07"])))

	fill()
	assert.Equal(t, []string{"circuit breaker", "consecutive blocks"}, must(ResetRule(s, rules["H07"])))
	assert.JSONEq(t, `{"H03_test":2,"H07_test":0}`, text(s.Breaker()))
	assert.JSONEq(t, `{"H07x:main":3}`, text(s.Blocks()))
	assert.FileExists(t, budget(s))
	assert.Empty(t, must(ResetRule(s, rules["H07"])), "nothing is left to reset")

	fill()
	assert.Equal(t, []string{"circuit breaker", "research budget"}, must(ResetRule(s, rules["H03"])))
	assert.NoFileExists(t, budget(s))

	fill()
	assert.Empty(t, must(ResetRule(s, rules["H01"])))

	assert.Equal(t, []string{"circuit breaker", "research budget", "consecutive blocks"}, must(Reset(s, all)))
	for _, path := range []string{s.Breaker(), budget(s), s.Blocks()} {
		assert.NoFileExists(t, path)
	}
	assert.Equal(t, "kept\n", text(s.Log()))
}
