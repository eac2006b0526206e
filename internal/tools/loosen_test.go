package tools

import (
	"strings"
	"testing"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// Every command has its rule: whoever adds one has to say whether it takes anything away
// from what is enforced or on record. Only one row waits for its command.
func TestEveryCommandHasItsRule(t *testing.T) {
	rules := map[string]command.Loosening{}
	for _, l := range command.Loosenings() {
		assert.NotContains(t, rules, l.Command)
		assert.Equal(t, l.When != nil, l.What != "", l.Command)
		rules[l.Command] = l
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		path := strings.TrimPrefix(c.CommandPath(), "fsmtx ")
		if !c.HasParent() || path == "help" || strings.HasPrefix(path, "completion") {
			return
		}
		rule, ok := rules[path]
		assert.True(t, ok, "fsmtx %s: say in loosenings whether an agent may run it without a person's yes", path)
		granted := rule.When != nil || path == "complete" || path == "begin" // whose grant is the yes to what the state of the list says
		assert.Equal(t, granted, c.Flags().Lookup(command.GrantFlag) != nil, path)
		delete(rules, path)
	}
	walk(Tree())
	assert.Empty(t, rules, "rules about commands that do not exist")
}
