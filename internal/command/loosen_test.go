package command

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// Every command has its rule: whoever adds one has to say whether it takes anything away
// from what is enforced or on record. Only one row waits for its command.
func TestEveryCommandHasItsRule(t *testing.T) {
	rules := map[string]loosening{}
	for _, l := range loosenings() {
		assert.NotContains(t, rules, l.command)
		assert.Equal(t, l.when != nil, l.what != "", l.command)
		rules[l.command] = l
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
		granted := rule.when != nil || path == "complete" || path == "begin" // whose grant is the yes to what the state of the list says
		assert.Equal(t, granted, c.Flags().Lookup(grantFlag) != nil, path)
		delete(rules, path)
	}
	walk(Tree())
	assert.Empty(t, rules, "rules about commands that do not exist")
}

// A command that is built by itself, as each is when it runs, has its rule too.
func TestARuleBindsTheCommandThatRuns(t *testing.T) {
	for _, l := range loosenings() {
		if l.when == nil {
			continue
		}
		c, _, ok := commandFor(append(strings.Fields(l.command), "--"+grantFlag+"=x"))
		assert.True(t, ok, l.command)
		assert.Equal(t, l.command, ruleOf(c).command)
		c, _, ok = commandFor(append([]string{"--" + grantFlag + "=x"}, strings.Fields(l.command)...))
		assert.True(t, ok, l.command)
		assert.Equal(t, l.command, ruleOf(c).command, "with a flag before its name")
	}
}
