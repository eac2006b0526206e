package rules

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/guard"
)

func TestEveryRuleHasItsHook(t *testing.T) {
	hooks := Hooks("program", "", guard.Config{})
	require.Len(t, hooks, 14)
	for i, g := range All() {
		assert.Equal(t, []string{"guard", g.ID}, hooks[i].Args)
		assert.Equal(t, g.Event, hooks[i].Event)
		assert.Equal(t, "program", hooks[i].Command)
		assert.Positive(t, hooks[i].Timeout)
	}
}

// The client matches the whole name (fact 24).
func TestMatchers(t *testing.T) {
	for id, names := range map[string]map[string]bool{
		"H01": {"AskUserQuestion": true},
		"H02": {"Write": true, "Edit": true, "NotebookEdit": true, "Read": false},
		"H03": {"mcp__context7__a": true, "mcp__Ref__b": true, "mcp__plugin_product-planning_tavily__c": true, "mcp__myRef__x": false},
		"H05": {"Write": true, "Edit": true},
	} {
		g, ok := Find(id)
		require.True(t, ok)
		whole := regexp.MustCompile("^(?:" + g.Matcher + ")$")
		for name, want := range names {
			assert.Equal(t, want, whole.MatchString(name), "%s %s", id, name)
		}
	}
}
